import type { Instant } from '../lib/clock.ts';
import { releaseFromBisection } from './bisection-runs.ts';
import type { Base, Candidate, Failure } from './candidate.ts';
import { abandon } from './line.ts';
import type { PrNumber } from './pull-request.ts';
import { type Because, type Entry, findCandidate, mayWork, type Queue, type Removal, type Suspicion } from './queue.ts';
import { candidatesFor, candidatesOf, lineOf, unlanded } from './roster.ts';
import { startCandidate } from './test-run.ts';
import { addCandidate, endCandidate, type Work } from './work.ts';

/**
 * A red branch is not the next pull request's fault. Every removal for a failure alone on a commit of the target branch
 * is evidence against that commit. When two different entries in a row failed on it in the same way, the commit is tested
 * by itself before a third is removed. If it fails too, those removed for the same failure return to their places, and
 * where it is the head the queue holds (hold.ts). A search keeps the base it began on, so that base is judged and tested,
 * not the present head.
 */

/** This many removals in a row that look alike cast suspicion on the commit. */
export const ENOUGH = 2;

/** So many cast it however they look: several checks of one commit may be broken. */
const ENOUGH_OF_ANY = 4;

/** A commit that passed by itself is above suspicion for this long: CI may break at any time. */
const CLEARED_FOR_MS = 60 * 60_000;

/** Enough for every removal on one head that anybody will want back, and small enough to store with the queue. */
const MAX_REMOVALS = 100;

/** So many heads that were taken off the branch are remembered. */
const MAX_LEFT = 3;

/** False while the target branch may be to blame for the failure: its entries wait. */
export function mayBlame(queue: Queue, candidate: Candidate): boolean {
  return queue.hold === undefined && !isSuspected(queue, candidate) && !isOnDoubtfulBase(queue, candidate);
}

/** Others failed in the same way on this commit, and whether it is the commit's own fault is being found out. */
export function isSuspected(queue: Queue, candidate: Candidate): boolean {
  const base = testedAloneOn(queue, candidate);
  const suspicion = base === undefined ? undefined : suspicionOf(queue, base);
  if (suspicion === undefined) return false;
  const suspected = suspectedSigns(suspicion);
  return signsOf(candidate.failure).some((sign) => suspected === 'any' || suspected.includes(sign));
}

/** The signs a commit is suspected of: those it failed by itself, and those of every row of removals that is long enough. */
function suspectedSigns({ removals, failed = [] }: Pick<Suspicion, 'removals' | 'failed'>): readonly string[] | 'any' {
  if (removals.length >= ENOUGH_OF_ANY) return 'any';
  const rows = rowsOf(removals).filter(({ prNumbers }) => prNumbers.length >= ENOUGH);
  return [...failed, ...rows.flatMap(({ signs }) => signs)];
}

function isSuspectedEnough({ removals }: Suspicion): boolean {
  return suspectedSigns({ removals }).length > 0;
}

/** An entry failed on it in the way it is suspected of, and waits until that is found out. */
function isWaitedFor(queue: Queue, { base }: Suspicion): boolean {
  return candidatesOf(queue).some((run) => isSuspected(queue, run) && testedAloneOn(queue, run)?.sha === base.sha);
}

/** It failed alone on a base that never passed by itself, and somebody's push since may have mended it. */
export function isOnDoubtfulBase(queue: Queue, candidate: Candidate): boolean {
  const base = testedAloneOn(queue, candidate);
  if (base === undefined || base.ordinal >= queue.pushedHead || isHead(queue, base)) return false;
  // A pass of the entries beneath it speaks for the base.
  if (candidate.beneath.length > 0) return false;
  return base.isProven !== true && suspicionOf(queue, base)?.cleared === undefined;
}

/** How a failure shows: by checks or, where nothing could be tested, by the reason. */
export function signsOf(failure: Pick<Failure, 'checks' | 'reason'> | undefined): readonly string[] {
  if (failure === undefined) return [];
  if (failure.checks.length > 0) return failure.checks;
  return failure.reason.startsWith('START_TEST_RUN_') ? [failure.reason] : [];
}

/** An entry is about to be removed for the failure of this run. */
export function noteFailure(work: Work, entry: Entry, run: Candidate, failure: Failure): void {
  const onTopOf = unlanded(work.queue, run.beneath).map(({ submission }) => submission);
  noteRemoval(work, entry, testedAloneOn(work.queue, run), { failure, ...(onTopOf.length === 0 ? {} : { onTopOf }) });
}

