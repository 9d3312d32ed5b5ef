import { assert } from '../lib/assert.ts';
import { type Bisection, type SearchPart, setKey } from './bisection.ts';
import {
  dropRun,
  findBisection,
  getBisection,
  keepBisection,
  keepChain,
  type SearchPosition,
  tidy,
} from './bisection-runs.ts';
import { type Candidate, compositionOf, isRunAgain, type Member } from './candidate.ts';
import { learnFailure } from './learn.ts';
import { behindFailedRun, takeOut } from './line.ts';
import { policyOf } from './policy.ts';
import { concludePrefixes, isUntouched, settleSearched } from './prefix-search.ts';
import { type Because, findCandidate } from './queue.ts';
import { removeEntry } from './remove-entry.ts';
import { composedWithOf, unlanded } from './roster.ts';
import { giveUpDoubtfulSearch, isOnDoubtfulBase, mayBlame, noteFailure } from './suspicion.ts';
import { startCandidate } from './test-run.ts';
import { addCandidate, endCandidate, entryOf, move, type Work } from './work.ts';

/**
 * Starts the search for the culprits of a failed batch that no other entry is to blame for. Its members leave the line.
 *
 * The batch is split in two. Both parts are tested, the second on top of the first:
 *
 *   A B C D fails         -> parts AB | CD: run AB, run AB+CD
 *   AB passes             -> A and B return to the line; they are the survivors on which the rest is tested
 *   AB fails              -> parts A | B | CD; CD waits, because its result says nothing without AB's
 *   a part of one fails   -> it is the culprit; everything behind it is tested again as one part on the survivors
 *
 * A pass here never lands anything. A survivor lands from the line, without a second run if its tree is the same.
 */
// SPEC B4
export function startBisection(work: Work, candidate: Candidate): void {
  const { queue } = work;
  const base = queue.head;
  assert(base !== undefined, 'a candidate of the line has a target');
  const number = queue.bisectionsEver + 1;
  const isOnBase = unlanded(queue, candidate.beneath).length === 0 && composedWithOf(queue, candidate).length === 0;
  const failedSets = isOnBase ? [setKey(candidate.members)] : [];
  const entries = unlanded(queue, candidate.members);
  assert(entries.length > 0, 'a failed batch has members');
  takeOut(work, entries, behindFailedRun(candidate.members));
  for (const { prNumber } of entries) {
    const entry = { ...entryOf(work, prNumber), bisection: number };
    const { reason: _reason, ...failure } = entry.because;
    move(work, entry, { to: 'PENDING', ...failure, reason: 'BISECTION_REQUIRED', candidate: candidate.number });
  }
  const parts = split(candidate.members);
  const bisection: Bisection = {
    number,
    how: 'halves',
    base,
    isOnHead: true,
    admissions: queue.admissions,
    accused: undefined,
    chains: [{ number: 1, survivors: [], parts }],
    failedSets,
  };
  work.queue = {
    ...work.queue,
    bisectionsEver: number,
    bisections: [...work.queue.bisections, bisection],
  };
}

/** Draws the conclusions from the results of all bisection candidates. */
export function advanceBisections(work: Work): void {
  const known = new Set(work.before.bisections);
  for (const search of work.queue.bisections) {
    const { number, how } = search;
    if (how === 'prefixes') {
      if (known.has(search) && isUntouched(work, search)) continue;
      while (concludePrefixes(work, number));
      settleSearched(work, number);
      continue;
    }
    do tidy(work, number);
    while (concludeFront(work, number));
  }
}

function rememberFailedSets(work: Work, bisection: Bisection): void {
  const sets = new Set(bisection.failedSets);
  for (const part of bisection.chains.flatMap(({ parts }) => parts)) {
    const run = runOf(work, part);
    if (run?.state === 'failed') sets.add(setKey(compositionOf(run)));
  }
  if (sets.size > bisection.failedSets.length) keepBisection(work, { ...bisection, failedSets: [...sets] });
}

