import { assert } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { deleteIn, listOf, setIn, valuesOf } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import type { Candidate, CandidateNumber, Landed } from './candidate.ts';
import type { Effect } from './effect.ts';
import { reindex } from './entry-index.ts';
import type { Below, PrNumber } from './pull-request.ts';
import {
  type Because,
  type Entry,
  type EntryId,
  type EntryState,
  findCandidate,
  findEntry,
  isAdmitted,
  isLive,
  type Queue,
} from './queue.ts';
import type { ReasonCode } from './reason.ts';
import { composedWithOf } from './roster.ts';
import { entriesAbove, entriesBelow } from './stack.ts';
import type { Strategy } from './strategy.ts';

export type Outcome =
  | { readonly kind: 'applied' }
  /** The event changes nothing: it is about something that ended, or it is known already. */
  | { readonly kind: 'ignored'; readonly detail: string }
  | { readonly kind: 'refused'; readonly code: RefusedStep; readonly detail: string }
  /** An invariant would have been broken. The event was not applied, and the queue is parked. */
  | { readonly kind: 'parked'; readonly detail: string };

export type RefusedStep =
  | 'PULL_REQUEST_NOT_IN_QUEUE'
  | 'PULL_REQUEST_LANDING'
  | 'TESTS_NOT_RESTARTABLE'
  | 'MODE_CHANGE_IN_PROGRESS'
  | 'QUEUE_NOT_EMPTY'
  | 'QUEUE_NOT_HELD'
  | 'VALIDATION_FAILED';

export interface Transition {
  readonly entryId: EntryId;
  readonly prNumber: PrNumber;
  readonly at: Instant;
  readonly from: EntryState | undefined;
  readonly to: EntryState;
  readonly because: Because;
  /** The proof, if it landed. */
  readonly landed?: Landed;
  readonly isBisection: boolean;
  /** An agent submitted it. */
  readonly isAgents?: true;
  /** Time spent in `from`. Never negative, even if the clock went back. */
  readonly durationMs: number | undefined;
  /** Time since admission. Present if this transition ends the stay of an admitted entry. */
  readonly inQueueMs: number | undefined;
}

/** The result of a step. Nothing is executed yet. */
export interface Step {
  readonly queue: Queue;
  readonly outcome: Outcome;
  readonly transitions: readonly Transition[];
  readonly effects: readonly Effect[];
  /** Entries and candidates that left the queue, in their last state. */
  readonly ended: readonly Entry[];
  readonly endedCandidates: readonly Candidate[];
}

/** The step under construction. `queue` is replaced and never changed; the lists grow. */
export interface Work {
  readonly before: Queue;
  queue: Queue;
  readonly at: Instant;
  /** Undefined: the strategy that the settings name. */
  readonly strategy: Strategy | undefined;
  readonly transitions: Transition[];
  readonly effects: Effect[];
  readonly ended: Entry[];
  readonly endedCandidates: Candidate[];
  /** Pull requests whose page update is requested already. */
  told?: Set<PrNumber>;
}

export const APPLIED: Outcome = { kind: 'applied' };

export function refused(code: RefusedStep, detail: string): Outcome {
  return { kind: 'refused', code, detail };
}

export function ignored(detail: string): Outcome {
  return { kind: 'ignored', detail };
}

/** Replaces fields of the queue. Entries and candidates have functions of their own. */
export function amend(work: Work, fields: Partial<Queue>): void {
  work.queue = { ...work.queue, ...fields };
}

/** Stores an entry without changing its state. */
export function keep(work: Work, entry: Entry): void {
  const { queue } = work;
  const known = findEntry(queue, entry.prNumber);
  const index = reindex(queue, known, entry);
  work.queue = { ...queue, entries: setIn(queue.entries, entry.prNumber, entry), index };
}

export interface Move extends Because {
  readonly to: EntryState;
}

/** Requests one page update for each pull request and step. */
export function tell(work: Work, prNumber: PrNumber): void {
  if (!work.queue.hasPages) return;
  work.told ??= new Set();
  if (work.told.has(prNumber)) return;
  work.told.add(prNumber);
  work.effects.push({ kind: 'update_page', prNumber });
}

/** Updates the pages of all entries. */
export function tellAll(work: Work): void {
  if (!work.queue.hasPages) return;
  for (const { prNumber } of valuesOf(work.queue.entries)) tell(work, prNumber);
}

/** The only way an entry changes its state. Records the transition with its reason, and takes an ended entry out. */
// SPEC E11, E14
export function move(work: Work, entry: Entry, { to, ...because }: Move): void {
  const { queue } = work;
  const known = findEntry(queue, entry.prNumber);
  const moved: Entry = { ...entry, state: to, stateChangedAt: work.at, because };
  const ends = !isLive(to);
  work.transitions.push({
    entryId: entry.id,
    prNumber: entry.prNumber,
    at: work.at,
    // A returning entry has ended before and is no longer in the queue.
    from: known?.state ?? (isLive(entry.state) ? undefined : entry.state),
    to,
    because,
    ...(entry.landed !== undefined && to === 'MERGED' && { landed: entry.landed }),
    isBisection: known?.place.kind === 'search',
    ...(entry.submitter?.isAgent && { isAgents: true }),
    durationMs: known === undefined ? undefined : Math.max(0, work.at - known.stateChangedAt),
    inQueueMs: ends && isAdmitted(entry) ? Math.max(0, work.at - (entry.admission?.at ?? work.at)) : undefined,
  });
  tell(work, entry.prNumber);
  // Their pages name it.
  if (known === undefined || ends) for (const below of entriesBelow(queue, entry)) tell(work, below.prNumber);
  if (!ends) {
    keep(work, moved);
    return;
  }
  work.ended.push(moved);
  work.queue = { ...queue, entries: deleteIn(queue.entries, entry.prNumber), index: reindex(queue, known, undefined) };
  if (to === 'MERGED') noteBelow(work, entry, { isMerged: true });
  if (because.reason === 'PR_MERGED_INTO_OTHER_BRANCH') noteBelow(work, entry, { mergedInto: entry.pr.baseBranch });
}

