import type { EntryRecord } from '../../contract/entry.ts';
import { present } from '../../lib/present.ts';
import { SLUICE } from '../../lib/sluice-command.ts';
import { shellWord } from '../../lib/text.ts';
import { formatRepo, parsePrNumber, type RepoRef } from '../core/arguments.ts';
import { findCheckout, getRegisteredRemote } from '../core/checkout.ts';
import { row } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import type { BodyOf } from '../core/operations.ts';
import { chooseQueue, type EntryPlace, PLACE_OPTIONS, type Place } from '../core/place.ts';
import { say } from '../core/terminal.ts';
import { formatResult } from './format-result.ts';
import { PRIORITY } from './pr.ts';
import { pushPullRequest } from './push-pull-request.ts';
import { createProgressLine, hasEnded, pollUntil, TIMED_OUT, TIMEOUT, type Wait } from './wait.ts';

type Result = NonNullable<EntryRecord['result']>;

const LAND_TEXT = `Exit codes, beside those of every command:
  0    it landed; with --no-wait: it is submitted
  10   its author must change something
  11   it conflicts
  12   not its author's doing, and pointless until what is named changes
  13   it may be submitted again as it is, after mayRetry.inSeconds
  14   somebody took it out of the queue
  124  the time of --timeout is over
On plain git, HEAD is pushed as a pull request. On a forge, the pull request of the branch is taken.
Ctrl-C ends the wait, and leaves the pull request in the queue.`;

export const LAND = row({
  text: 'Land the commits of this clone: submit them, wait, and say what came of it.',
  takes: {
    ...PLACE_OPTIONS,
    '--pr <number>': ['The pull request. On plain git, HEAD becomes its head.', parsePrNumber],
    ...PRIORITY,
    '--no-stack': 'Do not submit the pull requests that it is based on.',
    '--force': 'Submit it even if the queue refuses what failed and is unchanged.',
    '--no-wait': 'Submit it only.',
    ...TIMEOUT,
  },
  more: LAND_TEXT,
  examples: ['sluice land', 'sluice land --json', 'sluice land --pr 7 --timeout 30m', 'sluice land --no-wait'],
  run: async (context, given) => {
    const interrupted = onInterrupt('Nothing was pushed or submitted.');
    try {
      const { place, record, isOver } = await submitHead(context, given, interrupted.say);
      if (isOver) return tell(context, record);
      if (given.wait !== false) return await waitForResult(context, place, record, given.timeout);
      const wait = commandOn('watch', place, record.prNumber);
      context.show(record, () => `#${record.prNumber} is submitted. Wait for it: ${wait}\n`);
    } finally {
      interrupted.forget();
    }
  },
});

/** Ctrl-C says how far the command has come, and ends it. */
// SPEC W82
function onInterrupt(first: string) {
  let text = first;
  const stop = () => {
    createProgressLine().note(text);
    process.exit(130);
  };
  process.once('SIGINT', stop);
  const sayThen = (next: string) => {
    text = next;
  };
  return { say: sayThen, forget: () => void process.off('SIGINT', stop) };
}

export interface LandOptions {
  readonly repo?: RepoRef | undefined;
  readonly branch?: string | undefined;
  readonly pr?: number | undefined;
  readonly priority?: string | undefined;
  readonly stack?: false | undefined;
  readonly force?: true | undefined;
}

export interface Landing {
  readonly place: Place;
  readonly record: EntryRecord;
  /** Nothing was submitted: it has landed, or the queue refuses it as it is. */
  readonly isOver?: true;
}

/** Submits HEAD of the clone around this folder, which becomes a pull request first where there is none. */
// SPEC W80
export async function submitHead(
  context: Context,
  options: LandOptions,
  sayIfInterrupted: (text: string) => void = () => {},
): Promise<Landing> {
  const { repo, priority, force } = options;
  const checkout = await findCheckout();
  if (checkout?.sha === undefined || checkout.sha === null)
    throw usageError('This folder is in no clone with a commit. sluice land lands HEAD of a clone.');
  const remote = await getRegisteredRemote((await context.call('listRepositories', {})).repositories);
  if (repo !== undefined && formatRepo(repo) !== formatRepo(remote.repo))
    throw usageError(`The remotes of this clone lead to ${formatRepo(remote.repo)}, not to ${formatRepo(repo)}.`);
  const place = await chooseQueue(context, [], present({ repo: remote.repo, branch: options.branch }));
  if (remote.isPlainGit) sayIfInterrupted(`HEAD may be pushed, and is not submitted. ${GO_ON}`);
  const number = remote.isPlainGit
    ? await pushPullRequest(context, { place, remote: remote.remote, head: checkout.sha, number: options.pr })
    : await findOpened(context, place, { head: checkout.sha, branch: checkout.branch, number: options.pr });
  sayIfInterrupted(`#${number} may be submitted. ${GO_ON}`);
  const body: BodyOf<'submitPullRequest'> = {
    ...{ ...place, pr: { number, sha: checkout.sha }, submitStack: options.stack !== false },
    ...present({ priority, force }),
  };
  try {
    const record = await context.act('submitPullRequest', body);
    const [watch, cancel] = (['watch', 'cancel'] as const).map((act) => commandOn(act, place, number));
    sayIfInterrupted(`#${number} stays in the queue. Wait again: ${watch}. Take it out: ${cancel}`);
    return { place, record };
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'UNCHANGED_SINCE_FAILURE' && code !== 'PULL_REQUEST_NOT_ENQUEUEABLE') throw error;
    const record = await readResult(context, place, number).catch(() => undefined);
    const hasLanded = record?.state === 'MERGED' && record.prSha === checkout.sha;
    if (record === undefined || (code === 'PULL_REQUEST_NOT_ENQUEUEABLE' && !hasLanded)) throw error;
    say(`sluice: ${(error as CliError).message}`);
    return { place, record, isOver: true };
  }
}

