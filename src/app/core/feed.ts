import { pause, type Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import type { Waiting } from '../../storage/waiting.ts';
import type { LoadedQueue } from './commit-draft.ts';
import { seal } from './feed-event.ts';

/** After a round that failed. The store poller tells of events that other processes stored. */
const POLL_MS = 60_000;
/** Events that follow each other within this time are given their places together: every round is a commit. */
const GATHER_MS = 15;
/** A busy queue changes many times a second, and a page need not be read as often. */
const HINT_MS = 200;
const BATCH = 500;
const SLICE = 50;
/** A follower that is further behind reads the rest by itself. */
const PAGE = 500;

/** A queue changed, and has this version now. */
export interface QueueHint {
  readonly queueId: QueueId;
  readonly repositoryId: RepositoryId;
  readonly targetBranch: string;
  readonly version: number;
}

export interface Follower {
  /** New events of the organization, in their order and without a gap. */
  receive(rows: readonly FeedRow[]): void;
  /** Queues of any organization that changed, each with its newest version. */
  hint(hints: readonly QueueHint[]): void;
  /** The server stops. */
  end(): void;
}

interface Followed {
  readonly followers: Set<Follower>;
  seq: number;
}

/** Gives stored events their places, and passes new ones on, read once for all followers of an organization. */
export class Feed {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #rounds: PeriodicTask;
  readonly #followed = new Map<OrganizationId, Followed>();
  readonly #hints = new Map<QueueId, QueueHint>();
  readonly #listeners = new Set<() => void>();
  /** How many events of the store had places when this was told of them last, and in the last round that succeeded. */
  #placed = 0;
  #passedOn = -1;

  constructor({ store, clock, log }: { readonly store: Store; readonly clock: Timing; readonly log: Log }) {
    this.#store = store;
    this.#clock = clock;
    this.#rounds = new PeriodicTask(
      { clock, log },
      {
        firstMs: 0,
        everyMs: POLL_MS,
        gatherMs: GATHER_MS,
        failure: 'could not read the feed',
        round: (isStopped) => this.#round(isStopped),
      },
    );
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    for (const { followers } of this.#followed.values()) for (const follower of followers) follower.end();
    return this.#rounds.stop();
  }

  /** Events were stored. */
  wake(): void {
    this.#rounds.wake();
  }

  /** Events that other processes stored, or gave places. */
  noteStored({ hasEvents, placed }: Pick<Waiting, 'hasEvents' | 'placed'>): void {
    this.#placed = placed;
    if (hasEvents || placed !== this.#passedOn) this.wake();
  }

  noteQueue({ id: queueId, repositoryId, version, queue }: LoadedQueue): void {
    this.wake();
    if (this.#followed.size === 0) return;
    if (this.#hints.size === 0) this.#clock.after(HINT_MS, () => this.#passHintsOn());
    this.#hints.set(queueId, { queueId, repositoryId, targetBranch: queue.branch, version });
  }

  #passHintsOn(): void {
    const hints = [...this.#hints.values()];
    this.#hints.clear();
    for (const { followers } of this.#followed.values())
      void this.#tellAll(followers, (follower) => follower.hint(hints));
  }

  /** Gives places to all events that are stored now. */
  async sequence(isStopped: () => boolean = () => false): Promise<void> {
    while (!isStopped() && (await this.#store.feed.sequence(seal, BATCH)).length > 0);
  }

  /** Calls back for every event from now on; returns a function that ends it. */
  async follow(organizationId: OrganizationId, follower: Follower): Promise<() => void> {
    const { lastSeq } = await this.#store.feed.getHead(organizationId);
    const followed = this.#followed.get(organizationId) ?? { followers: new Set(), seq: lastSeq };
    this.#followed.set(organizationId, followed);
    followed.followers.add(follower);
    return () => {
      followed.followers.delete(follower);
      if (followed.followers.size === 0) this.#followed.delete(organizationId);
    };
  }

  /** Calls back when events may have got places, also on another server; returns a function that unsubscribes. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #round(isStopped: () => boolean): Promise<void> {
    const placed = this.#placed;
    await this.sequence(isStopped);
    for (const listener of this.#listeners) listener();
    for (const [organizationId, followed] of this.#followed) {
      if (!isStopped()) await this.#passOn(organizationId, followed);
    }
    this.#passedOn = placed;
  }

  /** In slices: requests are answered in between, and what a slice allocates is gone before the next. */
  async #tellAll(followers: ReadonlySet<Follower>, tell: (follower: Follower) => void): Promise<void> {
    let told = 0;
    for (const follower of followers) {
      tell(follower);
      told += 1;
      if (told % SLICE === 0) await pause(this.#clock, 0);
    }
  }

  async #passOn(organizationId: OrganizationId, followed: Followed): Promise<void> {
    for (;;) {
      const query = { organizationId, repositoryIds: null, order: 'ASC', afterSeq: followed.seq, limit: PAGE } as const;
      const rows = await this.#store.feed.list(query);
      const last = rows.at(-1);
      if (last === undefined) return;
      followed.seq = last.seq;
      // Queues that another server changed.
      const hints = rows.flatMap(hintOf);
      await this.#tellAll(followed.followers, (follower) => {
        follower.receive(rows);
        follower.hint(hints);
      });
      if (rows.length < PAGE) return;
    }
  }
}

function hintOf({ queueId, repositoryId, source, version, targetBranch }: FeedRow): QueueHint[] {
  if (queueId === null || source !== queueId || targetBranch === null) return [];
  return [{ queueId: queueId as QueueId, repositoryId: repositoryId as RepositoryId, targetBranch, version }];
}
