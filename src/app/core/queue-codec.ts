import type { Candidate, CandidateNumber } from '../../engine/model/candidate.ts';
import type { Effect } from '../../engine/model/effect.ts';
import { buildIndex, reindex } from '../../engine/model/entry-index.ts';
import type { QueueEvent } from '../../engine/model/event.ts';
import { NOTHING_LEARNED } from '../../engine/model/learned.ts';
import { type Place, WAITING } from '../../engine/model/place.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { createQueue, type Entry, isLive, NEW_ENTRY, type Queue, type Removal } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import type { ImpactedTargets } from '../../engine/model/targets.ts';
import { FIRST_TIMEOUT_MINUTES } from '../../engine/model/testing-timeout.ts';
import type { Transition } from '../../engine/model/work.ts';
import { assert } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { deleteIn, getIn, intMapOf, setIn } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import type {
  CandidateRow,
  EffectRow,
  EntryRow,
  EventRow,
  ImpactedTargetsRow,
  QueueId,
  QueueSnapshot,
  TargetSetRow,
  TransitionRow,
} from '../../storage/queues.ts';
import { changeText } from '../../words/reasons.ts';
import { candidateIdOf } from './entry-id.ts';
import { decodeSearches, encodeSearches, type StoredSearch } from './stored-searches.ts';

/**
 * How a queue is stored. A list of targets is stored once, under its digest, and rows name the digest: an entry with
 * 100,000 targets must not write them again with every change of its state.
 */

type TargetList = Extract<ImpactedTargets, { kind: 'list' }>;
type StoredTargets = Exclude<ImpactedTargets, TargetList> | Omit<TargetList, 'targets'>;

/** The queue's own row: everything that has no row of its own and cannot be derived from those rows. */
type StoredQueue = Omit<Queue, 'branch' | 'entries' | 'candidates' | 'passes' | 'index' | 'bisections'> & {
  readonly bisections: readonly StoredSearch[];
  /** A timeout of 300 was set. In rows without it, 300 stands for an unset one. */
  readonly isTimeoutSet?: true;
};

/** Servers of 0.2.0 keep the place of an entry in three fields, of which at most one is set, and read the same rows. */
interface StoredPlace {
  readonly candidate?: CandidateNumber;
  readonly bisection?: number;
  readonly conflictsWith?: PrNumber;
}

type StoredEntry = Omit<Entry, 'targets' | 'place'> & StoredPlace & { readonly targets?: StoredTargets };

function encodePlace(place: Place): StoredPlace {
  switch (place.kind) {
    case 'waiting':
      return {};
    case 'line':
      return { candidate: place.candidate };
    case 'search':
      return { bisection: place.search };
    case 'aside':
      return { conflictsWith: place.behind };
  }
}

function decodePlace({ candidate, bisection, conflictsWith }: StoredPlace): Place {
  if (candidate !== undefined) return { kind: 'line', candidate };
  if (bisection !== undefined) return { kind: 'search', search: bisection };
  return conflictsWith === undefined ? WAITING : { kind: 'aside', behind: conflictsWith };
}

// SPEC S8
export function encodeQueue(queue: Queue): string {
  const { branch: _b, entries: _e, candidates: _c, passes: _p, index: _i, ...rest } = queue;
  const { testingTimeoutMinutes: minutes } = rest.settings;
  const settings = { ...rest.settings, testingTimeoutMinutes: minutes ?? FIRST_TIMEOUT_MINUTES };
  const isTimeoutSet = minutes === FIRST_TIMEOUT_MINUTES ? true : undefined;
  const stored: StoredQueue = { ...rest, settings, bisections: encodeSearches(queue), ...present({ isTimeoutSet }) };
  return JSON.stringify(stored);
}

