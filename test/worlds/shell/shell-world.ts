import assert from 'node:assert/strict';
import type { App } from '../../../src/app/core/app.ts';
import { toForgeRepository } from '../../../src/app/core/find-queue.ts';
import { encodeQueue } from '../../../src/app/core/queue-codec.ts';
import type { QueueEvent } from '../../../src/engine/model/event.ts';
import type { PrNumber, PullRequestFacts } from '../../../src/engine/model/pull-request.ts';
import { createQueue, type EntryId, type Queue } from '../../../src/engine/model/queue.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import type { Timing } from '../../../src/lib/clock.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import type { QueueId } from '../../../src/storage/queues.ts';
import type { Repository, RepositoryId } from '../../../src/storage/repositories.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { FakeForge } from '../../fake/fake-forge.ts';
import { FakeRepository } from '../../fake/fake-repository.ts';
import { storeQueue, storeRepository } from '../../helpers/store-rows.ts';
import { FAILING_ONCE } from '../failing-once.ts';
import { createTestApp } from './create-app.ts';

const HOST = 'forge.test';
type Files = Readonly<Record<string, string>>;

/** A server with one queue on a fake forge. Which clock, store and forge it has is up to the world that extends it. */
export abstract class ShellWorld {
  abstract readonly clock: Timing;
  abstract readonly store: Store;
  abstract readonly forge: FakeForge;
  abstract readonly app: App;
  readonly repository = new FakeRepository(() => this.clock.now());
  repositoryId = '' as RepositoryId;
  queueId = '' as QueueId;

  /** Another server on the same store. */
  createServer(parts: Partial<App> = {}): App {
    const { store, clock } = this;
    return createTestApp({ store, clock, forges: new Map([[HOST, this.forge]]), ...parts });
  }

  /** Stores the repository and a queue for `main`, whose head is known. */
  protected async begin(settings: Partial<QueueSettings>, values: Partial<Repository> = {}): Promise<this> {
    this.repository.commit('main', { files: { readme: 'hello' } });
    this.repositoryId = (await storeRepository(this.store, { host: HOST, checks: [], ...values })).id;
    this.queueId = await this.addQueue('main', settings);
    return this;
  }

  async addQueue(branch: string, settings: Partial<QueueSettings> = {}): Promise<QueueId> {
    const { repositoryId } = this;
    const body = encodeQueue(createQueue(branch, { ...FAILING_ONCE, ...settings }, 'RUNNING'));
    const { id } = await storeQueue(this.store, { repositoryId, branch, body });
    await this.observe(this.head, id);
    return id;
  }

  get head(): Sha {
    return this.repository.getHead('main');
  }

  async queue(queueId = this.queueId): Promise<Queue> {
    const found = await this.app.queues.find(queueId);
    assert.ok(found);
    return found.queue;
  }

  async effects(queueId = this.queueId) {
    return this.store.effects.list(queueId);
  }

  async tell(event: QueueEvent, queueId = this.queueId): Promise<void> {
    const result = await this.app.queues.run(queueId, () => event);
    assert.notEqual(result?.outcome.kind, 'refused');
  }

  async observe(head: Sha | undefined, queueId = this.queueId): Promise<void> {
    const { heads: since } = await this.queue(queueId);
    await this.tell({ kind: 'target_observed', at: this.clock.now(), head, since, isDescendant: true }, queueId);
  }

  async setState(state: 'RUNNING' | 'PAUSED'): Promise<void> {
    await this.tell({ kind: 'queue_updated', at: this.clock.now(), actor: 'ada', settings: {}, state });
  }

  async cancel(prNumber: PrNumber): Promise<void> {
    await this.tell({ kind: 'pull_request_cancelled', at: this.clock.now(), actor: 'ada', prNumber });
  }

  /** Opens a pull request that impacts the files it changes, and submits it. */
  async submitFiles(files: Files, facts: Partial<PullRequestFacts> = {}, message = 'A change'): Promise<PrNumber> {
    const { number } = this.repository.openPullRequest({ base: 'main', files, message });
    await this.enter(number, Object.keys(files), facts);
    return number;
  }

  async enter(number: PrNumber, names: readonly string[], facts: Partial<PullRequestFacts> = {}): Promise<void> {
    const row = await this.app.directory.findRepositoryById(this.repositoryId);
    const repository = toForgeRepository(row as Repository);
    const pr = await this.forge.findPullRequest({ repository, number, targetBranch: 'main' });
    assert.ok(pr);
    const targets = { kind: 'list', digest: names.join(), count: names.length, targets: names } as const;
    await this.submitFacts({ ...pr, ...facts }, { targets });
  }

  async submitFacts(
    pr: PullRequestFacts,
    more: Partial<Extract<QueueEvent, { kind: 'pull_request_submitted' }>> = {},
    queueId = this.queueId,
  ): Promise<void> {
    const event = {
      kind: 'pull_request_submitted',
      at: this.clock.now(),
      actor: 'ada',
      entryId: `entry-${pr.number}` as EntryId,
      pr,
      targets: undefined,
      priority: undefined,
      noBatch: undefined,
      ...more,
    } as const;
    await this.tell(event, queueId);
  }
}