/** Concludes the first part of one chain. False if the first parts of all chains are still open. */
function concludeFront(work: Work, number: number): boolean {
  const bisection = findBisection(work, number);
  if (bisection === undefined) return false;
  rememberFailedSets(work, bisection);
  return bisection.chains.some((chain, index) => {
    const [front] = chain.parts;
    const run = front && runOf(work, front);
    if (front === undefined || run === undefined) return false;
    if (run.state === 'passed') {
      clearFront(work, { number, index }, front, run);
      return true;
    }
    if (run.state !== 'failed' || isRunAgain(run)) return false;
    return front.members.length === 1
      ? blameFront(work, { number, index }, run)
      : splitFront(work, { number, index }, front, run);
  });
}

// SPEC B5
function clearFront(work: Work, place: SearchPosition, front: SearchPart, run: Candidate): void {
  endCandidate(work, run, { reason: 'BISECTION_TEST_RUN_PASSED', prNumber: undefined });
  const { isOnHead, chains } = getBisection(work, place.number);
  const clearedBySearch = isOnHead ? place.number : undefined;
  const clearedByPart = `${place.number}.${chains[place.index]?.number}`;
  for (const entry of unlanded(work.queue, front.members)) {
    const cleared = { ...entry, bisection: undefined, wasTested: true, clearedBySearch, clearedByPart };
    move(work, cleared, { to: 'PENDING', reason: 'BISECTION_TEST_RUN_PASSED', candidate: run.number });
  }
  keepChain(work, place, ({ survivors, parts, ...chain }) => ({
    ...chain,
    survivors: [...survivors, ...front.members],
    parts: parts.slice(1),
  }));
}