/** A field that is newer than the row gets its value from a new queue. */
// SPEC S8
export function decodeQueue(snapshot: QueueSnapshot): Queue {
  const { isTimeoutSet, ...stored } = JSON.parse(snapshot.queue.body) as StoredQueue;
  const sets = indexTargetSets(snapshot.targetSets);
  const isUnset = stored.settings.testingTimeoutMinutes === FIRST_TIMEOUT_MINUTES && isTimeoutSet !== true;
  const settings = { ...DEFAULT_SETTINGS, ...stored.settings, ...(isUnset ? { testingTimeoutMinutes: null } : {}) };
  return indexed({
    ...createQueue(snapshot.queue.branch, settings, 'RUNNING'),
    ...stored,
    suspicions: stored.suspicions.map((each) => ({ ...each, removals: each.removals.map(decodeRemoval) })),
    returning: stored.returning.map(decodeRemoval),
    // Rows from before `isBegun` may have begun to land, and there was only one landing mode then.
    landing: stored.landing && {
      ...stored.landing,
      isBegun: stored.landing.isBegun ?? true,
      landingMode: stored.landing.landingMode ?? 'PUSH',
    },
    settings,
    learned: { ...NOTHING_LEARNED, ...stored.learned },
    bisections: decodeSearches(stored.bisections),
    entries: intMapOf(snapshot.entries.map((row) => [row.prNumber, decodeEntry(row, sets)])),
    ...decodeCandidates(snapshot.candidates),
  });
}

/** Version 0.2.0 knows no place. An entry that was removed has none. */
function decodeRemoval(removal: Removal): Removal {
  return { ...removal, entry: { ...removal.entry, place: WAITING } };
}

/** Applies the rows that changed since `known` was loaded. */
export function updateQueue(known: Queue, snapshot: QueueSnapshot): Queue {
  const sets = indexTargetSets(snapshot.targetSets);
  const fresh = decodeQueue({ ...snapshot, entries: [], candidates: [], targetSets: [] });
  let queue: Queue = { ...fresh, entries: known.entries, index: known.index, ...updateCandidates(known, snapshot) };
  for (const row of snapshot.entries) {
    const before = getIn(queue.entries, row.prNumber);
    const after = row.isLive ? decodeEntry(row, sets) : undefined;
    const entries =
      after === undefined ? deleteIn(queue.entries, row.prNumber) : setIn(queue.entries, row.prNumber, after);
    queue = { ...queue, entries, index: reindex(queue, before, after) };
  }
  // An entry's list in the index depends on these two.
  const isSame =
    fresh.settings.mode === known.settings.mode && fresh.submissionsBeforeParallel === known.submissionsBeforeParallel;
  return isSame ? queue : indexed(queue);
}

function updateCandidates(known: Queue, snapshot: QueueSnapshot): Pick<Queue, 'candidates' | 'passes'> {
  let { candidates, passes } = known;
  for (const row of snapshot.candidates) {
    const candidate = decodeCandidate(row);
    const isOver = candidate.endedAt !== undefined;
    candidates = isOver ? deleteIn(candidates, row.number) : setIn(candidates, row.number, candidate);
    passes = isOver && row.isLive ? setIn(passes, row.number, candidate) : deleteIn(passes, row.number);
  }
  return { candidates, passes };
}

function indexed(queue: Queue): Queue {
  return { ...queue, index: buildIndex(queue) };
}

export function encodeCandidate(
  candidate: Candidate,
  of: { readonly queueId: QueueId; readonly version: number; readonly isLive: boolean },
): CandidateRow {
  return {
    ...of,
    number: candidate.number,
    id: candidateIdOf(of.queueId, candidate.number),
    state: candidate.state,
    isBisection: candidate.purpose.kind === 'bisection',
    sha: candidate.commit?.sha ?? null,
    createdAt: candidate.plannedAt,
    endedAt: candidate.endedAt ?? null,
    body: JSON.stringify(candidate),
  };
}

/** JSON leaves out undefined fields; the engine compares candidates and needs them present. */
export function decodeCandidate(row: CandidateRow): Candidate {
  return { ...NO_CANDIDATE, ...(JSON.parse(row.body) as Candidate) };
}

