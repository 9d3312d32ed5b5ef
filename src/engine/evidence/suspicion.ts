import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { abandon } from '../line/line.ts';
import { findSearch } from '../line/marks.ts';
import { removeEntry } from '../line/remove-entry.ts';
import { noteTestRemoval, removedEntry } from '../line/returns.ts';
import { releaseFromSearch } from '../line/search-runs.ts';
import { startCandidate } from '../line/test-run.ts';
import { confirmedCauseOf, isOfMachine } from '../model/blame.ts';
import type { Base, Candidate, Failure } from '../model/candidate.ts';
import { chanceAfterFailure } from '../model/learned.ts';
import { policyOf } from '../model/policy.ts';
import type { PrNumber } from '../model/pull-request.ts';
import { checkOfProbe } from '../model/question.ts';
import {
  type Because,
  type Cleared,
  type Entry,
  mayWork,
  type Queue,
  type Removal,
  type Suspicion,
} from '../model/queue.ts';
import { candidatesFor, candidatesOf, composedWithOf, lineOf, unlanded } from '../model/roster.ts';
import { failedTestsOf } from '../model/signature.ts';
import { addCandidate, amend, endCandidate, stillLive, type Work } from '../model/work.ts';

/**
 * A red branch is not the fault of the next pull request. An entry that was removed for a failure alone on a commit of
 * the target branch is evidence against that commit. After two different entries in a row failed on it in the same way,
 * the commit is tested by itself before a third entry is removed. If the commit fails too, the entries removed for the
 * same failure return to their places. If the commit is the head, the queue holds (hold.ts). A bisection keeps the base
 * it began on, so suspicion applies to that base and not to the present head.
 */

/** This many similar removals in a row make a commit suspect. */
export const ENOUGH = 2;

/** This many removals make a commit suspect even if they differ: several of its checks may be broken. */
const ENOUGH_OF_ANY = 4;

/** A commit that passed by itself is not suspected again for this long. CI may break later without any commit. */
const CLEARED_FOR_MS = 60 * 60_000;

/** CI works this long before and after a run that passes. */
export const WORKS_FOR_MS = 15 * 60_000;

/** The queue stores these, so the list is bounded. */
const MAX_REMOVALS = 100;

/** Former heads whose suspicions are kept, because the branch may be reset to one of them. */
const MAX_LEFT = 3;

/** False while the target branch may be to blame for the failure. The failed entries wait. */
export function mayBlame(queue: Queue, candidate: Candidate): boolean {
  return queue.hold === undefined && !isSuspected(queue, candidate) && !isOnDoubtfulBase(queue, candidate);
}

/** Other entries failed in the same way on this commit, and the test of the commit has not decided yet. */
export function isSuspected(queue: Queue, candidate: Candidate): boolean {
  const signs = signsOf(candidate.failure);
  if (signs.length === 0) return false;
  const base = testedAloneOn(queue, candidate);
  const suspicion = base === undefined ? undefined : suspicionOf(queue, base);
  if (suspicion === undefined) return false;
  const suspected = suspectedSigns(queue, suspicion);
  return suspected === 'any' || signs.some((sign) => suspected.includes(sign));
}

/** The signs a commit is suspected of: those it failed by itself, and those of every long enough row of removals. */
// SPEC V32, V35
function suspectedSigns(
  queue: Queue,
  { removals, failed = [] }: Pick<Suspicion, 'removals' | 'failed'>,
): readonly string[] | 'any' {
  if (removals.length >= ENOUGH_OF_ANY) return 'any';
  const enough = enoughAlike(queue);
  const rows = rowsOf(removals).filter(({ prNumbers }) => prNumbers.length >= enough);
  return [...failed, ...rows.flatMap(({ signs }) => signs)];
}

// SPEC V10
function isSuspectedEnough(queue: Queue, { removals }: Suspicion): boolean {
  return suspectedSigns(queue, { removals }).length > 0;
}

/** Failures in a row are no sign of a red branch in a queue where one often follows another. */
// SPEC K31
function enoughAlike(queue: Queue): number {
  const { largestCoincidence } = policyOf(queue);
  const chance = chanceAfterFailure(queue.learned);
  let enough = ENOUGH;
  while (enough < ENOUGH_OF_ANY && chance ** (enough - 1) > largestCoincidence) enough += 1;
  return enough;
}

