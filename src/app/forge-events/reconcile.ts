import type { PrNumber } from '../../engine/pull-request.ts';
import type { Entry } from '../../engine/queue.ts';
import type { Instant, Timing } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { observePullRequest } from '../queue/observe-pull-request.ts';
import { findPullRequest } from '../queue/pull-request-facts.ts';
import { observeTargetBranch } from '../queue/read-target-branch.ts';

/** Changes at the forge are noticed within this time, plus the time of one look. */
const INTERVAL_MS = 1_500;
/** So many at a time leave room for requests. */
const ENTRIES_AT_ONCE = 32;
/**
 * A target that moves makes every entry of its queue be looked at, since it may be merged now or conflict. Where the queue
 * itself moved it, that can wait a little: a busy queue moves it every second, and finds conflicts when it builds.
 */
const LOOK_AT_ALL_EVERY_MS = 15_000;
const REPOSITORIES_AT_ONCE = 8;
/** A look that takes longer waits for somebody else, and does so without holding up the others. */
const PATIENCE_MS = 500;

/**
 * Asks plain git what has changed about the pull requests in the queues, and feeds it to the engine: nobody tells. Every
 * repository is looked at on its own: one that does not answer is not looked at again before it did, and the others do
 * not hint.
 */
export class PlainGitPoller {
  readonly #app: App;
  readonly #turns: Turns;
  /** Under way, or waiting for their turn. */
  readonly #looks = new Map<RepositoryId, Promise<void>>();
  /** The targets when all entries were looked at last: when one has moved since, that must be done again. */
  readonly #looksAtAll = new Map<RepositoryId, LooksAtAll>();
  #cancel: (() => void) | undefined;
  #beginning: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(app: App) {
    this.#app = app;
    this.#turns = new Turns(app.clock);
  }

  start(): void {
    this.#cancel = this.#app.clock.after(INTERVAL_MS, () => {
      this.#beginning = this.#beginAndGoOn();
    });
  }

  /** Looks under way end by themselves; whoever closes the forges ends those that hang. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#beginning;
    await Promise.all(this.#looks.values());
  }

  /** One look at everything. */
  async reconcile(): Promise<void> {
    await this.#beginLooks();
    await Promise.all(this.#looks.values());
  }

  async #beginAndGoOn(): Promise<void> {
    try {
      await this.#beginLooks();
    } catch (error) {
      // The next look asks for everything again: nothing is lost but time.
      this.#app.log.warn({ err: error }, 'could not look for changes');
    }
    if (!this.#isStopped) this.start();
  }

  async #beginLooks(): Promise<void> {
    const repositories = await this.#app.store.repositories.listAll();
    const ids = new Set(repositories.map(({ id }) => id));
    for (const id of this.#looksAtAll.keys()) if (!ids.has(id)) this.#looksAtAll.delete(id);
    for (const repository of repositories) {
      if (this.#looks.has(repository.id) || this.#isHosted(repository)) continue;
      const look = this.#turns.run(() => this.#look(repository)).finally(() => this.#looks.delete(repository.id));
      this.#looks.set(repository.id, look);
    }
  }

  /** Those are told of what happens, and looked around in. */
  #isHosted({ host }: Repository): boolean {
    return this.#app.forges.get(host)?.hosting !== undefined;
  }

  async #look(repository: Repository): Promise<void> {
    if (this.#isStopped) return;
    try {
      const queues = await loadQueues(this.#app, [repository]);
      await this.#lookAtQueues(
        repository,
        queues.filter(({ queue }) => queue.entries.size > 0),
      );
      this.#app.outages.end(repository.id);
    } catch (error) {
      this.#warn(error, repository);
      this.#app.outages.begin(repository.id, error, this.#app.clock.now());
    }
  }

  async #lookAtQueues(repository: Repository, queues: readonly FoundQueue[]): Promise<void> {
    if (queues.length === 0) {
      this.#looksAtAll.delete(repository.id);
      return;
    }
    const forge = getForge(this.#app, repository.host);
    const where = toForgeRepository(repository);
    // Asked together, so that a forge that must fetch first does so once.
    const [heads, branchHeads] = await Promise.all([
      forge.listPullRequestHeads(where),
      Promise.all(queues.map(({ queue }) => forge.findBranchHead(where, queue.branch))),
    ]);
    const known = this.#looksAtAll.get(repository.id);
    // Queues that are gone, or empty, are not remembered.
    const looks: LooksAtAll = new Map();
    this.#looksAtAll.set(repository.id, looks);
    for (const [index, found] of queues.entries()) {
      const look = await this.#lookAtQueue(found, { head: branchHeads[index], heads, last: known?.get(found.id) });
      if (look !== undefined) looks.set(found.id, look);
    }
  }

  /** Answers the last time all entries were looked at; undefined where that must be done again. */
  async #lookAtQueue(found: FoundQueue, seen: Seen): Promise<LookAtAll | undefined> {
    const { head, heads, last } = seen;
    const now = this.#app.clock.now();
    await this.#observeTarget(found, head);
    const hasMoved = last === undefined || last.head !== head;
    const isOurMove = last !== undefined && head === found.queue.head?.sha;
    const isAllDue = hasMoved && !(isOurMove && now - last.at < LOOK_AT_ALL_EVERY_MS);
    const isDue = (entry: Entry) => isAllDue || this.#mayHaveChanged(entry, heads) || (hasMoved && conflicts(entry));
    const isSeen = await this.#lookAtEntries(found, isDue);
    if (!isSeen) return undefined;
    return isAllDue ? { head, at: now } : last;
  }

  async #observeTarget(found: FoundQueue, head: Sha | undefined): Promise<void> {
    try {
      await observeTargetBranch(this.#app, found, head);
    } catch (error) {
      this.#warn(error, found.repository);
    }
  }

  /** Whether all that are due could be looked at. One that cannot be keeps nobody from looking at the others. */
  async #lookAtEntries(found: FoundQueue, isDue: (entry: Entry) => boolean): Promise<boolean> {
    const due = [...valuesOf(found.queue.entries)].filter(isDue);
    let areSeen = true;
    for (let first = 0; first < due.length; first += ENTRIES_AT_ONCE) {
      if (this.#isStopped) return false;
      const some = due.slice(first, first + ENTRIES_AT_ONCE);
      const seen = await Promise.all(some.map((entry) => this.#tryToObserve(found, entry)));
      areSeen &&= !seen.includes(false);
    }
    return areSeen;
  }

  async #tryToObserve(found: FoundQueue, entry: Entry): Promise<boolean> {
    try {
      await this.#observe(found, entry);
      this.#app.outages.end(entry.id);
      return true;
    } catch (error) {
      this.#warn(error, found.repository);
      this.#app.outages.begin(entry.id, error, this.#app.clock.now());
      return false;
    }
  }

  /** A forge that could not be asked, or is still computing whether an entry can be merged, must be asked again. */
  #mayHaveChanged({ id, prNumber, pr }: Entry, heads: ReadonlyMap<PrNumber, Sha>): boolean {
    const isOpen = pr.mergeability === 'IN_PROGRESS' || this.#app.outages.find(id) !== undefined;
    return isOpen || heads.get(prNumber) !== pr.headSha;
  }

  #warn(error: unknown, repository: Repository): void {
    // What comes of stopping is no news.
    if (this.#isStopped) return;
    this.#app.log.warn({ err: error, repository: repository.id }, 'could not look at a repository');
  }

  async #observe(found: FoundQueue, entry: Entry): Promise<void> {
    await observePullRequest(this.#app, found, entry, await findPullRequest(this.#app, found, entry.prNumber));
  }
}

/** Of one queue. */
interface LookAtAll {
  readonly head: Sha | undefined;
  readonly at: Instant;
}

type LooksAtAll = Map<QueueId, LookAtAll>;

interface Seen {
  readonly head: Sha | undefined;
  readonly heads: ReadonlyMap<PrNumber, Sha>;
  readonly last: LookAtAll | undefined;
}

/** Few tasks at a time, the others in order. One that takes long gives its turn away and goes on. */
class Turns {
  readonly #clock: Timing;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(clock: Timing) {
    this.#clock = clock;
  }

  async run(task: () => Promise<void>): Promise<void> {
    if (this.#taken >= REPOSITORIES_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taken += 1;
    let hasTurn = true;
    const passOn = () => {
      if (hasTurn) this.#passOn();
      hasTurn = false;
    };
    const cancel = this.#clock.after(PATIENCE_MS, passOn);
    try {
      await task();
    } finally {
      cancel();
      passOn();
    }
  }

  #passOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}

/** What it conflicts with may have been removed. */
function conflicts({ pr }: Entry): boolean {
  return pr.mergeability === 'NOT_MERGEABLE';
}