const NO_CANDIDATE = {
  parent: undefined,
  commit: undefined,
  required: undefined,
  testingSince: undefined,
  sameTreeAs: undefined,
  pass: undefined,
  failure: undefined,
  endedAt: undefined,
  ending: undefined,
};

function decodeCandidates(rows: readonly CandidateRow[]): Pick<Queue, 'candidates' | 'passes'> {
  const decoded = rows.map(decodeCandidate);
  const byNumber = (list: readonly Candidate[]) => intMapOf(list.map((candidate) => [candidate.number, candidate]));
  return {
    candidates: byNumber(decoded.filter(({ endedAt }) => endedAt === undefined)),
    passes: byNumber(decoded.filter(({ endedAt }) => endedAt !== undefined)),
  };
}

export function encodeEffect(
  effect: Effect,
  of: { readonly queueId: QueueId; readonly version: number; readonly ordinal: number; readonly at: Instant },
): EffectRow {
  return {
    id: `${of.queueId}/${of.version}/${of.ordinal}`,
    kind: effect.kind,
    stream: streamOf(effect),
    dueAt: effect.kind === 'update_page' ? of.at + UPDATE_PAGE_AFTER_MS : of.at,
    body: JSON.stringify(effect),
  };
}

// SPEC G141
const UPDATE_PAGE_AFTER_MS = 1_500;

/** Effects of one stream run in order. A judgement waits for results, so that it must not hold up its candidate. */
function streamOf(effect: Effect): string {
  if (effect.kind === 'update_page') return `update_page ${effect.prNumber}`;
  if (effect.kind === 'judge_check') return `judgement ${effect.candidate} ${effect.check}`;
  // Raising and ending an alarm must keep their order.
  if (effect.kind === 'raise_alarm' || effect.kind === 'end_alarm') return 'alarm';
  if (effect.kind === 'readmit_entry') return `readmit ${effect.prNumber}`;
  if (effect.kind === 'compute_targets') return `targets ${effect.prNumber}`;
  if (effect.kind === 'review_lanes') return 'lanes';
  if (effect.kind === 'read_line') return 'line';
  if (effect.kind === 'review_required') return `review ${effect.candidate}`;
  return `candidate ${effect.candidate}`;
}

export function versionOfEffect({ id }: Pick<EffectRow, 'id'>): number {
  return Number(id.split('/')[1]);
}

export function decodeEffect(row: EffectRow): Effect {
  return JSON.parse(row.body) as Effect;
}

export function encodeEntry(entry: Entry, queueId: QueueId, version: number): EntryRow {
  const { targets, place, ...rest } = entry;
  const plain = { ...rest, ...encodePlace(place) };
  const stored: StoredEntry = targets === undefined ? plain : { ...plain, targets: encodeTargets(targets) };
  return {
    id: entry.id,
    queueId,
    prNumber: entry.prNumber,
    version,
    isLive: isLive(entry.state),
    state: entry.state,
    submittedAt: entry.submittedAt,
    targetsDigest: targets?.kind === 'list' && isLive(entry.state) ? targets.digest : null,
    body: JSON.stringify(stored),
  };
}

export type TargetSets = ReadonlyMap<string, readonly string[]>;

export function indexTargetSets(rows: readonly TargetSetRow[]): TargetSets {
  return new Map(rows.map((row) => [row.digest, JSON.parse(row.body) as string[]]));
}

/** JSON leaves out undefined fields, and older rows lack newer ones: both get the values of a new entry. */
function decodeEntry(row: EntryRow, sets: TargetSets): Entry {
  return decodeEntryBody(row, (targets) => decodeTargets(targets, sets));
}

function decodeEntryBody({ body }: EntryRow, decode: (targets: StoredTargets) => ImpactedTargets): Entry {
  const { targets, candidate, bisection, conflictsWith, ...rest } = JSON.parse(body) as StoredEntry;
  return {
    ...NEW_ENTRY,
    ...rest,
    place: decodePlace({ candidate, bisection, conflictsWith } as StoredPlace),
    unreadySince: rest.unreadySince ?? rest.submittedAt,
    targets: targets === undefined ? undefined : decode(targets),
  };
}