/** An entry that failed with a suspected sign waits for the test of this commit. */
function isWaitedFor(queue: Queue, { base }: Suspicion): boolean {
  return candidatesOf(queue).some((run) => isSuspected(queue, run) && testedAloneOn(queue, run)?.sha === base.sha);
}

/** It failed alone on a base that never passed by itself, and a push since then may have repaired the branch. */
// SPEC V19
export function isOnDoubtfulBase(queue: Queue, candidate: Candidate): boolean {
  const base = testedAloneOn(queue, candidate);
  if (base === undefined || base.ordinal >= queue.pushedHead || isHead(queue, base)) return false;
  // The entries beneath passed on this base, so the base works.
  if (candidate.beneath.length > 0) return false;
  return base.isProven !== true && suspicionOf(queue, base)?.cleared === undefined;
}

/** The signs of a failure: its checks or, if nothing could be tested, its reason. */
export function signsOf(failure: Pick<Failure, 'checks' | 'reason'> | undefined): readonly string[] {
  if (failure === undefined) return [];
  if (failure.checks.length > 0) return failure.checks.map(checkOfProbe);
  return failure.reason.startsWith('START_TEST_RUN_') ? [failure.reason] : [];
}

/** Removes an entry for the failure of this run, and records the removal as evidence against the commit beneath. */
export function removeForFailure(work: Work, entry: Entry, run: Candidate, failure: Failure): void {
  const onTopOf = unlanded(work.queue, run.beneath).map(({ submission }) => submission);
  noteRemoval(work, entry, testedAloneOn(work.queue, run), { failure, ...(onTopOf.length === 0 ? {} : { onTopOf }) });
  noteTestRemoval(work, entry, run, failure);
  removeEntry(work, entry, { to: 'FAILED', ...endOf(run, failure), candidate: run.number });
}

/** The facts of the run that the entry is told. */
export function endOf(
  run: Candidate,
  { at: _at, ...failure }: Failure,
): Omit<Failure, 'at'> & Pick<Because, 'cause' | 'tests'> {
  const tests = failedTestsOf(run).map(({ name }) => name.slice(0, NAME_LENGTH));
  return {
    ...failure,
    ...present({ cause: confirmedCauseOf(run) }),
    ...(tests.length > 0 && { tests: tests.slice(0, NAMED) }),
  };
}

const NAMED = 5;
const NAME_LENGTH = 200;

/** Records a removal for a failure on this base. Call it before the entry is removed. */
export function noteRemoval(
  work: Work,
  entry: Entry,
  base: Base | undefined,
  removal: Pick<Removal, 'failure' | 'onTopOf'>,
): void {
  const { failure } = removal;
  const signs = signsOf(failure);
  if (base === undefined || signs.length === 0) return;
  const known = suspicionOf(work.queue, base);
  if (isCleared(known, signs, failure.at)) return;
  const others = (known?.removals ?? []).filter(({ entry: other }) => other.prNumber !== entry.prNumber);
  const removals = [...others, { entry: removedEntry(entry), ...removal }].slice(-MAX_REMOVALS);
  keepSuspicion(work, { ...known, base, removals, cleared: undefined });
}

// SPEC V34
function isCleared(known: Suspicion | undefined, signs: readonly string[], at: Instant): boolean {
  const cleared = known?.cleared;
  if (cleared === undefined || at >= cleared.at + CLEARED_FOR_MS) return false;
  return signs.some((sign) => cleared.signs.includes(sign));
}

/**
 * Entries landed. An entry that failed on top of them failed on what is the new head now, so its removal counts there.
 * A pass by a waiver does not show that the waived check works on the new head.
 */
export function carryRemovals(
  work: Work,
  from: Base | undefined,
  landed: readonly Entry[],
  waived: readonly string[],
): void {
  const { head } = work.queue;
  const old = from === undefined ? undefined : suspicionOf(work.queue, from);
  if (head === undefined || old === undefined) return;
  const isLanded = (submission: number) => landed.some((entry) => entry.submission === submission);
  const isWaived = (sign: string) => waived.includes(sign);
  const removals = old.removals.filter(
    ({ onTopOf = [], failure }) => onTopOf.some(isLanded) || signsOf(failure).some(isWaived),
  );
  const failed = old.failed?.filter(isWaived) ?? [];
  if (removals.length + failed.length === 0) return;
  keepSuspicion(work, { base: head, removals, cleared: undefined, ...(failed.length === 0 ? {} : { failed }) });
}