/** The same HEAD is the same pull request. */
const GO_ON = `To go on: ${SLUICE} land`;

function commandOn(act: 'watch' | 'cancel', { repo, targetBranch }: Place, number: number | undefined): string {
  return `${SLUICE} pr ${act} ${formatRepo(repo)} ${shellWord(targetBranch)} ${number}`;
}

function codeOf(error: unknown): string | undefined {
  return ((error as CliError).problem as { readonly code?: string } | undefined)?.code;
}

interface Head {
  readonly head: string;
  readonly branch: string | null;
  readonly number: number | undefined;
}

async function findOpened(context: Context, place: Place, { head, branch, number }: Head): Promise<number> {
  if (number === undefined && branch === null)
    throw usageError('HEAD is detached. Say which pull request: --pr 7, or check out its branch.');
  const pr = number === undefined ? { branch: branch as string } : { number };
  const found = await context.call('findPullRequest', { ...place, pr }).catch((error: unknown) => {
    if (number !== undefined || codeOf(error) !== 'PULL_REQUEST_NOT_FOUND') throw error;
    const open = `If it has not landed, push the branch and open a pull request into ${place.targetBranch} at the forge. Then: ${SLUICE} land`;
    throw new CliError(EXIT.refused, `The branch here has no open pull request. ${open}`, (error as CliError).problem);
  });
  if (found.prSha !== head)
    throw new CliError(
      EXIT.refused,
      `#${found.prNumber} is at ${found.prSha}, and HEAD here is ${head}. Push first: git push`,
    );
  return found.prNumber as number;
}

async function waitForResult(
  context: Context,
  place: Place,
  { prNumber }: EntryRecord,
  timeout: number | undefined,
): Promise<void> {
  const progress = createProgressLine();
  context.client.onWait = progress.note;
  try {
    const until = Date.now() + (timeout ?? Number.POSITIVE_INFINITY);
    const wait = { progress, until, isSubmitted: true, endsFor: 'AUTHOR' } as const;
    const decided = await waitUntilDecided(context, { ...place, pr: { number: prNumber } }, wait);
    const last = decided ?? (await readResult(context, place, prNumber).catch(() => undefined));
    progress.close();
    if (last !== undefined) tell(context, last);
    if (last !== undefined && (decided !== undefined || hasEnded(last))) return;
    progress.note(`#${prNumber} is still in the queue. Stopped waiting.`);
    process.exitCode = TIMED_OUT;
  } finally {
    progress.close();
  }
}

/** Sentences of the explanation hold text of others, and the result has all that a program needs. */
// SPEC W81, E91
function tell(context: Context, record: EntryRecord): void {
  const { explanation: _, ...facts } = record;
  context.show(context.isJson ? facts : record, () => formatResult(record));
  process.exitCode = exitCodeOf(record.result);
}

/** The targets of a new head may be on their way. */
const TARGETS_MS = 60_000;
/** Reports are read within seconds after the check that handed them in. */
const REPORTS_MS = 4_000;

/** Ends also when nothing happens before its author acts, or anybody. Undefined when the time is over. */
export function waitUntilDecided(
  context: Context,
  entry: EntryPlace,
  { endsFor, ...wait }: Wait & { readonly endsFor: 'AUTHOR' | 'ANYBODY' },
): Promise<EntryRecord | undefined> {
  const since = Date.now();
  let endedAt: number | undefined;
  const isDecided = (now: EntryRecord): boolean => {
    const { blame, mayRetry, repro, failing } = now.result ?? {};
    if (!hasEnded(now) && endsFor === 'ANYBODY') return mayRetry !== undefined;
    if (!hasEnded(now)) return blame === 'AUTHOR' && (mayRetry?.after !== 'TARGETS' || Date.now() - since > TARGETS_MS);
    // While the branch is under test, it may come back.
    if (mayRetry?.after === 'TARGET') return false;
    endedAt ??= Math.min(Date.now(), Date.parse(now.stateChangedAt ?? ''));
    return repro === undefined || failing !== undefined || Date.now() - endedAt > REPORTS_MS;
  };
  return pollUntil(isDecided, context, entry, { ...wait, includeResult: true });
}

export function readResult(context: Context, place: Place, number: number): Promise<EntryRecord> {
  const detail = { includeExplanation: true, includeResult: true };
  return context.call('getSubmittedPullRequest', { ...place, pr: { number }, ...detail });
}

// SPEC W81
export function exitCodeOf(result: Result | undefined): number {
  if (result === undefined) return EXIT.refused;
  const { outcome, cause, mayRetry } = result;
  if (outcome === 'LANDED') return EXIT.ok;
  if (outcome === 'CANCELLED') return 14;
  if (mayRetry?.when === 'NOW') return 13;
  if (mayRetry?.when === 'AFTER') return mayRetry.after === 'TARGETS' ? 10 : 12;
  return cause === 'CONFLICT' ? 11 : 10;
}