// SPEC B6
function blameFront(work: Work, place: SearchPosition, run: Candidate): boolean {
  const [entry] = unlanded(work.queue, run.members);
  assert(entry !== undefined && run.failure !== undefined, 'a failed part has a live member and a failure');
  if (work.queue.hold === undefined && isOnDoubtfulBase(work.queue, run)) {
    giveUpDoubtfulSearch(work, run);
    return true;
  }
  if (!mayBlame(work.queue, run)) return false;
  noteFailure(work, entry, run, run.failure);
  learnFailure(work, entry, run.failure);
  const { at: _at, ...failure } = run.failure;
  removeEntry(work, entry, { to: 'FAILED', ...failure, candidate: run.number });
  regroupRest(work, place, 0, { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', prNumber: entry.prNumber });
  return true;
}

// SPEC B6
function splitFront(work: Work, place: SearchPosition, front: SearchPart, run: Candidate): boolean {
  const checks = run.failure?.checks ?? [];
  const because: Because = { reason: 'BISECTION_REQUIRED', candidate: run.number, checks };
  // SPEC B13
  regroupRest(work, place, 1, behindFailedRun(run.members));
  dropRun(work, front, because);
  keepChain(work, place, ({ survivors, parts, ...chain }) => ({
    ...chain,
    survivors,
    parts: [...split(front.members), ...parts.slice(1).map((part) => ({ ...part, isHeld: true }))],
  }));
  return true;
}

/** Joins all parts behind the first `from` parts into one untested part. */
function regroupRest(work: Work, place: SearchPosition, from: number, because: Because): void {
  const chain = getBisection(work, place.number).chains[place.index];
  const rest = chain?.parts.slice(from) ?? [];
  for (const part of rest) dropRun(work, part, because);
  const members = rest.flatMap((part) => part.members);
  keepChain(work, place, ({ survivors, parts, ...chain }) => ({
    ...chain,
    survivors,
    parts: [...parts.slice(0, from), ...(members.length === 0 ? [] : [{ members, candidates: [], isHeld: true }])],
  }));
}

/** Starts the first startable part; false if there is none. Parts with a known result are skipped. */
export function startNextRun(work: Work, number: number): boolean {
  for (;;) {
    tidy(work, number);
    const bisection = findBisection(work, number);
    const found = bisection === undefined ? undefined : findStartable(bisection);
    if (bisection === undefined || found === undefined) return false;
    if (!isKnownToFail(work, bisection, found)) {
      startRun(work, bisection, found);
      return true;
    }
    skipRun(work, number, found);
  }
}

interface Startable extends SearchPosition {
  readonly partIndex: number;
  readonly part: SearchPart;
  /** The survivors and the parts before it. */
  readonly beneath: readonly Member[];
}

export function findStartable({ number, chains }: Bisection): Startable | undefined {
  for (const [index, { survivors, parts }] of chains.entries()) {
    for (const [partIndex, part] of parts.entries()) {
      if (part.candidates.length > 0) continue;
      if (part.isHeld && partIndex > 0) break;
      const ahead = parts.slice(0, partIndex).flatMap(({ members }) => members);
      return { number, index, partIndex, part, beneath: [...survivors, ...ahead] };
    }
  }
  return undefined;
}

function isKnownToFail(work: Work, { failedSets }: Bisection, { beneath, part }: Startable): boolean {
  if (!policyOf(work.queue).skipsKnownFailures) return false;
  // A failure alone on the base may be the fault of the base, so it is tested and not derived.
  if (beneath.length === 0 && part.members.length === 1) return false;
  return failedSets.includes(setKey([...beneath, ...part.members]));
}

/**
 * Exactly this set failed before in this bisection, so it is not tested again. A part of several is split at once. A
 * part of one is to blame if all others are cleared. Until then it is tested alone.
 */
// SPEC B7, B14
function skipRun(work: Work, number: number, { index, partIndex, part }: Startable): void {
  const isFront = partIndex === 0;
  if (isFront && part.members.length === 1) {
    const [entry] = unlanded(work.queue, part.members);
    assert(entry !== undefined, 'a part has live members');
    removeEntry(work, entry, { to: 'FAILED', reason: 'TEST_RUN_FAILED_BY_OPTIMIZATION' });
    regroupRest(work, { number, index }, 0, {
      reason: 'PREREQUISITE_MERGE_ITEM_FAILED',
      prNumber: entry.prNumber,
    });
    return;
  }
  const pieces = part.members.length === 1 ? [part] : split(part.members);
  if (isFront) {
    keepChain(work, { number, index }, (chain) => ({ ...chain, parts: chain.parts.toSpliced(0, 1, ...pieces) }));
    return;
  }
  keepChain(work, { number, index }, (chain) => ({ ...chain, parts: chain.parts.toSpliced(partIndex, 1) }));
  const bisection = getBisection(work, number);
  const last = Math.max(...bisection.chains.map((chain) => chain.number));
  const detached = { number: last + 1, survivors: [], parts: pieces };
  keepBisection(work, { ...bisection, chains: [...bisection.chains, detached] });
}

function startRun(work: Work, { number, base }: Bisection, { index, partIndex, part, beneath }: Startable): void {
  const candidate = addCandidate(work, {
    purpose: { kind: 'bisection', bisection: number },
    base,
    beneath,
    members: part.members,
    parent: undefined,
  });
  keepChain(work, { number, index }, (chain) => ({
    ...chain,
    parts: chain.parts.with(partIndex, { ...part, candidates: [candidate.number], isHeld: false }),
  }));
  startCandidate(work, candidate);
}

function split(members: readonly Member[]): SearchPart[] {
  const half = Math.ceil(members.length / 2);
  const pieces = [members.slice(0, half), members.slice(half)];
  return pieces.map((piece) => ({ members: piece, candidates: [], isHeld: false }));
}

function runOf({ queue }: Work, { candidates: [number] }: SearchPart): Candidate | undefined {
  return number === undefined ? undefined : findCandidate(queue, number);
}