/** Those above one that is in the target branch need it no longer. */
function noteBelow(work: Work, { prNumber }: Entry, merged: Pick<Below, 'isMerged' | 'mergedInto'>): void {
  for (const above of entriesAbove(work.queue, prNumber)) {
    const below = above.pr.below?.map((each) => (each.number === prNumber ? { ...each, ...merged } : each));
    keep(work, { ...above, pr: { ...above.pr, ...present({ below }) } });
  }
}

/** The present state of an entry that is known to be in the queue. */
export function entryOf(work: Work, prNumber: PrNumber): Entry {
  const entry = findEntry(work.queue, prNumber);
  assert(entry !== undefined, `entry #${prNumber} is in the queue`);
  return entry;
}

/** Those of the candidates that have not ended meanwhile, each as it is when its turn comes. */
export function stillLive(work: Work, candidates: readonly Candidate[]): Iterable<Candidate> {
  return candidates.length === 0 ? candidates : new LiveCandidates(work, candidates);
}

/** A step goes over the line a dozen times. A generator would cost a tenth of it. */
class LiveCandidates implements Iterable<Candidate>, Iterator<Candidate> {
  readonly #work: Work;
  readonly #candidates: readonly Candidate[];
  readonly #before: Queue['candidates'];
  #next = 0;

  constructor(work: Work, candidates: readonly Candidate[]) {
    this.#work = work;
    this.#candidates = candidates;
    this.#before = work.queue.candidates;
  }

  [Symbol.iterator](): Iterator<Candidate> {
    return this;
  }

  next(): IteratorResult<Candidate> {
    const { queue } = this.#work;
    while (this.#next < this.#candidates.length) {
      const known = this.#candidates[this.#next++] as Candidate;
      const value = queue.candidates === this.#before ? known : findCandidate(queue, known.number);
      if (value !== undefined) return { done: false, value };
    }
    return { done: true, value: undefined };
  }
}

export function keepCandidate(work: Work, candidate: Candidate): void {
  work.queue = { ...work.queue, candidates: setIn(work.queue.candidates, candidate.number, candidate) };
}

export type CandidatePlan = Pick<
  Candidate,
  'purpose' | 'base' | 'beneath' | 'members' | 'parent' | 'repeats' | 'question'
>;

/** Adds a candidate at the end of the line. It inherits the place and the history of `replaced`. */
export function addCandidate(
  work: Work,
  plan: CandidatePlan,
  replaced?: Pick<Candidate, 'place' | 'tries'>,
): Candidate {
  const number = (work.queue.candidatesEver + 1) as CandidateNumber;
  const candidate: Candidate = {
    ...plan,
    number,
    place: replaced?.place ?? number,
    mergeMethod: work.queue.settings.mergeMethod,
    tries: replaced?.tries ?? 0,
    state: 'waiting',
    plannedAt: work.at,
    commit: undefined,
    required: undefined,
    testingSince: undefined,
    checks: [],
    sameTreeAs: undefined,
    pass: undefined,
    failure: undefined,
    ...(work.queue.lastPasses.length === 0 ? {} : { lastPasses: work.queue.lastPasses }),
    endedAt: undefined,
    ending: undefined,
  };
  work.queue = { ...work.queue, candidatesEver: number };
  keepCandidate(work, candidate);
  return candidate;
}

/** Enough for every survivor of a large bisection, and cheap to search. */
export const REMEMBERED_RUNS = 256;

/** Why a candidate ends, and the entry that caused it, if one did. */
export interface EndCause {
  readonly reason: ReasonCode;
  readonly prNumber?: PrNumber | undefined;
}

/** Takes a candidate out of the queue. Its tree is remembered if it passed or failed by its own run. */
export function endCandidate(work: Work, candidate: Candidate, { reason, prNumber }: EndCause): void {
  const isDecided = candidate.state === 'passed' || candidate.state === 'failed';
  const state = isDecided ? candidate.state : 'abandoned';
  const composedWith = composedWithOf(work.queue, candidate);
  const ended: Candidate = { ...candidate, state, composedWith, endedAt: work.at, ending: { reason, prNumber } };
  work.endedCandidates.push(ended);
  const landing = work.queue.landing?.candidate === candidate.number ? undefined : work.queue.landing;
  work.queue = { ...work.queue, candidates: deleteIn(work.queue.candidates, candidate.number), landing };
  const hasPassed = ended.pass?.by === 'own_run' && ended.pass.waived === undefined;
  const hasFailed = ended.failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' && ended.question === undefined;
  if (hasPassed || hasFailed) remember(work, ended);
  if (candidate.state !== 'waiting') work.effects.push({ kind: 'discard_candidate', candidate: candidate.number });
}

function remember(work: Work, candidate: Candidate): void {
  let passes = setIn(work.queue.passes, candidate.number, candidate);
  if (passes.size > REMEMBERED_RUNS) {
    const oldest = Math.min(...listOf(passes).map(({ number }) => number));
    passes = deleteIn(passes, oldest);
  }
  work.queue = { ...work.queue, passes };
}
