import { type Command, InvalidArgumentError } from 'commander';

/** Arguments and options that several commands share. */

export interface RepoRef {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export const REPO_TEXT = 'The repository as host/owner/name; the host of plain git is "local".';
const BRANCH_TEXT = 'The target branch of the queue.';

export function parseRepo(text: string): RepoRef {
  const [host = '', ...rest] = text.split('/');
  const name = rest.pop() ?? '';
  const owner = rest.join('/');
  if (host === '' || owner === '' || name === '') {
    throw new InvalidArgumentError('Write it as host/owner/name, such as local/acme/app.');
  }
  return { host, owner, name };
}

export function formatRepo({ host, owner, name }: RepoRef): string {
  return `${host}/${owner}/${name}`;
}

export function parsePrNumber(text: string): number {
  const digits = /^#?(\d{1,10})$/.exec(text)?.[1];
  const number = Number(digits);
  if (digits === undefined || number < 1 || number > 4_294_967_295) {
    throw new InvalidArgumentError('Write the number of the pull request, such as 7.');
  }
  return number;
}

export function parseInteger(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** For an option that is given several times; `false` is what its --no- form leaves behind. */
export function collect(value: string, before: readonly string[] | false | undefined): readonly string[] {
  return [...(before || []), value];
}

/** Like `collect`, for names without commas: `a,b` is two of them, and `''` an empty list. */
export function collectNames(value: string, before: readonly string[] | undefined): readonly string[] {
  const names = value.split(',').map((name) => name.trim());
  return [...(before ?? []), ...names.filter((name) => name !== '')];
}

export function addQueueArguments(command: Command): Command {
  return command.argument('<repo>', REPO_TEXT, parseRepo).argument('<branch>', BRANCH_TEXT);
}

export function addEntryArguments(command: Command): Command {
  return addQueueArguments(command).argument('<number>', 'The number of the pull request.', parsePrNumber);
}

/** Every help ends with lines to copy. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}
