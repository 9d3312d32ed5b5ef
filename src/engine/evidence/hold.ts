import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { firstOf, walk } from '../../lib/sorted-list.ts';
import { abandon } from '../line/line.ts';
import { MAX_TRIES, replaceCandidate, startCandidate } from '../line/test-run.ts';
import { causeOf, isConfigurationProblem } from '../model/blame.ts';
import { type Candidate, type Failure, failedChecks, openChecks } from '../model/candidate.ts';
import { inLine, WAITING } from '../model/place.ts';
import { orderKey } from '../model/priority.ts';
import {
  type Because,
  type Entry,
  findEntry,
  type Hold,
  type HoldCause,
  mayWork,
  type Queue,
  toMember,
} from '../model/queue.ts';
import type { StartProblem } from '../model/required.ts';
import { candidatesFor, lineOf, unlanded } from '../model/roster.ts';
import { needsOf } from '../model/stack.ts';
import {
  addCandidate,
  amend,
  endCandidate,
  entryOf,
  keep,
  move,
  stillLive,
  tellAll,
  type Work,
} from '../model/work.ts';
import { endProbe, isSearchable, noteProbe } from './breakage.ts';
import {
  clearBase,
  dropSuspicion,
  endBaseTest,
  findBaseTest,
  giveUpRuns,
  giveUpSearches,
  isHead,
  proveBase,
  returnRemoved,
  testBase,
} from './suspicion.ts';

/**
 * A queue holds while its target branch is to blame: its head fails by itself, or its configuration is unusable. No
 * candidate of the line starts and no entry is removed for a failure. The head is tested again by itself with a growing
 * backoff. An entry submitted since, or submitted as a repair, is tested alone on the red head and lands if it passes.
 */

const MINUTE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * MINUTE_MS;
const PAUSES_MS = [10 * MINUTE_MS, 20 * MINUTE_MS, 40 * MINUTE_MS, LONGEST_PAUSE_MS] as const;
/** A machine or a configuration is often mended at once. */
const SHORT_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] as const;

/** How long the queue waits before it tests the head again, after so many tests. */
// SPEC V37, V75
function pauseMs(cause: HoldCause, tests: number): number {
  const pauses = isRetestedSoon(cause) ? SHORT_PAUSES_MS : PAUSES_MS;
  return pauses[Math.min(tests, pauses.length - 1)] as number;
}

export function isRetestedSoon(cause: HoldCause): boolean {
  return cause.kind === 'configuration' || cause.isOfMachine === true;
}

/** Draws the conclusions from tests of commits of the target branch by themselves. */
export function concludeBaseTests(work: Work): void {
  for (const run of candidatesFor(work.queue, 'head')) {
    const isSpent = noteProbe(work, run);
    if (run.state === 'passed') {
      endCandidate(work, run, { reason: 'TEST_RUN_PASSED' });
      concludeGreen(work, run);
    } else if (run.state === 'failed' && run.failure !== undefined) {
      concludeRed(work, run, run.failure, isSpent);
    }
  }
}

function concludeGreen(work: Work, run: Candidate): void {
  clearBase(work, run);
  if (run.pass?.waived === undefined) proveBase(work, run.base);
  const { hold } = work.queue;
  if (hold === undefined || !isHead(work.queue, run.base)) return;
  // A test that began before the configuration broke does not show that it works again.
  if (hold.cause.kind === 'checks' || run.plannedAt >= hold.since) {
    retestHeld(work, { reason: 'TARGET_BRANCH_GREEN', candidate: run.number });
  }
}

