import type { Candidate } from '../../engine/model/candidate.ts';
import type { QueueEvent } from '../../engine/model/event.ts';
import type { Queue } from '../../engine/model/queue.ts';
import type { ImpactedTargets } from '../../engine/model/targets.ts';
import type { Step } from '../../engine/step.ts';
import { changedKeys, getIn } from '../../lib/int-map.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type {
  CandidateRow,
  EffectRow,
  EntryRow,
  EventRow,
  ImpactedTargetsRow,
  QueueCommit,
  QueueId,
  TargetSetRow,
  TransitionRow,
} from '../../storage/queues.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import {
  encodeCandidate,
  encodeEffect,
  encodeEntry,
  encodeEvent,
  encodeImpactedTargets,
  encodeQueue,
  encodeTargetSet,
  encodeTransition,
} from './queue-codec.ts';
import { eventsOfStep } from './step-events.ts';

/** A queue as it was last stored. */
export interface LoadedQueue {
  readonly id: QueueId;
  readonly repositoryId: RepositoryId;
  readonly version: number;
  readonly queue: Queue;
}

/** Collects the changes of several steps of one queue: every event and transition, and each row in its last state. */
export class CommitDraft {
  readonly #loaded: LoadedQueue;
  readonly #events: EventRow[] = [];
  readonly #transitions: TransitionRow[] = [];
  readonly #feed: FeedDraft[] = [];
  readonly #entries = new Map<number, EntryRow>();
  readonly #candidates = new Map<number, CandidateRow>();
  readonly #effects: EffectRow[] = [];
  readonly #doneEffects: string[] = [];
  readonly #targetSets = new Map<string, TargetSetRow>();
  readonly #impactedTargets: ImpactedTargetsRow[] = [];
  queue: Queue;
  version: number;

  constructor(loaded: LoadedQueue) {
    this.#loaded = loaded;
    this.queue = loaded.queue;
    this.version = loaded.version;
  }

  add(event: QueueEvent, result: Step, doneEffect: string | undefined): void {
    const version = this.version + 1;
    const place = { queueId: this.#loaded.id, branch: this.queue.branch, version };
    this.#events.push(encodeEvent(event, version));
    this.#transitions.push(...result.transitions.map((each, ordinal) => encodeTransition(each, { ...place, ordinal })));
    const { repositoryId } = this.#loaded;
    this.#feed.push(
      ...eventsOfStep({ event, before: this.queue, result }, { queueId: place.queueId, repositoryId, version }),
    );
    for (const entry of result.ended) this.#entries.set(entry.prNumber, encodeEntry(entry, place.queueId, version));
    for (const prNumber of changedKeys(this.queue.entries, result.queue.entries)) {
      const entry = getIn(result.queue.entries, prNumber);
      if (entry !== undefined) this.#entries.set(prNumber, encodeEntry(entry, place.queueId, version));
    }
    this.#addCandidates(result, version);
    for (const [ordinal, effect] of result.effects.entries()) {
      this.#effects.push(encodeEffect(effect, { ...place, ordinal, at: event.at }));
    }
    if (doneEffect !== undefined) this.#doneEffects.push(doneEffect);
    if ('targets' in event && event.targets !== undefined) this.#addTargetSet(event.targets);
    if (event.kind === 'impacted_targets_set') {
      const { prNumber, sha, at: setAt } = event;
      this.#impactedTargets.push(
        encodeImpactedTargets(event.targets, { queueId: place.queueId, prNumber, sha, setAt }),
      );
    }
    this.queue = markParked(result, version);
    this.version = version;
  }

  /** Adds candidates that changed, that ended, and whose pass is no longer kept. */
  #addCandidates(result: Step, version: number): void {
    const { queue } = result;
    const changed = new Map<number, Candidate>();
    for (const number of changedKeys(this.queue.passes, queue.passes)) {
      const pass = getIn(this.queue.passes, number);
      if (pass !== undefined) changed.set(number, pass);
    }
    for (const number of changedKeys(this.queue.candidates, queue.candidates)) {
      const candidate = getIn(queue.candidates, number);
      if (candidate !== undefined) changed.set(number, candidate);
    }
    for (const candidate of result.endedCandidates) changed.set(candidate.number, candidate);
    for (const [number, candidate] of changed) {
      const isLive = getIn(queue.candidates, number) !== undefined || getIn(queue.passes, number) !== undefined;
      this.#candidates.set(number, encodeCandidate(candidate, { queueId: this.#loaded.id, version, isLive }));
    }
  }

  toCommit(): QueueCommit | undefined {
    if (this.#events.length === 0) return undefined;
    return {
      queueId: this.#loaded.id,
      expectedVersion: this.#loaded.version,
      body: encodeQueue(this.queue),
      events: this.#events,
      entries: [...this.#entries.values()],
      candidates: [...this.#candidates.values()],
      transitions: this.#transitions,
      feed: this.#feed,
      effects: this.#effects,
      doneEffects: this.#doneEffects,
      targetSets: [...this.#targetSets.values()],
      impactedTargets: this.#impactedTargets,
    };
  }

  #addTargetSet(targets: ImpactedTargets): void {
    if (targets.kind === 'list' && this.#targetSets.has(targets.digest)) return;
    const row = encodeTargetSet(targets);
    if (row !== undefined) this.#targetSets.set(row.digest, row);
  }
}

export function markParked({ queue, outcome }: Pick<Step, 'queue' | 'outcome'>, eventId: number): Queue {
  if (outcome.kind !== 'parked' || queue.parked === undefined || queue.parked.eventId !== undefined) return queue;
  return { ...queue, parked: { ...queue.parked, eventId } };
}