/** For an entry that is only shown: the count of its targets is enough, so the list is not read. */
export function decodeShownEntry(row: EntryRow): Entry {
  return decodeEntryBody(row, (targets) => (targets.kind === 'list' ? { ...targets, targets: [] } : targets));
}

export function encodeTargetSet(targets: ImpactedTargets): TargetSetRow | undefined {
  return targets.kind === 'list' ? { digest: targets.digest, body: JSON.stringify(targets.targets) } : undefined;
}

export function encodeImpactedTargets(
  targets: ImpactedTargets,
  of: Pick<ImpactedTargetsRow, 'queueId' | 'prNumber' | 'sha' | 'setAt'>,
): ImpactedTargetsRow {
  return {
    ...of,
    body: JSON.stringify(encodeTargets(targets)),
    targetsDigest: targets.kind === 'list' ? targets.digest : null,
    isOfFork: targets.from === 'fork',
  };
}

export function decodeImpactedTargets(row: ImpactedTargetsRow, set: TargetSetRow | undefined): ImpactedTargets {
  return decodeTargets(JSON.parse(row.body) as StoredTargets, indexTargetSets(set === undefined ? [] : [set]));
}

export function encodeEvent(event: QueueEvent, version: number): EventRow {
  const targets = 'targets' in event && event.targets !== undefined ? encodeTargets(event.targets) : undefined;
  const { kind, at, ...body } = event;
  return { version, at, kind, body: JSON.stringify(targets === undefined ? body : { ...body, targets }) };
}

export function decodeEvent(row: EventRow, sets: TargetSets): QueueEvent {
  const { targets, ...body } = JSON.parse(row.body) as { readonly targets?: StoredTargets };
  const event = { kind: row.kind, at: row.at, ...body };
  return (targets === undefined ? event : { ...event, targets: decodeTargets(targets, sets) }) as QueueEvent;
}

/** The body of a transition, as timelines show it. */
export interface StoredTransition {
  readonly reason: string;
  readonly text: string;
  readonly actor?: string;
  readonly testRunId?: string;
  readonly prNumber?: number;
  readonly checks?: readonly string[];
}

export function encodeTransition(
  transition: Transition,
  place: { readonly queueId: QueueId; readonly branch: string; readonly version: number; readonly ordinal: number },
): TransitionRow {
  const { to, because } = transition;
  const { reason, actor, prNumber, candidate, checks } = because;
  const body: StoredTransition = {
    reason,
    text: changeText({ to, branch: place.branch, because, landed: transition.landed }),
    ...(actor === undefined ? {} : { actor }),
    ...(candidate === undefined ? {} : { testRunId: candidateIdOf(place.queueId, candidate) }),
    ...(prNumber === undefined ? {} : { prNumber }),
    ...(checks === undefined || checks.length === 0 ? {} : { checks }),
  };
  return {
    queueId: place.queueId,
    entryId: transition.entryId,
    prNumber: transition.prNumber,
    version: place.version,
    ordinal: place.ordinal,
    at: transition.at,
    from: transition.from ?? null,
    to,
    isBisection: transition.isBisection,
    durationMs: transition.durationMs ?? null,
    inQueueMs: transition.inQueueMs ?? null,
    body: JSON.stringify(body),
  };
}

export function decodeTransition(row: TransitionRow): StoredTransition {
  return JSON.parse(row.body) as StoredTransition;
}

function encodeTargets(targets: ImpactedTargets): StoredTargets {
  if (targets.kind === 'all') return targets;
  const { targets: _list, ...stored } = targets;
  return stored;
}

function decodeTargets(stored: StoredTargets, sets: TargetSets): ImpactedTargets {
  if (stored.kind === 'all') return stored;
  const targets = sets.get(stored.digest);
  assert(targets !== undefined, `target set ${stored.digest} is missing`);
  return { ...stored, targets };
}