/** An entry is about to be removed for a failure on this base. */
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
  // Lists of targets are long, and are read again should it return.
  const left: Entry = {
    ...entry,
    state: 'FAILED',
    candidate: undefined,
    bisection: undefined,
    conflictsWith: undefined,
    targets: undefined,
  };
  const others = (known?.removals ?? []).filter(({ entry: other }) => other.prNumber !== entry.prNumber);
  const removals = [...others, { entry: left, ...removal }].slice(-MAX_REMOVALS);
  keepSuspicion(work, { ...known, base, removals, cleared: undefined });
}

function isCleared(known: Suspicion | undefined, signs: readonly string[], at: Instant): boolean {
  const cleared = known?.cleared;
  if (cleared === undefined || at >= cleared.at + CLEARED_FOR_MS) return false;
  return signs.some((sign) => cleared.signs.includes(sign));
}

/**
 * Entries landed. Whoever was removed for a failure on top of them was removed for one on the new head, and a pass by a
 * waiver has not shown that what it waived works there.
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

/** It is submitted again: its earlier stay is over for good. */
export function forgetRemoval(work: Work, prNumber: PrNumber): void {
  const isIt = ({ entry }: Removal) => entry.prNumber === prNumber;
  const { suspicions, returning } = work.queue;
  work.queue = {
    ...work.queue,
    returning: returning.some(isIt) ? returning.filter((removal) => !isIt(removal)) : returning,
    suspicions: suspicions.map((suspicion) =>
      suspicion.removals.some(isIt)
        ? { ...suspicion, removals: suspicion.removals.map((r) => (isIt(r) ? { ...r, isReplaced: true as const } : r)) }
        : suspicion,
    ),
  };
}

/** How many removals in a row, ending with the last one, look like this failure. */
export function countAlike(queue: Queue, base: Base, failure: Pick<Failure, 'checks' | 'reason'>): number {
  const row = rowsOf(suspicionOf(queue, base)?.removals ?? []).at(-1);
  return signsOf(failure).some((sign) => row?.signs.includes(sign)) ? (row?.prNumbers.length ?? 0) : 0;
}

interface Row {
  /** What all of them have in common. */
  readonly signs: readonly string[];
  readonly prNumbers: readonly PrNumber[];
}

/** Removals in a row that share a sign, oldest first; without those that had something else beneath them. */
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

/** Asks for a test of every commit that is suspected enough. */
export function testSuspectedBases(work: Work): void {
  forgetLeftBases(work);
  if (!mayWork(work.queue)) return;
  for (const suspicion of work.queue.suspicions) {
    const { base, isDoubted } = suspicion;
    const isOfUse = isHead(work.queue, base) || isSearchedOn(work.queue, base);
    const isSuspicious = (isOfUse && isSuspectedEnough(suspicion)) || isWaitedFor(work.queue, suspicion);
    const isEnough = isDoubted === true || isSuspicious;
    const isHeld = work.queue.hold !== undefined && isHead(work.queue, base);
    if (isEnough && !isHeld && findBaseTest(work.queue, base) === undefined) testBase(work, base);
  }
}

/** Of commits that the branch has left, what a search or a test needs is kept, and the last few: it may come back. */
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

/** By its commit: a branch that is taken back to an old head has that head again. */
export function isHead({ head }: Queue, base: Base): boolean {
  return base.sha === head?.sha;
}

/** The commit passed by itself, or cannot be tested: entries are judged as if nothing had been suspected. */
export function clearBase(work: Work, base: Base): void {
  if (isHead(work.queue, base) || isSearchedOn(work.queue, base)) {
    const suspicion = suspicionOf(work.queue, base) ?? { removals: [] };
    const suspected = suspectedSigns(suspicion);
    const signs = suspected === 'any' ? suspicion.removals.flatMap(({ failure }) => signsOf(failure)) : suspected;
    // Checks that pass do not show that the configuration can be used.
    const isOfChecks = (sign: string) => !sign.startsWith('START_TEST_RUN_');
    keepSuspicion(work, { base, removals: [], cleared: { at: work.at, signs: signs.filter(isOfChecks) } });
  } else dropSuspicion(work, base);
}

/** The commit fails by itself: whoever was removed for nothing else returns, once the forge has said how it is now. */
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
  work.queue = { ...work.queue, suspicions, returning: [...work.queue.returning, ...returning] };
  for (const { entry } of returning) {
    work.effects.push({ kind: 'readmit_entry', prNumber: entry.prNumber, submission: entry.submission });
  }
}

