import type { PrNumber, Sha } from '../engine/pull-request.ts';
import { type Entry, findEntry } from '../engine/queue.ts';
import { valuesOf } from '../lib/int-map.ts';
import type { App } from './app.ts';
import { type FoundQueue, getForge, toForgeRepository } from './find-queue.ts';
import { loadQueues } from './list-queues.ts';
import { findPullRequest, findTargets } from './pull-request-facts.ts';

/** Changes at the forge are noticed within this time, plus the time of one look. */
const INTERVAL_MS = 1_500;
/** A target that moves makes every entry of its queue be looked at; so many at a time leave room for requests. */
const AT_ONCE = 32;

/**
 * Asks the forges what has changed about the pull requests in the queues, and feeds it to the engine. Whatever tells us
 * sooner is welcome; this is what makes sure.
 */
export class Reconciler {
  readonly #app: App;
  #timer: NodeJS.Timeout | undefined;
  #current: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** The target's head at the last look: when it moves, every mergeability must be looked at again. */
  readonly #targetHeads = new Map<string, Sha | undefined>();

  constructor(app: App) {
    this.#app = app;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#current = this.#lookAndGoOn();
    }, INTERVAL_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#current;
  }

  async #lookAndGoOn(): Promise<void> {
    try {
      await this.reconcile();
    } catch (error) {
      // The next look asks for everything again: nothing is lost but time.
      this.#app.log.warn({ err: error }, 'could not look for changes');
    }
    if (!this.#isStopped) this.start();
  }

  async reconcile(): Promise<void> {
    const repositories = await this.#app.store.repositories.listAll();
    for (const found of await loadQueues(this.#app, repositories)) {
      if (this.#isStopped) return;
      if (found.queue.entries.size > 0) await this.#reconcileQueue(found);
    }
  }

  async #reconcileQueue(found: FoundQueue): Promise<void> {
    const repository = toForgeRepository(found.repository);
    try {
      const forge = getForge(this.#app, found.repository.host);
      const heads = await forge.listPullRequestHeads(repository);
      const targetHead = await forge.findBranchHead(repository, found.queue.branch);
      const didTargetMove = this.#targetHeads.get(found.id) !== targetHead;
      const entries = [...valuesOf(found.queue.entries)];
      const changed = entries.filter((entry) => didTargetMove || mayHaveChanged(entry, heads));
      for (let first = 0; first < changed.length && !this.#isStopped; first += AT_ONCE) {
        await Promise.all(changed.slice(first, first + AT_ONCE).map((entry) => this.#observe(found, entry)));
      }
      this.#targetHeads.set(found.id, targetHead);
    } catch (error) {
      // One repository that does not answer must not keep the others waiting.
      this.#app.log.warn({ err: error, repository: repository.id }, 'could not look at a repository');
    }
  }

  async #observe(found: FoundQueue, entry: Entry): Promise<void> {
    const { prNumber } = entry;
    const pr = await findPullRequest(this.#app, found, prNumber);
    if (pr !== undefined && isSame(entry.pr, pr)) return;
    const targets =
      pr === undefined ? undefined : await findTargets(this.#app, found.id, { prNumber, sha: pr.headSha });
    await this.#app.runner.run(found.id, (queue) => {
      // Somebody told the queue something newer while we looked: the next look compares with that.
      if (findEntry(queue, prNumber)?.pr !== entry.pr) return undefined;
      return { kind: 'pull_request_observed', at: this.#app.clock.now(), prNumber, pr, targets };
    });
  }
}

/** A forge that is still computing whether an entry can be merged must be asked again. */
function mayHaveChanged(entry: Entry, heads: ReadonlyMap<PrNumber, Sha>): boolean {
  return heads.get(entry.prNumber) !== entry.pr.headSha || entry.pr.mergeability === 'IN_PROGRESS';
}

function isSame(a: Entry['pr'], b: Entry['pr']): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
