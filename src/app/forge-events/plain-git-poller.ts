import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { findPullRequest, observePullRequest, observeTargetBranch } from '../queue/forge-facts.ts';
import { loadQueues } from '../queue/list-queues.ts';

/** Changes in a repository are found within this time plus the length of one poll. */
const INTERVAL_MS = 1_500;
/** On a shared store, where each poll reads it, and without an entry. The store poller tells of the first one. */
const IDLE_MS = 30_000;
/** More at a time would starve requests. */
const ENTRIES_AT_ONCE = 32;
/**
 * A move of the target branch may make any entry merged or conflicting, so that all of them are read. After the queue's
 * own landings this waits a little: a busy queue lands every second, and finds conflicts anyway when it builds.
 */
const READ_ALL_EVERY_MS = 15_000;
const REPOSITORIES_AT_ONCE = 8;
/** A poll that takes longer waits for a slow disk or network, and gives its slot to another repository. */
const PATIENCE_MS = 500;
const NO_HEADS: ReadonlyMap<PrNumber, Sha> = new Map();

/** A repository that hangs is not polled again before it answers, and does not hold up the others. */
// SPEC E13
export class PlainGitPoller {
  readonly #app: App;
  readonly #slots = new Semaphore(REPOSITORIES_AT_ONCE);
  /** Polls that run or wait for their slot. */
  readonly #polls = new Map<RepositoryId, Promise<void>>();
  /** The target branches when all entries were last read: a branch that moved since makes them due again. */
  readonly #fullReads = new Map<RepositoryId, FullReads>();
  /** Repositories with entries when they were last polled. */
  readonly #busy = new Set<RepositoryId>();
  readonly #rounds: PeriodicTask;
  #isStopped = false;

  constructor(app: App) {
    this.#app = app;
    const round = () => this.#beginPolls();
    const failure = 'could not poll repositories';
    const everyMs = () => (this.#isIdle() ? IDLE_MS : INTERVAL_MS);
    this.#rounds = new PeriodicTask(app, { firstMs: INTERVAL_MS, everyMs, failure, round });
  }

  noteEntries(): void {
    if (this.#isIdle()) this.#rounds.wake();
  }

  #isIdle(): boolean {
    return this.#app.store.isShared && this.#busy.size === 0;
  }

  start(): void {
    this.#rounds.start();
  }

  /** Waits for the polls under way. Closing the forges, before or meanwhile, ends those that hang. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#rounds.stop();
    await Promise.all(this.#polls.values());
  }

  /** Polls every repository once. */
  async pollOnce(): Promise<void> {
    await this.#beginPolls();
    await Promise.all(this.#polls.values());
  }

  async #beginPolls(): Promise<void> {
    const repositories = await this.#app.store.repositories.listAll();
    const ids = new Set(repositories.map(({ id }) => id));
    for (const known of [this.#fullReads, this.#busy]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
    for (const repository of repositories) {
      if (this.#polls.has(repository.id) || this.#isHosted(repository)) continue;
      const poll = this.#pollInTurn(repository).finally(() => this.#polls.delete(repository.id));
      this.#polls.set(repository.id, poll);
    }
  }

  /** Hosted forges send webhooks, and the forge poller polls them. */
  #isHosted({ host }: Repository): boolean {
    return this.#app.forges.get(host)?.hosting !== undefined;
  }

  /** A poll that takes long gives its slot to the next and continues beside it. */
  async #pollInTurn(repository: Repository): Promise<void> {
    const release = await this.#slots.take();
    const cancel = this.#app.clock.after(PATIENCE_MS, () => release?.());
    await this.#poll(repository);
    cancel();
    release?.();
  }

  async #poll(repository: Repository): Promise<void> {
    if (this.#isStopped) return;
    await this.#read(repository, repository.id, async () => {
      const queues = await loadQueues(this.#app, [repository]);
      const busy = queues.filter(({ queue }) => queue.entries.size > 0);
      this.#noteBusy(repository.id, busy.length > 0);
      await this.#pollQueues(repository, busy);
      return true;
    });
  }

  #noteBusy(id: RepositoryId, isBusy: boolean): void {
    const wasIdle = this.#isIdle();
    if (isBusy) this.#busy.add(id);
    else this.#busy.delete(id);
    // The next round was far away.
    if (wasIdle && !this.#isIdle()) this.#rounds.wake();
  }

  /** False if the read does not count, or failed: that is an outage of the repository or entry with this id. */
  async #read(repository: Repository, id: string, read: () => Promise<boolean>): Promise<boolean> {
    try {
      const isSeen = await read();
      this.#app.outages.end(id, this.#app.clock.now());
      return isSeen;
    } catch (error) {
      this.#warn(error, repository);
      this.#app.outages.begin(id, error, this.#app.clock.now());
      return false;
    }
  }

