import { isDeepStrictEqual } from 'node:util';
import { markParked } from '../../src/app/core/commit-draft.ts';
import { candidateIdOf } from '../../src/app/core/entry-id.ts';
import {
  decodeEvent,
  decodeQueue,
  encodeCandidate,
  encodeEntry,
  encodeQueue,
  indexTargetSets,
} from '../../src/app/core/queue-codec.ts';
import { landingEntries } from '../../src/engine/facts/evolve-landing.ts';
import type { Candidate } from '../../src/engine/model/candidate.ts';
import type { QueueEvent } from '../../src/engine/model/event.ts';
import { targetsOf } from '../../src/engine/model/footprint.ts';
import { type Entry, findCandidate, isLive, type Queue } from '../../src/engine/model/queue.ts';
import type { QueueSettings } from '../../src/engine/model/settings.ts';
import type { ImpactedTargets } from '../../src/engine/model/targets.ts';
import { type Step, step } from '../../src/engine/step.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { changedKeys, getIn } from '../../src/lib/int-map.ts';
import type { EventRow, QueueCommit, QueueId, TransitionRow } from '../../src/storage/queues.ts';
import type { Store } from '../../src/storage/store.ts';
import { plainQueue } from '../helpers/plain-queue.ts';

/** One stored event, and the step it causes when it is replayed. */
export interface Chapter {
  readonly version: number;
  readonly event: QueueEvent;
  readonly before: Queue;
  readonly step: Step;
}

/** The known facts of one stay of a pull request. */
export interface Stay {
  /** Its last state. */
  entry: Entry;
  /** The commits that were submitted or observed with write access. */
  readonly heads: Set<string>;
  /** The targets while it was live. */
  targets: ImpactedTargets | undefined;
  /** How often it ended. More than once is a bug. */
  endings: number;
}

/** The state when a landing was decided. */
export interface LandingDecision {
  readonly settings: QueueSettings;
  /** By submission. */
  readonly targets: ReadonlyMap<number, ImpactedTargets>;
}

export interface ChronicleOptions {
  readonly queueId: QueueId;
  readonly created: Queue;
  readonly now: () => Instant;
  readonly onChapter: (chapter: Chapter) => void;
  readonly onTransitions: (rows: readonly TransitionRow[]) => void;
  readonly onBreach: (invariant: string, text: string) => void;
  /** How many of the latest events are kept for the report. */
  readonly keptEvents?: number;
}

const REPLAY = 'I3 the stored events replay to what is stored';
const KEPT_EVENTS = 40;

/** Rebuilds the queue from its stored events alone: replayed after every commit and compared with the stored rows. */
export class Chronicle {
  queue: Queue;
  version = 1;
  /** Since when the stored queue has been paused or parked. */
  stillSince: Instant | undefined;
  /** The last state of every candidate, by id. */
  readonly candidates = new Map<string, Candidate>();
  /** By submission. */
  readonly stays = new Map<number, Stay>();
  /** By candidate. */
  readonly decisions = new Map<number, LandingDecision>();
  readonly #options: ChronicleOptions;
  readonly #sets = new Map<string, readonly string[]>();
  readonly #rows: EventRow[] = [];
  readonly #last: string[] = [];
  #isOver = false;

  constructor(options: ChronicleOptions) {
    this.#options = options;
    this.queue = options.created;
  }

  get events(): number {
    return this.#rows.length;
  }

  /** The latest events, for the report. */
  get lastEvents(): readonly string[] {
    return this.#last;
  }