/** The pull request was submitted again, so its removed entry does not return. */
export function forgetRemoval(work: Work, prNumber: PrNumber): void {
  const isIt = ({ entry }: Removal) => entry.prNumber === prNumber;
  const { suspicions, returning } = work.queue;
  amend(work, {
    removals: work.queue.removals.filter((removal) => !isIt(removal)),
    returning: returning.some(isIt) ? returning.filter((removal) => !isIt(removal)) : returning,
    suspicions: suspicions.map((suspicion) =>
      suspicion.removals.some(isIt)
        ? { ...suspicion, removals: suspicion.removals.map((r) => (isIt(r) ? { ...r, isReplaced: true as const } : r)) }
        : suspicion,
    ),
  });
}

/** How many removals in a row, up to the last one, look like this failure. */
export function countAlike(queue: Queue, base: Base, failure: Pick<Failure, 'checks' | 'reason'>): number {
  const row = rowsOf(suspicionOf(queue, base)?.removals ?? []).at(-1);
  return signsOf(failure).some((sign) => row?.signs.includes(sign)) ? (row?.prNumbers.length ?? 0) : 0;
}

interface Row {
  /** The signs that all of them share. */
  readonly signs: readonly string[];
  readonly prNumbers: readonly PrNumber[];
}

/** Groups consecutive removals that share a sign, oldest first. Removals on top of unlanded entries are left out. */
function rowsOf(removals: readonly Removal[]): readonly Row[] {
  const rows: Row[] = [];
  for (const { entry, failure, onTopOf } of removals) {
    if (onTopOf !== undefined) continue;
    const signs = signsOf(failure);
    const last = rows.at(-1);
    const shared = last?.signs.filter((sign) => signs.includes(sign)) ?? [];
    if (last === undefined || shared.length === 0) rows.push({ signs, prNumbers: [entry.prNumber] });
    else rows[rows.length - 1] = { signs: shared, prNumbers: [...last.prNumbers, entry.prNumber] };
  }
  return rows;
}

/** Tests every commit that is suspected enough. */
export function testSuspectedBases(work: Work): void {
  forgetLeftBases(work);
  if (!mayWork(work.queue)) return;
  testUnprovenHead(work);
  for (const suspicion of work.queue.suspicions) {
    const { base, isDoubted } = suspicion;
    if (isDoubted !== true && suspectedSigns(work.queue, suspicion).length === 0) continue;
    const isOfUse = isHead(work.queue, base) || isSearchedOn(work.queue, base);
    const isSuspicious = (isOfUse && isSuspectedEnough(work.queue, suspicion)) || isWaitedFor(work.queue, suspicion);
    const isEnough = isDoubted === true || isSuspicious;
    const isHeld = work.queue.hold !== undefined && isHead(work.queue, base);
    if (isEnough && !isHeld && findBaseTest(work.queue, base) === undefined) testBase(work, base);
  }
}

/** A head that this queue never saw pass is suspected from the first failure on, and any head from one of the machine. */
// SPEC V73, V75
function testUnprovenHead(work: Work): void {
  const { head, hold } = work.queue;
  if (!policyOf(work.queue).confirms || head === undefined || hold !== undefined) return;
  if (findBaseTest(work.queue, head) !== undefined) return;
  const cleared = suspicionOf(work.queue, head)?.cleared;
  const isProven = head.isProven === true || (cleared !== undefined && work.at < cleared.at + CLEARED_FOR_MS);
  // A pass from before says nothing about the machine.
  const isMachineProven = ({ testingSince = work.at }: Candidate) => (cleared?.at ?? 0) + WORKS_FOR_MS >= testingSince;
  const hasFailed = ({ state, base }: Candidate) => state === 'failed' && base.sha === head.sha;
  const isSuspect = (run: Candidate) => hasFailed(run) && (isOfMachine(run) ? !isMachineProven(run) : !isProven);
  // Failed runs of a search in halves end at once.
  const isFirst = !isProven && work.endedCandidates.some(hasFailed);
  if (isFirst || candidatesOf(work.queue).some(isSuspect)) testBase(work, head);
}

