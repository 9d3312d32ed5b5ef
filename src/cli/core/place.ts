import { present } from '../../lib/present.ts';
import { formatRepo, parsePrNumber, parseRepo, REPO_TEXT, type RepoRef } from './arguments.ts';
import type { FoundRemote } from './checkout.ts';
import type { Subject } from './command.ts';
import type { Context } from './context.ts';
import { CliError, EXIT, usageError } from './exit.ts';

/** A queue by its repository and branch. */
export interface Place {
  readonly repo: RepoRef;
  readonly targetBranch: string;
}

export interface EntryPlace extends Place {
  readonly pr: { readonly number: number };
}

interface PlaceOptions {
  readonly repo?: RepoRef;
  readonly branch?: string;
}

export const PLACE_OPTIONS = {
  '-R, --repo <repo>': ['The repository. Default: a git remote of this folder that the server knows.', parseRepo],
  '-B, --branch <branch>': 'The target branch. Default: that of the only queue, or the default branch.',
} as const;

const PLACE = {
  '[repo]': `${REPO_TEXT} Default: see -R.`,
  '[branch]': 'The target branch of the queue. Default: see -B.',
};

/** The repository and the branch of a queue, both optional. */
export const QUEUE: Subject<Place> = { takes: { ...PLACE, ...PLACE_OPTIONS }, find: chooseQueue };

/** The same, and the number of a pull request. */
export const ENTRY: Subject<EntryPlace> = {
  takes: {
    ...PLACE,
    '[number]': 'The number of the pull request, also without repository and branch before it.',
    ...PLACE_OPTIONS,
  },
  usage: '[options] [repo] [branch] <number>',
  find: async (context, words, options: PlaceOptions) => {
    const number = parseNumber(words.at(-1));
    return { ...(await chooseQueue(context, words.slice(0, -1), options)), pr: { number } };
  },
};

/** The queue of a new command, whose branch may have none yet. */
export const NEW_QUEUE: Subject<Place> = {
  ...QUEUE,
  find: async (context, words, options: PlaceOptions) => {
    const { repo, branch } = readPlace(words, options);
    const found = repo === undefined ? await findRepo(context) : { repo, defaultBranch: undefined };
    const targetBranch = branch ?? found.defaultBranch;
    if (targetBranch === undefined) throw usageError('Say which branch the queue lands on: -B main.');
    return { repo: found.repo, targetBranch };
  },
};

function parseNumber(word: string | undefined): number {
  if (word === undefined) throw usageError('Say which pull request, by its number: 7.');
  return parseWord(parsePrNumber, word);
}

/** A parser's complaint about a word, in the form of other usage errors. */
export function parseWord<T>(parse: (text: string) => T, word: string): T {
  try {
    return parse(word);
  } catch (error) {
    throw usageError(`"${word}" is not understood. ${(error as Error).message}`);
  }
}

// SPEC W23
export async function chooseQueue(context: Context, words: readonly string[], options: PlaceOptions): Promise<Place> {
  const { repo, branch } = readPlace(words, options);
  if (repo !== undefined && branch !== undefined) return { repo, targetBranch: branch };
  const found = repo === undefined ? await findRepo(context) : { repo, defaultBranch: undefined };
  return { repo: found.repo, targetBranch: branch ?? (await chooseBranch(context, found)) };
}

/** The words are the repository and the branch; with --repo, the branch alone. */
function readPlace(words: readonly string[], options: PlaceOptions): PlaceOptions {
  const [first, branch = options.branch, ...more] = options.repo === undefined ? words : [undefined, ...words];
  if (more.length > 0) throw usageError(`There are too many arguments: ${words.join(' ')}.`);
  const repo = first === undefined ? options.repo : parseWord(parseRepo, first);
  return present({ repo, branch });
}

/** Loaded late: a command that names its repository needs no git. */
export async function findRepo(context: Context): Promise<FoundRemote> {
  const { getRegisteredRemote } = await import('./checkout.ts');
  return getRegisteredRemote((await context.call('listRepositories', {})).repositories);
}

async function chooseBranch(context: Context, { repo, defaultBranch }: FoundRemote): Promise<string> {
  const { queues } = await context.call('listQueues', { repo });
  const branches = queues.map((queue) => queue.branch);
  const [first, ...others] = branches;
  if (first === undefined) {
    const create = `sluice queue create ${formatRepo(repo)} ${defaultBranch ?? 'main'}`;
    throw new CliError(EXIT.refused, `${formatRepo(repo)} has no queue. Create one: ${create}`);
  }
  if (others.length === 0) return first;
  if (defaultBranch !== undefined && branches.includes(defaultBranch)) return defaultBranch;
  throw usageError(`${formatRepo(repo)} has several queues. Say which branch: -B ${branches.join(', -B ')}.`);
}
