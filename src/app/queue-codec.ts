import type { QueueEvent } from '../engine/event.ts';
import type { Entry, Queue } from '../engine/queue.ts';
import { isLive } from '../engine/queue.ts';
import { reasonText } from '../engine/reason.ts';
import { DEFAULT_SETTINGS } from '../engine/settings.ts';
import type { ImpactedTargets } from '../engine/targets.ts';
import type { Transition } from '../engine/work.ts';
import { assert } from '../lib/assert.ts';
import { intMapOf } from '../lib/int-map.ts';
import type {
  EntryRow,
  EventRow,
  ImpactedTargetsRow,
  QueueId,
  QueueSnapshot,
  TargetSetRow,
  TransitionRow,
} from '../storage/queues.ts';

/**
 * The one place that knows how a queue looks in the store. Lists of targets are stored once, under their digest, and
 * rows name the digest: an entry with 100,000 targets must not drag them through every change of its state.
 */

type StoredTargets =
  | { readonly kind: 'all'; readonly cause: 'declared' | 'too_many' }
  | { readonly kind: 'list'; readonly digest: string; readonly count: number };

/** What a queue's own row holds: everything but the entries. */
type StoredQueue = Omit<Queue, 'entries' | 'branch'>;

type StoredEntry = Omit<Entry, 'targets'> & { readonly targets?: StoredTargets };

export function encodeQueue(queue: Queue): string {
  const { entries: _entries, branch: _branch, ...stored } = queue;
  return JSON.stringify(stored satisfies StoredQueue);
}

/** A setting that the row does not have yet, because it is newer than the row, has its default. */
export function decodeQueue(snapshot: QueueSnapshot): Queue {
  const stored = JSON.parse(snapshot.queue.body) as StoredQueue;
  const sets = indexTargetSets(snapshot.targetSets);
  return {
    branch: snapshot.queue.branch,
    settings: { ...DEFAULT_SETTINGS, ...stored.settings },
    state: stored.state,
    modeSwitch: stored.modeSwitch,
    submissionsBeforeParallel: stored.submissionsBeforeParallel,
    entries: intMapOf(snapshot.entries.map((row) => [row.prNumber, decodeEntry(row, sets)])),
    submissions: stored.submissions,
    admissions: stored.admissions,
  };
}

export function encodeEntry(entry: Entry, queueId: QueueId, version: number): EntryRow {
  const { targets, ...rest } = entry;
  const stored: StoredEntry = targets === undefined ? rest : { ...rest, targets: encodeTargets(targets) };
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

export function decodeEntry(row: EntryRow, sets: TargetSets): Entry {
  const { targets, ...rest } = JSON.parse(row.body) as StoredEntry;
  return {
    ...rest,
    admission: rest.admission,
    targets: targets === undefined ? undefined : decodeTargets(targets, sets),
  };
}

/** One that ended, or is only shown: what its targets weigh need not be read to say how many there are. */
export function decodeShownEntry(row: EntryRow): Entry {
  const { targets, ...rest } = JSON.parse(row.body) as StoredEntry;
  const shown = targets?.kind === 'list' ? { ...targets, targets: [] } : targets;
  return { ...rest, admission: rest.admission, targets: shown };
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

/** What a timeline shows of a transition. */
export interface StoredTransition {
  readonly reason: string;
  readonly text: string;
  readonly actor?: string;
}

export function encodeTransition(
  transition: Transition,
  place: { readonly queueId: QueueId; readonly branch: string; readonly version: number; readonly ordinal: number },
): TransitionRow {
  const { reason, actor } = transition;
  const text = reasonText(reason, { actor, branch: place.branch });
  const body: StoredTransition = actor === undefined ? { reason, text } : { reason, text, actor };
  return {
    queueId: place.queueId,
    entryId: transition.entryId,
    prNumber: transition.prNumber,
    version: place.version,
    ordinal: place.ordinal,
    at: transition.at,
    from: transition.from ?? null,
    to: transition.to,
    isBisection: false,
    durationMs: transition.durationMs ?? null,
    inQueueMs: transition.inQueueMs ?? null,
    body: JSON.stringify(body),
  };
}

export function decodeTransition(row: TransitionRow): StoredTransition {
  return JSON.parse(row.body) as StoredTransition;
}

function encodeTargets(targets: ImpactedTargets): StoredTargets {
  return targets.kind === 'list' ? { kind: 'list', digest: targets.digest, count: targets.count } : targets;
}

function decodeTargets(stored: StoredTargets, sets: TargetSets): ImpactedTargets {
  if (stored.kind === 'all') return stored;
  const targets = sets.get(stored.digest);
  assert(targets !== undefined, `target set ${stored.digest} is missing`);
  return { ...stored, targets };
}