/** Keeps the suspicions that a bisection or a base test needs, and those of the last few former heads. */
function forgetLeftBases(work: Work): void {
  const { queue } = work;
  const isNeeded = ({ base, isDoubted }: Suspicion) =>
    isDoubted === true || isHead(queue, base) || isSearchedOn(queue, base);
  const left = queue.suspicions.filter((suspicion) => !isNeeded(suspicion));
  for (const { base } of left.slice(0, -MAX_LEFT)) dropSuspicion(work, base);
}

export function testBase(work: Work, base: Base): void {
  const plan = { purpose: { kind: 'head' as const }, base, beneath: [], members: [], parent: undefined };
  startCandidate(work, addCandidate(work, plan));
}

export function findBaseTest(queue: Queue, base: Base): Candidate | undefined {
  return candidatesFor(queue, 'head').find((run) => run.base.sha === base.sha);
}

/** Compares commits, because a branch that is reset to an old head has that head again. */
export function isHead({ head }: Queue, base: Base): boolean {
  return base.sha === head?.sha;
}

/** The commit passed by itself or cannot be tested. Entries are judged as if it had never been suspected. */
export function clearBase(work: Work, { base, testingSince, plannedAt }: Candidate): void {
  if (isHead(work.queue, base) || isSearchedOn(work.queue, base)) {
    const suspicion = suspicionOf(work.queue, base) ?? { removals: [] };
    const suspected = suspectedSigns(work.queue, suspicion);
    const signs = suspected === 'any' ? suspicion.removals.flatMap(({ failure }) => signsOf(failure)) : suspected;
    // Passing checks do not show that the configuration is usable.
    const isOfChecks = (sign: string) => !sign.startsWith('START_TEST_RUN_');
    const cleared = { at: work.at, since: testingSince ?? plannedAt, signs: signs.filter(isOfChecks) };
    keepSuspicion(work, { base, removals: [], cleared });
  } else dropSuspicion(work, base);
}

/** The commit passed in a try, which says nothing about failures that are on record. */
export function takeTried(work: Work, base: Base, ran: Omit<Cleared, 'signs'>): void {
  if (suspicionOf(work.queue, base) === undefined)
    keepSuspicion(work, { base, removals: [], cleared: { ...ran, signs: [] } });
  proveBase(work, base);
}

/** The commit passed by itself. */
export function proveBase(work: Work, { sha }: Base): void {
  const { head, bisections } = work.queue;
  const isIt = (base: Base) => base.sha === sha && base.isProven !== true;
  if (head !== undefined && isIt(head)) amend(work, { head: { ...head, isProven: true } });
  if (!bisections.some(({ base }) => isIt(base))) return;
  const proven = bisections.map((search) =>
    isIt(search.base) ? { ...search, base: { ...search.base, isProven: true as const } } : search,
  );
  amend(work, { bisections: proven });
}

/** The commit fails by itself. Entries that were removed for nothing else return once the forge has been read again. */
// SPEC V18, V41
export function returnRemoved(work: Work, base: Base, signs: readonly string[]): void {
  const suspicion = suspicionOf(work.queue, base) ?? { base, removals: [], cleared: undefined };
  const isOfBase = ({ failure }: Removal) => signsOf(failure).every((sign) => signs.includes(sign));
  const returning = suspicion.removals.filter((removal) => isOfBase(removal) && removal.isReplaced !== true);
  const isReturning = ({ entry }: Removal) => returning.some((other) => other.entry.submission === entry.submission);
  const isLeft = (removal: Removal) => !isReturning(removal);
  keepSuspicion(work, { ...suspicion, removals: suspicion.removals.filter((r) => !isOfBase(r)), failed: signs });
  const suspicions = work.queue.suspicions.map((other) =>
    other.removals.every(isLeft) ? other : { ...other, removals: other.removals.filter(isLeft) },
  );
  amend(work, { suspicions, returning: [...work.queue.returning, ...returning] });
  for (const { entry } of returning) {
    work.effects.push({ kind: 'readmit_entry', prNumber: entry.prNumber, submission: entry.submission });
  }
}

/**
 * The target branch has a new head. After a push the old head is still tested if removals depend on it. Other evidence
 * is kept for a while, because the branch may be reset to it.
 */
