import type { QueueEvent } from '../../engine/model/event.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import { APPLIED, type Outcome } from '../../engine/model/work.ts';
import { type Step, step } from '../../engine/step.ts';
import { pause, type Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { gatherMs } from '../../lib/gather.ts';
import { SharedReads } from '../../lib/shared-reads.ts';
import { activeSpan, inSpan, runOutside } from '../../lib/trace.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { QueueCommit, QueueId, QueueSnapshot } from '../../storage/queues.ts';
import type { Store } from '../../storage/store.ts';
import { CommitDraft, type LoadedQueue } from './commit-draft.ts';
import { decodeQueue, updateQueue } from './queue-codec.ts';

/** The event for the queue as it is when its turn comes; asked again if another server was first. Undefined: none. */
export type MakeEvent = (queue: Queue) => QueueEvent | undefined;

export interface RunResult {
  readonly outcome: Outcome;
  /** The queue after the event, as stored. */
  readonly queue: Queue;
  readonly ended: readonly Entry[];
  /** The event changed the queue and is stored, together with the end of the effect it answers. */
  readonly isStored: boolean;
}

interface RunOptions {
  /** The effect that this event answers: both are stored together. */
  readonly doneEffect?: string;
}

interface StoredCommit {
  readonly effects: number;
  readonly feed: readonly FeedDraft[];
}

/** Called by the server that stored a commit, after it. */
type Listener = (loaded: LoadedQueue, commit: StoredCommit) => void;

interface Waiting {
  readonly makeEvent: MakeEvent;
  readonly doneEffect: string | undefined;
  readonly resolve: (result: RunResult | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface EventLine {
  loaded: LoadedQueue | undefined;
  waiting: Waiting[];
  isRunning: boolean;
  /** Another server committed too, a moment ago: events wait for their turn instead of being stepped in vain. */
  isContested: boolean;
  /** Ends with the batch under way, and never rejects. */
  batch: Promise<unknown>;
  /** The version that the queue has after it. */
  storing: number;
}

/** When several events come together, more follow soon: one commit for all of them saves most of the writes. */
const GATHER_MS = 3;
/** A commit on a database of its own costs several times as much as one on the embedded store. */
const SHARED_GATHER_MS = 8;

const COMMIT_SPAN = { name: 'queue commit', kind: 'internal' } as const;

/** A larger batch would block the event loop for too long. */
const BATCH_LIMIT = 256;

/**
 * Runs events through the engine: load, step, commit, again when stale. Events of one queue run one after another.
 * Those that arrive during a commit are stepped together and stored in one transaction. Callers get their answer, and
 * readers see the new queue, only after the commit.
 */
export class QueueHost {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #listeners = new Set<Listener>();
  readonly #lines = new Map<QueueId, EventLine>();
  readonly #versions: SharedReads<'all', ReadonlyMap<QueueId, number>>;
  #wanted = new Set<QueueId>();
  readonly #loads: SharedReads<QueueId, LoadedQueue | undefined>;
  readonly #underWay = new Set<Promise<void>>();
  #gate: Promise<void> | undefined;

  constructor(store: Store, clock: Timing) {
    this.#store = store;
    this.#clock = clock;
    this.#versions = new SharedReads(clock);
    this.#loads = new SharedReads(clock);
  }

  /** Calls `listener` after every commit of this server, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Undefined where the queue does not exist (any more). */
  async find(queueId: QueueId): Promise<LoadedQueue | undefined> {
    const line = this.#line(queueId);
    if (line.loaded !== undefined && !this.#store.isShared) return line.loaded;
    return this.#refresh(queueId, line);
  }

  run(queueId: QueueId, makeEvent: MakeEvent, options: RunOptions = {}): Promise<RunResult | undefined> {
    if (activeSpan() === undefined) return this.#add(queueId, makeEvent, options);
    return inSpan(COMMIT_SPAN, () => this.#add(queueId, makeEvent, options));
  }

  #add(queueId: QueueId, makeEvent: MakeEvent, { doneEffect }: RunOptions): Promise<RunResult | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<RunResult | undefined>();
    const line = this.#line(queueId);
    line.waiting.push({ makeEvent, doneEffect, resolve, reject });
    // The commit may be one for events of several requests, and wakes workers.
    if (!line.isRunning) runOutside(() => void this.#drain(queueId, line));
    return promise;
  }

  forget(queueId: QueueId): void {
    this.#lines.delete(queueId);
  }

  /** No commit is under way meanwhile: a restored version may equal the one that a decision was made on. */
  async withWritesPaused<T>(action: () => Promise<T>): Promise<T> {
    // One at a time: the end of the first must not let events through while the second still runs.
    while (this.#gate !== undefined) await this.#gate;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    await Promise.allSettled(this.#underWay);
    try {
      return await action();
    } finally {
      for (const line of this.#lines.values()) line.loaded = undefined;
      this.#gate = undefined;
      resolve();
    }
  }

  #notify(loaded: LoadedQueue, commit: StoredCommit): void {
    for (const listener of this.#listeners) {
      try {
        listener(loaded, commit);
      } catch {
        // The commit is stored in any case, and each listener polls by itself after a while.
      }
    }
  }

  #line(queueId: QueueId): EventLine {
    const known = this.#lines.get(queueId);
    if (known !== undefined) return known;
    const line: EventLine = {
      loaded: undefined,
      waiting: [],
      isRunning: false,
      isContested: false,
      batch: Promise.resolve(),
      storing: 0,
    };
    this.#lines.set(queueId, line);
    return line;
  }

  async #refresh(queueId: QueueId, line: EventLine): Promise<LoadedQueue | undefined> {
    const known = line.loaded;
    const version = known && (await this.#findVersion(queueId));
    if (known !== undefined && version !== undefined) {
      // The commit that is under way has reached the store: its end brings what a read would.
      if (line.storing === version) await line.batch;
      // A commit that failed meanwhile cleared `line.loaded`, but the queue still exists.
      const present = line.loaded ?? known;
      if (present.version >= version) return present;
    }
    return this.#loads.get(queueId, () => this.#load(queueId, line));
  }

  /** One read for all queues that somebody asks for now. */
  async #findVersion(queueId: QueueId): Promise<number | undefined> {
    this.#wanted.add(queueId);
    const versions = await this.#versions.get('all', () => {
      const wanted = [...this.#wanted];
      this.#wanted = new Set();
      return this.#store.queues.findVersions(wanted);
    });
    return versions.get(queueId);
  }

  async #load(queueId: QueueId, line: EventLine): Promise<LoadedQueue | undefined> {
    const known = line.loaded;
    const snapshot = known
      ? await this.#store.queues.loadSince(queueId, known.version)
      : await this.#store.queues.load(queueId);
    if (snapshot === undefined) {
      line.loaded = undefined;
      this.#lines.delete(queueId);
      return undefined;
    }
    // Our own commit may have been stored during the read: the newer version counts.
    if (line.loaded !== undefined && line.loaded.version >= snapshot.queue.version) return line.loaded;
    const queue = known === undefined ? decodeQueue(snapshot) : updateQueue(known.queue, snapshot);
    const { version, repositoryId } = snapshot.queue;
    line.loaded = { id: queueId, repositoryId, version, queue };
    return line.loaded;
  }

  async #drain(queueId: QueueId, line: EventLine): Promise<void> {
    line.isRunning = true;
    // Events that arrive in the same turn of the event loop as the first share its commit.
    await pause(this.#clock, 0);
    while (line.waiting.length > 0) {
      while (this.#gate !== undefined) await this.#gate;
      const batch = line.waiting.splice(0, BATCH_LIMIT);
      const begunAt = this.#clock.now();
      await this.#settle(queueId, line, batch);
      const tookMs = this.#clock.now() - begunAt;
      const waitMs = this.#store.isShared ? gatherMs(SHARED_GATHER_MS, tookMs) : GATHER_MS;
      if (batch.length > 1) await pause(this.#clock, waitMs);
    }
    line.isRunning = false;
  }

  async #settle(queueId: QueueId, line: EventLine, batch: readonly Waiting[]): Promise<void> {
    const run = this.#runBatch(queueId, line, batch);
    this.#underWay.add(run);
    line.batch = run.catch(() => undefined);
    try {
      await run;
    } catch (error) {
      line.loaded = undefined;
      // The store rejected the whole batch because of one event: each is tried alone.
      if (batch.length > 1 && !(error instanceof Fault)) {
        for (const waiting of batch) await this.#settle(queueId, line, [waiting]);
      } else for (const waiting of batch) waiting.reject(error);
    } finally {
      this.#underWay.delete(run);
    }
  }

  // SPEC D2
  async #runBatch(queueId: QueueId, line: EventLine, batch: readonly Waiting[]): Promise<void> {
    for (;;) {
      if (line.loaded === undefined) await this.#refresh(queueId, line);
      const loaded = line.loaded;
      if (loaded === undefined) {
        for (const waiting of batch) waiting.resolve(undefined);
        return;
      }
      if (line.isContested) return this.#runInTurn(loaded, line, batch);
      const attempt = stepAll(loaded, batch);
      line.storing = attempt.after.version;
      if (attempt.commit === undefined || (await this.#store.queues.commit(attempt.commit)) === 'committed') {
        return this.#conclude(line, attempt);
      }
      line.isContested = this.#store.isShared;
      if (!line.isContested) await this.#refresh(queueId, line);
    }
  }

  async #runInTurn(known: LoadedQueue, line: EventLine, batch: readonly Waiting[]): Promise<void> {
    let attempt: Attempt | undefined;
    const outcome = await this.#store.queues.commitInTurn(known.id, known.version, (changed) => {
      line.isContested = changed !== undefined;
      attempt = stepAll(changed === undefined ? known : update(known, changed), batch);
      line.storing = attempt.after.version;
      return attempt.commit;
    });
    if (outcome === 'gone' || attempt === undefined) {
      line.loaded = undefined;
      for (const waiting of batch) waiting.resolve(undefined);
      return;
    }
    this.#conclude(line, attempt);
  }

  #conclude(line: EventLine, { after, commit, answer }: Attempt): void {
    line.loaded = after;
    if (commit !== undefined) this.#notify(after, { effects: commit.effects.length, feed: commit.feed ?? [] });
    answer();
  }
}

