import type { Command } from 'commander';
import { present } from '../../lib/present.ts';
import { formatRepo, parsePrNumber, parseRepo, REPO_TEXT, type RepoRef } from './arguments.ts';
import { type Context, withContext } from './context.ts';
import { CliError, EXIT, usageError } from './exit.ts';

/** A queue by its repository and branch. */
export interface Place {
  readonly repo: RepoRef;
  readonly targetBranch: string;
}

/** A pull request of a queue. */
export interface EntryPlace extends Place {
  readonly number: number;
}

interface PlaceOptions {
  readonly repo?: RepoRef;
  readonly branch?: string;
}

/** Adds the repository and the branch of a queue, both optional. */
export function addQueueArguments(command: Command): Command {
  return addPlaceOptions(
    command
      .argument('[repo]', `${REPO_TEXT} Default: see -R.`)
      .argument('[branch]', 'The target branch of the queue. Default: see -B.'),
  );
}

/** The same, and the number of a pull request. */
export function addEntryArguments(command: Command): Command {
  return addQueueArguments(command)
    .argument('[number]', 'The number of the pull request, also without repository and branch before it.')
    .usage('[options] [repo] [branch] <number>');
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option(
      '-R, --repo <repo>',
      'The repository. Default: a git remote of this folder that the server knows.',
      parseRepo,
    )
    .option('-B, --branch <branch>', 'The target branch. Default: that of the only queue, or the default branch.');
}

type Given<Options> = [...words: (string | undefined)[], options: Options & PlaceOptions];

/** Commander leaves a place for each word that is missing. */
function split<Options>(given: Given<Options>): [words: string[], options: Options & PlaceOptions] {
  const words = given.slice(0, -1) as readonly (string | undefined)[];
  return [words.filter((word) => word !== undefined), given.at(-1) as Options & PlaceOptions];
}

export function withQueue<Options>(run: (context: Context, place: Place, options: Options) => Promise<void>) {
  return withContext(async (context, ...given: Given<Options>) => {
    const [words, options] = split(given);
    return run(context, await chooseQueue(context, words, options), options);
  });
}

export function withEntry<Options>(run: (context: Context, entry: EntryPlace, options: Options) => Promise<void>) {
  return withContext(async (context, ...given: Given<Options>) => {
    const [words, options] = split(given);
    const number = parseNumber(words.at(-1));
    return run(context, { ...(await chooseQueue(context, words.slice(0, -1), options)), number }, options);
  });
}

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

/** The queue of a new command, whose branch may have none yet. */
export function withNewQueue<Options>(run: (context: Context, place: Place, options: Options) => Promise<void>) {
  return withContext(async (context, ...given: Given<Options>) => {
    const [words, options] = split(given);
    const { repo, branch } = readPlace(words, options);
    const found = repo === undefined ? await findRepo(context) : { repo, defaultBranch: undefined };
    const targetBranch = branch ?? found.defaultBranch;
    if (targetBranch === undefined) throw usageError('Say which branch the queue lands on: -B main.');
    return run(context, { repo: found.repo, targetBranch }, options);
  });
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

interface FoundRepo {
  readonly repo: RepoRef;
  readonly defaultBranch: string | undefined;
}

/** Loaded late: a command that names its repository needs no git. */
export async function findRepo(context: Context): Promise<FoundRepo> {
  const { getRegisteredRemote } = await import('./checkout.ts');
  return getRegisteredRemote((await context.call('listRepositories', {})).repositories);
}

async function chooseBranch(context: Context, { repo, defaultBranch }: FoundRepo): Promise<string> {
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
