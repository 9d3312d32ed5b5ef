import assert from 'node:assert/strict';
import type { App } from '../../../src/app/core/app.ts';
import { QueueHost } from '../../../src/app/core/queue-host.ts';
import { createForgePoller } from '../../../src/app/forge-events/forge-poller.ts';
import { createHintWorker, type HintWorker } from '../../../src/app/forge-events/hint-worker.ts';
import { receiveWebhook, sendersAt } from '../../../src/app/forge-events/receive-webhook.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import { type Entry, findEntry, type Queue } from '../../../src/engine/model/queue.ts';
import { valuesOf } from '../../../src/lib/int-map.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import type { Repository } from '../../../src/storage/repositories.ts';
import type { Store } from '../../../src/storage/store.ts';
import { FakeHosting } from '../../fake/fake-hosting.ts';
import { createTestApp } from './create-app.ts';
import { WorkerWorld } from './worker-world.ts';

/** A server with a queue on a hosted forge with people, CI and webhooks. The test moves the clock. */
export class HostedWorld {
  readonly world: WorkerWorld;
  readonly hosting: FakeHosting;
  readonly #parts: { start(): void; stop(): Promise<void> }[] = [];
  #holders = 0;

  private constructor(world: WorkerWorld, hosting: FakeHosting) {
    this.world = world;
    this.hosting = hosting;
  }

  static async create(): Promise<HostedWorld> {
    const world = await WorkerWorld.create();
    const { owner, name } = (await world.app.directory.findRepositoryById(world.repositoryId)) as Repository;
    const { forge, repository, clock } = world;
    // Forges give whole seconds.
    const now = () => Math.floor(clock.now() / 1_000) * 1_000;
    const hosting = new FakeHosting({ forge, repository, now, name: { owner, name } });
    Object.assign(forge, { hosting });
    return new HostedWorld(world, hosting);
  }

  get app(): App {
    return this.world.app;
  }

  async repository(): Promise<Repository> {
    const repository = (await this.app.store.repositories.listAll()).find(({ id }) => id === this.world.repositoryId);
    assert.ok(repository);
    return repository;
  }

  /** Starts the background tasks of a server. */
  start({ polls = false, app = this.app }: { readonly polls?: boolean; readonly app?: App } = {}): HintWorker {
    this.#holders += 1;
    const hints = createHintWorker(app, `holder-${this.#holders}`);
    if (app === this.app) this.#parts.push(this.world.worker);
    this.#parts.push(hints, ...(polls ? [createForgePoller(app)] : []));
    for (const part of this.#parts.slice(polls ? -2 : -1)) part.start();
    if (app === this.app) this.world.worker.start();
    return hints;
  }

  /** Another server on the same store. */
  createServer(store: Store = { ...this.app.store, isShared: true }): App {
    const { forges, clock, log, ingest, checkRunner } = this.app;
    return createTestApp({ store, forges, clock, log, ingest, checkRunner });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.stop()));
  }

  /** Opens a pull request that is in no queue. */
  open(file = 'a'): PrNumber {
    return this.world.repository.openPullRequest({ base: 'main', files: { [file]: 'x' } }).number;
  }

  /** Opens one, and a comment asks to merge it. */
  openAndAsk(file?: string): PrNumber {
    const number = this.open(file);
    this.hosting.comment(number, 'ada', '/sluice merge');
    return number;
  }

  /** Delivers the pending webhooks. */
  async deliver(app = this.app): Promise<void> {
    for (const delivery of this.hosting.deliveries.splice(0)) {
      await receiveWebhook(app, sendersAt(app, { kind: 'github', host: undefined }), delivery);
    }
  }

  async deliverAndPass(ms: number): Promise<void> {
    await this.deliver();
    await this.world.clock.pass(ms);
  }

  /** Reads the queue from the store, whichever server wrote it. */
  async queue(): Promise<Queue> {
    const found = await new QueueHost(this.app.store, this.app.clock).find(this.world.queueId);
    assert.ok(found);
    return found.queue;
  }

  async entry(number: PrNumber): Promise<Entry | undefined> {
    return findEntry(await this.queue(), number);
  }

  /** The state of the entry, live or ended. */
  async stateOf(number: PrNumber): Promise<string | undefined> {
    return (await this.app.store.queueRecords.findEntry(this.world.queueId, number))?.state;
  }

  /** The commit under test. */
  async testedSha(): Promise<Sha> {
    const candidates = [...valuesOf((await this.queue()).candidates)];
    const sha = candidates.find(({ state }) => state === 'testing')?.commit?.sha;
    assert.ok(sha, 'nothing is under test');
    return sha;
  }
}