  /** Adds a line to the report. Not stored. */
  note(text: string, at: Instant = this.#options.now()): void {
    if (this.#isOver) return;
    if (
      this.#last.push(`${new Date(at).toISOString().slice(11, 23)} ${text}`) > (this.#options.keptEvents ?? KEPT_EVENTS)
    )
      this.#last.shift();
  }

  /** Stops recording, so that the report ends with the failure. */
  conclude(): void {
    this.#isOver = true;
  }

  candidate(number: number): Candidate | undefined {
    return this.candidates.get(candidateIdOf(this.#options.queueId, number as Candidate['number']));
  }

  take(commit: QueueCommit): void {
    if (commit.expectedVersion !== this.version) this.#breach(`a commit skips from ${this.version}`);
    for (const [digest, targets] of indexTargetSets(commit.targetSets)) this.#sets.set(digest, targets);
    const ended = new Map<number, Entry>();
    for (const row of commit.events) {
      for (const entry of this.#fold(row).ended) ended.set(entry.prNumber, entry);
    }
    this.#compare(commit, ended);
    this.#options.onTransitions(commit.transitions);
  }

  /** Reads all events back from the store: they are those that were replayed. */
  async verify(store: Store): Promise<void> {
    const { queueId } = this.#options;
    const rows = await store.queueRecords.listEvents(queueId, 1, 1_000_000);
    if (!isDeepStrictEqual(rows, this.#rows)) this.#breach('the store has other events');
    const snapshot = await store.queues.load(queueId);
    if (snapshot === undefined) return this.#breach('the queue is gone');
    if (snapshot.queue.version !== this.version) this.#breach(`the store is at version ${snapshot.queue.version}`);
    if (!isDeepStrictEqual(plainQueue(this.queue), plainQueue(decodeQueue(snapshot))))
      this.#breach('the whole log gives another queue');
  }

  #fold(row: EventRow): Step {
    const { now, onChapter } = this.#options;
    const event = decodeEvent(row, this.#sets);
    const before = this.queue;
    const result = step(before, event);
    this.queue = markParked(result, row.version);
    this.version = row.version;
    this.#rows.push(row);
    this.#remember(row, result);
    const isStill = this.queue.state === 'PAUSED' || this.queue.parked !== undefined;
    this.stillSince = isStill ? (this.stillSince ?? now()) : undefined;
    this.#keepCandidates(before, result);
    this.#keepStays(before, event, result);
    this.#keepDecisions(result);
    onChapter({ version: row.version, event, before, step: result });
    return result;
  }

  #keepCandidates(before: Queue, { queue, endedCandidates }: Step): void {
    const keep = (candidate: Candidate | undefined) => {
      if (candidate === undefined) return;
      this.candidates.set(candidateIdOf(this.#options.queueId, candidate.number), candidate);
    };
    for (const number of changedKeys(before.candidates, queue.candidates)) keep(getIn(queue.candidates, number));
    for (const candidate of endedCandidates) keep(candidate);
  }

  #keepStays(before: Queue, event: QueueEvent, { queue, ended }: Step): void {
    const keep = (entry: Entry | undefined) => {
      if (entry === undefined) return;
      const fresh = { entry, heads: new Set<string>(), targets: entry.targets, endings: 0 };
      const stay = this.stays.get(entry.submission) ?? fresh;
      stay.entry = entry;
      if (isLive(entry.state)) stay.targets = entry.targets;
      else stay.endings += 1;
      // An entry that was removed for a failure of the branch continues its stay.
      if (event.kind === 'removed_pull_request_observed' && isLive(entry.state)) stay.endings = 0;
      this.stays.set(entry.submission, stay);
      const isMeant = event.kind === 'pull_request_submitted' || event.kind === 'pull_request_observed';
      if (!isMeant || event.pr === undefined || event.pr.number !== entry.prNumber) return;
      if (event.kind === 'pull_request_submitted' || event.pr.isHeadUntrusted !== true)
        stay.heads.add(event.pr.headSha);
    };
    for (const prNumber of changedKeys(before.entries, queue.entries)) keep(getIn(queue.entries, prNumber));
    for (const entry of ended) keep(entry);
  }

  #keepDecisions({ queue, effects }: Step): void {
    for (const effect of effects) {
      const candidate = effect.kind === 'land_candidate' ? findCandidate(queue, effect.candidate) : undefined;
      if (candidate === undefined) continue;
      const landing = landingEntries(queue, candidate);
      const targets = new Map(landing.map((entry) => [entry.submission, targetsOf(queue, entry)]));
      this.decisions.set(candidate.number, { settings: queue.settings, targets });
    }
  }

  #compare(commit: QueueCommit, ended: ReadonlyMap<number, Entry>): void {
    const { queueId } = this.#options;
    const { queue } = this;
    if (!isSame(encodeQueue(queue), commit.body)) this.#breach('another queue was stored');
    for (const row of commit.entries) {
      const entry = getIn(queue.entries, row.prNumber) ?? ended.get(row.prNumber);
      const again = entry && encodeEntry(entry, queueId, row.version);
      if (again === undefined || again.isLive !== row.isLive || !isSame(again.body, row.body)) {
        this.#breach(`another entry #${row.prNumber} was stored`);
      }
    }
    for (const row of commit.candidates) {
      const candidate = this.candidates.get(row.id);
      const again = candidate && encodeCandidate(candidate, { queueId, version: row.version, isLive: row.isLive });
      if (again === undefined || !isSame(again.body, row.body)) {
        this.#breach(`another candidate ${row.number} was stored`);
      }
    }
  }

  #remember({ version, at, kind, body }: EventRow, { outcome, transitions }: Step): void {
    const moves = transitions.map(({ prNumber, from, to, because }) => `#${prNumber} ${from}>${to} ${because.reason}`);
    const mark = outcome.kind === 'applied' ? '' : ` (${outcome.kind})`;
    const what = body.length > 200 ? `${body.slice(0, 200)}...` : body;
    this.note(`${version} ${kind} ${what}${mark}${moves.length === 0 ? '' : ` => ${moves.join('; ')}`}`, at);
  }

  #breach(text: string): void {
    this.#options.onBreach(REPLAY, text);
  }
}

/** Keys may be in another order: a queue read back from the store has them in the order of the codec. */
function isSame(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(JSON.parse(one), JSON.parse(other));
}