/** One failed check is enough to hold. Later failures still count, because they may bring back more removed entries. */
function concludeRed(work: Work, run: Candidate, failure: Failure, isSpent: boolean): void {
  const { hold } = work.queue;
  const names = [...new Set([...failure.checks, ...failedChecks(run)])];
  const isNews = hold?.candidate !== run.number;
  const because = { reason: 'TARGET_BRANCH_RED' as const, candidate: run.number };
  giveUpSearches(work, run.base, because);
  if (!isHead(work.queue, run.base)) giveUpRuns(work, run.base, because);
  returnRemoved(work, run.base, names);
  if (isHead(work.queue, run.base)) {
    const isOfMachine = causeOf(run) === 'INFRASTRUCTURE' && { isOfMachine: true as const };
    if (isNews) holdQueue(work, { kind: 'checks', names, ...isOfMachine }, run);
    else if (hold.cause.kind === 'checks' && names.length > hold.cause.names.length) {
      amend(work, { hold: { ...hold, cause: { ...hold.cause, names } } });
    }
  }
  const isOver = isSpent || openChecks(run).length === 0 || failure.reason === 'TEST_RUN_TIMEOUT';
  if (isOver || work.at >= failure.at + LONGEST_PAUSE_MS) endRedTest(work, run);
}