  async #pollQueues(repository: Repository, queues: readonly FoundQueue[]): Promise<void> {
    if (queues.length === 0) {
      this.#fullReads.delete(repository.id);
      return;
    }
    const forge = getForge(this.#app, repository.host);
    const where = toForgeRepository(repository);
    // In parallel, so that a forge that must fetch first does so once.
    const [heads, branchHeads] = await Promise.all([
      forge.listPullRequestHeads?.(where) ?? NO_HEADS,
      Promise.all(queues.map(({ queue }) => forge.findBranchHead(where, queue.branch))),
    ]);
    const known = this.#fullReads.get(repository.id);
    // A new map, so that deleted and empty queues are forgotten.
    const reads: FullReads = new Map();
    this.#fullReads.set(repository.id, reads);
    for (const [index, found] of queues.entries()) {
      const read = await this.#pollQueue(found, { head: branchHeads[index], heads, last: known?.get(found.id) });
      if (read !== undefined) reads.set(found.id, read);
    }
  }

  /** Returns the last read of all entries; undefined makes another one due. */
  async #pollQueue(found: FoundQueue, seen: Seen): Promise<FullRead | undefined> {
    const { head, heads, last } = seen;
    // The same answers about the same queue: a hundred idle queues cost next to nothing.
    if (last?.quiet?.queue === found.queue && last.quiet.heads === heads && last.head === head) return last;
    const now = this.#app.clock.now();
    const isObserved = await observeTargetBranch(this.#app, found, head).then(
      () => true,
      (error) => this.#warn(error, found.repository),
    );
    const hasMoved = last === undefined || last.head !== head;
    const isOurMove = last !== undefined && head === found.queue.head?.sha;
    const isAllDue = hasMoved && !(isOurMove && now - last.at < READ_ALL_EVERY_MS);
    // After a move the conflicting change may have been reverted.
    const isDue = (entry: Entry) =>
      isAllDue || this.#mayHaveChanged(entry, heads) || (hasMoved && entry.pr.mergeability === 'NOT_MERGEABLE');
    const due = [...valuesOf(found.queue.entries)].filter(isDue);
    if (isObserved && due.length === 0 && !hasMoved) return { ...last, quiet: { queue: found.queue, heads } };
    const isSeen = await this.#readEntries(found, due);
    if (!isObserved || !isSeen) return undefined;
    return isAllDue ? { head, at: now } : last;
  }

  /** Returns whether all due entries were read. A failed read does not keep the others from being read. */
  // SPEC C47
  async #readEntries(found: FoundQueue, due: readonly Entry[]): Promise<boolean> {
    const slots = new Semaphore(ENTRIES_AT_ONCE);
    const seen = await Promise.all(due.map((entry) => slots.run(() => this.#readEntry(found, entry))));
    return !seen.includes(false);
  }

  async #readEntry(found: FoundQueue, entry: Entry): Promise<boolean> {
    if (this.#isStopped) return false;
    return this.#read(found.repository, entry.id, async () => {
      const pr = await findPullRequest(this.#app, found, entry.prNumber);
      return observePullRequest(this.#app, found, entry, pr);
    });
  }

  /** An entry must be read again after a failed read, and while its mergeability is being computed. */
  #mayHaveChanged({ id, prNumber, pr }: Entry, heads: ReadonlyMap<PrNumber, Sha>): boolean {
    const isOpen = pr.mergeability === 'IN_PROGRESS' || this.#app.outages.find(id) !== undefined;
    return isOpen || heads.get(prNumber) !== pr.headSha;
  }

  #warn(error: unknown, repository: Repository): void {
    // Errors caused by the stop itself are not logged.
    if (this.#isStopped) return;
    this.#app.log.warn({ err: error, repository: formatRef(repository) }, 'could not poll a repository');
  }
}

/** The last time that all entries of a queue were read. */
interface FullRead {
  readonly head: Sha | undefined;
  readonly at: Instant;
  /** The last poll found nothing to read in this queue, by these heads. */
  readonly quiet?: { readonly queue: Queue; readonly heads: ReadonlyMap<PrNumber, Sha> };
}

type FullReads = Map<QueueId, FullRead>;

interface Seen {
  readonly head: Sha | undefined;
  readonly heads: ReadonlyMap<PrNumber, Sha>;
  readonly last: FullRead | undefined;
}