/**
 * The branch left its head. A push cuts removals off from being judged: the head is still tested, for their sake, where
 * that is worth it. What else speaks against it is remembered for a while: the branch may come back.
 */
export function leaveHead(work: Work, because: Because, how: 'landing' | 'push'): void {
  const { head } = work.queue;
  const suspicion = head === undefined ? undefined : suspicionOf(work.queue, head);
  if (head === undefined || suspicion === undefined) return;
  const isSearched = suspicion.removals.length > 0 && isSearchedOn(work.queue, head);
  const isUnderWay = suspicion.removals.length > 0 && findBaseTest(work.queue, head) !== undefined;
  const isWorthATest = isSearched || isUnderWay || isSuspectedEnough(suspicion);
  // A search goes on on its base: what speaks against that counts there.
  if (how === 'landing' && isSearched) return;
  if (how === 'push' && isSearched) giveUpSearches(work, head, because);
  const isDoubted = how === 'push' && isWorthATest;
  if (!isDoubted) endBaseTest(work, head, because);
  // As the newest of those that were left.
  dropSuspicion(work, head);
  keepSuspicion(work, isDoubted ? { ...suspicion, isDoubted } : suspicion);
}

/** A search on a base that was left and never passed proves nothing: its entries are tested on the present head. */
export function giveUpDoubtfulSearch(work: Work, run: Candidate): void {
  const suspicion = suspicionOf(work.queue, run.base);
  if (suspicion !== undefined && suspicion.removals.length > 0) keepSuspicion(work, { ...suspicion, isDoubted: true });
  giveUpSearches(work, run.base, { reason: 'TARGET_BRANCH_LEFT', candidate: run.number });
}

/** What failed on this base has proved nothing: searches that are based on it begin again later. */
export function giveUpSearches(work: Work, base: Base, because: Because): void {
  for (const bisection of work.queue.bisections) {
    if (bisection.base.sha !== base.sha) continue;
    const members = bisection.chains.flatMap(({ parts }) => parts).flatMap((part) => part.members);
    for (const entry of unlanded(work.queue, members)) releaseFromBisection(work, entry, because);
  }
}

/** Ends the test of a commit. Removals that it has not explained yet may be explained by the next one. */
export function endBaseTest(work: Work, base: Base, { reason }: Because): void {
  const run = findBaseTest(work.queue, base);
  if (run !== undefined) endCandidate(work, run, { reason, prNumber: undefined });
}

export function suspicionOf({ suspicions }: Queue, base: Base): Suspicion | undefined {
  return suspicions.find((suspicion) => suspicion.base.sha === base.sha);
}

function keepSuspicion(work: Work, suspicion: Suspicion): void {
  const { suspicions } = work.queue;
  const index = suspicions.findIndex(({ base }) => base.sha === suspicion.base.sha);
  const kept = index < 0 ? [...suspicions, suspicion] : suspicions.with(index, suspicion);
  work.queue = { ...work.queue, suspicions: kept };
}

export function dropSuspicion(work: Work, base: Base): void {
  if (suspicionOf(work.queue, base) === undefined) return;
  const suspicions = work.queue.suspicions.filter((other) => other.base.sha !== base.sha);
  work.queue = { ...work.queue, suspicions };
}

function isSearchedOn({ bisections }: Queue, base: Base): boolean {
  return bisections.some((bisection) => bisection.base.sha === base.sha);
}

/** The commit on which the candidate tested one entry and nothing else but what has landed or passed. */
export function testedAloneOn(queue: Queue, candidate: Candidate): Base | undefined {
  const { members, purpose, base, beneath, composedWith } = candidate;
  if (members.length !== 1) return undefined;
  // The entries beneath the front part of a search have passed.
  if (purpose.kind === 'bisection') return base;
  // It was not tested with what landed beside it.
  if (composedWith.length > 0) return beneath.length === 0 ? base : undefined;
  return unlanded(queue, beneath).every(({ state }) => state === 'TESTS_PASSED') ? queue.head : undefined;
}

/** Failures on a commit that the branch has left, and that fails by itself, prove nothing: they are tested on the head. */
export function giveUpRuns(work: Work, base: Base, because: Because): void {
  for (const { number } of lineOf(work.queue)) {
    const run = findCandidate(work.queue, number);
    if (run?.state === 'failed' && testedAloneOn(work.queue, run)?.sha === base.sha) abandon(work, run, because);
  }
}