function endRedTest(work: Work, run: Candidate): void {
  endCandidate(work, run, { reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' });
  if (!isHead(work.queue, run.base)) dropSuspicion(work, run.base);
}

interface Unusable {
  readonly reason: StartProblem;
  readonly detail?: string;
}

/**
 * The commit cannot be tested by itself. A broken configuration is no pull request's fault, so the queue holds. Any
 * other problem is retried, and the suspicion stays.
 */
export function concludeUntestable(work: Work, run: Candidate, problem: Unusable): void {
  const { reason } = problem;
  if (!isConfigurationProblem(reason) && work.queue.hold === undefined && run.tries < MAX_TRIES) {
    replaceCandidate(work, run, { reason }, run.tries + 1);
    return;
  }
  endCandidate(work, run, { reason });
  const { hold } = work.queue;
  if (!isHead(work.queue, run.base)) clearBase(work, run);
  else if (isConfigurationProblem(reason)) holdForConfiguration(work, run, problem);
  else if (hold === undefined) clearBase(work, run);
  else holdQueue(work, hold.cause, run);
}

/** Begins a hold, or renews it after another test of the head. */
// SPEC V16
export function holdQueue(work: Work, cause: HoldCause, run: Candidate | undefined): void {
  const known = work.queue.hold;
  const looks = known === undefined ? 0 : known.retests + 1;
  const hold: Hold = {
    since: known?.since ?? work.at,
    cause,
    candidate: run?.number,
    submissions: known?.submissions ?? work.queue.submissions,
    retests: looks,
    nextRetestAt: work.at + pauseMs(cause, looks),
    breakage: known?.breakage,
  };
  amend(work, { hold });
  if (isSearchable(cause) && !isSearchable(known?.cause)) work.effects.push({ kind: 'read_line' });
  tellAll(work);
  if (known?.cause.kind === cause.kind) return;
  if (known !== undefined) work.effects.push({ kind: 'end_alarm', code: alarmOf(known.cause) });
  work.effects.push({ kind: 'raise_alarm', code: alarmOf(cause), cause });
}

/**
 * The same configuration problem affected a second entry on one head, or several at once. The queue holds and removes
 * no entry. A repair could not start either, because the configuration is read from the base.
 */
// SPEC V20
export function holdForConfiguration(work: Work, candidate: Candidate, { reason, detail }: Unusable): void {
  returnRemoved(work, candidate.base, [reason]);
  holdQueue(work, { kind: 'configuration', reason, ...present({ detail }) }, candidate);
}

/** Tests the head by itself again when the backoff is over. */
// SPEC V37
export function retestHead(work: Work): void {
  const { hold, head } = work.queue;
  if (hold === undefined || head === undefined || !mayWork(work.queue) || work.at < hold.nextRetestAt) return;
  const last = findBaseTest(work.queue, head);
  if (last?.state === 'failed') endRedTest(work, last);
  else if (last !== undefined) return;
  testBase(work, head);
}

/** When the head is tested again; undefined if its test is under way or the queue does not hold. */
export function nextHeadTestAt(queue: Queue): Instant | undefined {
  const { hold, head } = queue;
  if (hold === undefined || head === undefined || !mayWork(queue)) return undefined;
  const last = findBaseTest(queue, head);
  return last === undefined || last.state === 'failed' ? hold.nextRetestAt : undefined;
}

/** When failed tests of the branch end that still wait for open checks. */
export function redTestEnds(queue: Queue): Instant[] {
  return candidatesFor(queue, 'head').flatMap(({ failure }) => (failure ? [failure.at + LONGEST_PAUSE_MS] : []));
}

/** The configuration of the head is usable again. Its checks need not run to show that. */
// SPEC V43
export function isReadable({ hold }: Queue, { purpose }: Candidate): boolean {
  return (
    purpose.kind === 'head' &&
    hold?.cause.kind === 'configuration' &&
    hold.cause.reason !== 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH'
  );
}

/** Ends the hold, and tests everything again that failed during it, in order with the entries that returned. */
export function retestHeld(work: Work, because: Because): void {
  const { head } = work.queue;
  endHold(work, because);
  if (head !== undefined) endBaseTest(work, head, because);
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    if (candidate.state !== 'failed') continue;
    // It keeps its place, unless an entry that returned belongs ahead of it.
    if (isBehindPending(work.queue, candidate)) abandon(work, candidate, because);
    else replaceCandidate(work, candidate, because, 0);
  }
  for (const run of candidatesFor(work.queue, 'bisection')) {
    if (run.state === 'failed') replaceCandidate(work, run, because, 0);
  }
}

function isBehindPending(queue: Queue, candidate: Candidate): boolean {
  const first = firstOf(queue.index.pending);
  const waiting = first === undefined ? undefined : findEntry(queue, first);
  const members = unlanded(queue, candidate.members);
  return waiting !== undefined && members.some((member) => orderKey(waiting) < orderKey(member));
}

/** Ends the hold. Repairs are tested in the line like all other entries. */
// SPEC V38
export function endHold(work: Work, because: Because): void {
  const { hold } = work.queue;
  if (hold === undefined) return;
  endProbe(work);
  amend(work, { hold: undefined });
  for (const repair of candidatesFor(work.queue, 'repair')) abandon(work, repair, because);
  work.effects.push({ kind: 'end_alarm', code: alarmOf(hold.cause) });
  tellAll(work);
}

/** Tests the first possible repair alone on the red head. One runs at a time, and each once per head. */
// SPEC V39
export function startRepair(work: Work): void {
  const { hold, head, landing } = work.queue;
  if (hold?.cause.kind !== 'checks' || head === undefined || landing !== undefined || !mayWork(work.queue)) return;
  if (candidatesFor(work.queue, 'repair').length > 0) return;
  for (const prNumber of walk(work.queue.index.pending)) {
    const entry = entryOf(work, prNumber);
    if (needsOf(entry).length > 0) continue;
    if (!isPossibleRepair(hold, entry) || entry.repairTriedOn === head.ordinal) continue;
    const plan = { purpose: { kind: 'repair' as const }, base: head, beneath: [], parent: undefined };
    const candidate = addCandidate(work, { ...plan, members: [toMember(entry)] });
    keep(work, { ...entry, place: inLine(candidate), wasTested: true, repairTriedOn: head.ordinal });
    startCandidate(work, candidate);
    return;
  }
}

// SPEC V17
export function isPossibleRepair({ submissions }: Hold, { submission, isRepair }: Entry): boolean {
  return isRepair || submission > submissions;
}

/** It did not repair the head. That is not its fault, so it is pending again. */
// SPEC V40
export function concludeRepairs(work: Work): void {
  for (const run of candidatesFor(work.queue, 'repair')) {
    if (run.state === 'failed') giveUpRepair(work, run, run.failure?.checks ?? []);
  }
}

export function giveUpRepair(work: Work, run: Candidate, checks: readonly string[]): void {
  endCandidate(work, run, { reason: 'REPAIR_TEST_RUN_FAILED' });
  for (const { prNumber } of run.members) {
    const entry = { ...entryOf(work, prNumber), place: WAITING };
    move(work, entry, { to: 'PENDING', reason: 'REPAIR_TEST_RUN_FAILED', candidate: run.number, checks });
  }
}

function alarmOf(cause: HoldCause): 'RED_TARGET' | 'BROKEN_CONFIGURATION' {
  return cause.kind === 'checks' ? 'RED_TARGET' : 'BROKEN_CONFIGURATION';
}