function update(known: LoadedQueue, changed: QueueSnapshot): LoadedQueue {
  return { ...known, version: changed.queue.version, queue: updateQueue(known.queue, changed) };
}

interface Attempt {
  readonly after: LoadedQueue;
  /** Undefined where every event was refused. */
  readonly commit: QueueCommit | undefined;
  readonly answer: () => void;
}

/** Steps a batch in memory. An event that throws (a bug) is rejected alone; the others are not affected. */
function stepAll(loaded: LoadedQueue, batch: readonly Waiting[]): Attempt {
  const draft = new CommitDraft(loaded);
  const answers = batch.map((waiting) => {
    try {
      const event = waiting.makeEvent(draft.queue);
      if (event === undefined) {
        const { queue } = draft;
        return () => waiting.resolve({ outcome: APPLIED, queue, ended: [], isStored: false });
      }
      const result = step(draft.queue, event);
      const isStored = isWorthStoring(draft.queue, event, result);
      if (isStored) draft.add(event, result, waiting.doneEffect);
      const { outcome, ended } = result;
      const { queue } = isStored ? draft : result;
      return () => waiting.resolve({ outcome, queue, ended, isStored });
    } catch (error) {
      return () => waiting.reject(error);
    }
  });
  return {
    after: { ...loaded, version: draft.version, queue: draft.queue },
    commit: draft.toCommit(),
    answer: () => {
      for (const answer of answers) answer();
    },
  };
}

/** Refused and ignored events are not stored, except CI results, which are recorded even for ended candidates. */
function isWorthStoring(before: Queue, event: QueueEvent, { outcome, queue }: Step): boolean {
  switch (outcome.kind) {
    case 'refused':
      return false;
    case 'ignored':
      return event.kind === 'check_reported';
    case 'parked':
      return true;
    case 'applied':
      return event.kind !== 'time_passed' || queue !== before;
  }
}