export function leaveHead(work: Work, because: Because, how: 'landing' | 'push'): void {
  const { head } = work.queue;
  const suspicion = head === undefined ? undefined : suspicionOf(work.queue, head);
  if (head === undefined || suspicion === undefined) return;
  const isSearched = suspicion.removals.length > 0 && isSearchedOn(work.queue, head);
  const isUnderWay = suspicion.removals.length > 0 && findBaseTest(work.queue, head) !== undefined;
  const isWorthATest = isSearched || isUnderWay || isSuspectedEnough(work.queue, suspicion);
  // A bisection continues on its base, so the evidence against that base still counts.
  if (how === 'landing' && isSearched) return;
  if (how === 'push' && isSearched) giveUpSearches(work, head, because);
  const isDoubted = how === 'push' && isWorthATest;
  if (!isDoubted) endBaseTest(work, head, because);
  // Moves it to the end of the list, as the newest former head.
  dropSuspicion(work, head);
  keepSuspicion(work, isDoubted ? { ...suspicion, isDoubted } : suspicion);
}

/**
 * A failure on a former head that never passed by itself proves nothing. Its entries are tested on the present head.
 */
// SPEC V42
export function giveUpDoubtfulSearch(work: Work, run: Candidate): void {
  const suspicion = suspicionOf(work.queue, run.base);
  if (suspicion !== undefined && suspicion.removals.length > 0) keepSuspicion(work, { ...suspicion, isDoubted: true });
  giveUpSearches(work, run.base, { reason: 'TARGET_BRANCH_LEFT', candidate: run.number });
}

/** Failures on this base prove nothing, so every bisection on it is given up and its entries return to the line. */
export function giveUpSearches(work: Work, base: Base, because: Because): void {
  for (const bisection of work.queue.bisections) {
    if (bisection.base.sha !== base.sha) continue;
    for (const entry of unlanded(work.queue, bisection.members)) releaseFromSearch(work, entry, because);
  }
}

/** Ends the test of a commit. The next base test may still explain its removals. */
export function endBaseTest(work: Work, base: Base, { reason }: Because): void {
  const run = findBaseTest(work.queue, base);
  if (run !== undefined) endCandidate(work, run, { reason });
}

export function suspicionOf({ suspicions }: Queue, base: Base): Suspicion | undefined {
  return suspicions.find((suspicion) => suspicion.base.sha === base.sha);
}

function keepSuspicion(work: Work, suspicion: Suspicion): void {
  const { suspicions } = work.queue;
  const index = suspicions.findIndex(({ base }) => base.sha === suspicion.base.sha);
  const kept = index < 0 ? [...suspicions, suspicion] : suspicions.with(index, suspicion);
  amend(work, { suspicions: kept });
}

export function dropSuspicion(work: Work, base: Base): void {
  if (suspicionOf(work.queue, base) === undefined) return;
  const suspicions = work.queue.suspicions.filter((other) => other.base.sha !== base.sha);
  amend(work, { suspicions });
}

function isSearchedOn({ bisections }: Queue, base: Base): boolean {
  return bisections.some((bisection) => bisection.base.sha === base.sha);
}

/** The commit on which the candidate tested one entry, on top of nothing but entries that landed or passed. */
// SPEC V33
export function testedAloneOn(queue: Queue, candidate: Candidate): Base | undefined {
  const { members, purpose, base, beneath } = candidate;
  if (members.length !== 1) return undefined;
  // The entries beneath the front part of a bisection have passed. The bisection knows whether its base passed since.
  if (purpose.kind === 'bisection') return findSearch(queue, purpose.bisection)?.base ?? base;
  if (unlanded(queue, beneath).some(({ state }) => state !== 'TESTS_PASSED')) return undefined;
  // It was not tested together with the entries that landed beside it.
  return composedWithOf(queue, candidate).length > 0 ? base : queue.head;
}

/** A former head fails by itself, so failures on it prove nothing. Those candidates are tested on the present head. */
export function giveUpRuns(work: Work, base: Base, because: Because): void {
  for (const run of stillLive(work, lineOf(work.queue))) {
    if (run.state === 'failed' && findOnlyBase(work.queue, run)?.sha === base.sha) abandon(work, run, because);
  }
}

/** The commit that its members were tested on, without any other unlanded entry. */
function findOnlyBase(queue: Queue, run: Candidate): Base | undefined {
  if (run.members.length === 1) return testedAloneOn(queue, run);
  return unlanded(queue, run.beneath).length === 0 ? run.base : undefined;
}
