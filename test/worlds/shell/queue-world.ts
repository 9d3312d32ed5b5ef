import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Authenticator } from '../../../src/app/access/authenticate.ts';
import type { App } from '../../../src/app/core/app.ts';
import { Directory } from '../../../src/app/core/directory.ts';
import { Outages } from '../../../src/app/core/outages.ts';
import { encodeQueue } from '../../../src/app/core/queue-codec.ts';
import { QueueHost } from '../../../src/app/core/queue-host.ts';
import { WakeSignal } from '../../../src/app/core/wake-signal.ts';
import { EffectWorker } from '../../../src/app/effects/effect-worker.ts';
import type { QueueEvent } from '../../../src/engine/event.ts';
import type { PrNumber, PullRequestFacts } from '../../../src/engine/pull-request.ts';
import { createQueue, type EntryId, type Queue } from '../../../src/engine/queue.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../../src/engine/settings.ts';
import { type Instant, systemClock } from '../../../src/lib/clock.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import type { AlarmRow } from '../../../src/storage/alarms.ts';
import type { QueueId } from '../../../src/storage/queues.ts';
import type { RepositoryId } from '../../../src/storage/repositories.ts';
import { createMemoryStore } from '../../../src/storage/sqlite/create-memory-store.ts';
import { storeQueue, storeRepository } from '../../helpers/store-rows.ts';
import { FakeForge, type FakeForgeOptions } from '../../fake/fake-forge.ts';
import { FakeRepository } from '../../fake/fake-repository.ts';
import { noIngest } from '../../fake/no-ingest.ts';
import { noJobs } from '../../fake/no-jobs.ts';

const DEADLINE_MS = 10_000;
const HOST = 'forge.test';

export interface QueueWorldOptions {
  readonly settings?: Partial<QueueSettings>;
  readonly forge?: FakeForgeOptions;
  readonly createForge?: (repository: FakeRepository) => FakeForge;
}

/** A server with one queue on a repository in memory. Nothing is required, so that entries land by themselves. */
export class QueueWorld {
  /** Added to the real time. */
  laterMs = 0;
  readonly store = { ...createMemoryStore(), isShared: true };
  readonly repository = new FakeRepository(() => this.#clock.now());
  readonly forge: FakeForge;
  readonly errors: string[] = [];
  readonly app: App;
  readonly worker: EffectWorker;
  queueId = '' as QueueId;
  #repositoryId = '' as RepositoryId;
  #lastNow = 0;
  readonly #clock = { now: () => this.#now(), after: systemClock.after };

  /** Every call returns another instant, so that the order of events is known. */
  #now(): Instant {
    this.#lastNow = Math.max(this.#lastNow + 1, Date.now() + this.laterMs);
    return this.#lastNow;
  }

  private constructor({ forge, createForge }: QueueWorldOptions) {
    this.forge = createForge?.(this.repository) ?? new FakeForge(this.repository, forge);
    this.app = this.createServer();
    this.worker = new EffectWorker(this.app, 'first');
  }

  static async create(options: QueueWorldOptions = {}): Promise<QueueWorld> {
    const world = new QueueWorld(options);
    world.repository.commit('main', { files: { readme: 'hello' } });
    const { id: repositoryId } = await storeRepository(world.store, { host: HOST, checks: [] });
    world.#repositoryId = repositoryId;
    world.queueId = await world.addQueue('main', options.settings);
    await world.observe(world.head);
    world.worker.start();
    return world;
  }

  async addQueue(branch: string, settings: Partial<QueueSettings> = {}): Promise<QueueId> {
    const body = encodeQueue(
      createQueue(branch, { ...DEFAULT_SETTINGS, requiredStatuses: [], ...settings }, 'RUNNING'),
    );
    return (await storeQueue(this.store, { repositoryId: this.#repositoryId, branch, body })).id;
  }

  /** Another server on the same store. */
  createServer(): App {
    const forges = new Map([[HOST, this.forge]]);
    const ignore = () => undefined;
    return {
      store: this.store,
      queues: new QueueHost(this.store, this.#clock),
      directory: new Directory(this.store, forges),
      forges,
      clock: this.#clock,
      outages: new Outages(),
      hints: new WakeSignal(),
      log: { debug: ignore, info: ignore, warn: ignore, error: (_facts, text) => this.errors.push(text) },
      ingest: noIngest,
      checkRunner: noJobs,
      backupFolder: '',
      auth: undefined as unknown as Authenticator,
    };
  }

  get head(): Sha {
    return this.repository.getHead('main');
  }

  async queue(): Promise<Queue> {
    const found = await this.app.queues.find(this.queueId);
    assert.ok(found);
    return found.queue;
  }

  async tell(event: QueueEvent): Promise<void> {
    await this.app.queues.run(this.queueId, () => event);
  }

  async observe(head: Sha | undefined): Promise<void> {
    const { heads } = await this.queue();
    await this.tell({ kind: 'target_observed', at: this.#clock.now(), head, since: heads, isDescendant: true });
  }

  async setState(state: 'RUNNING' | 'PAUSED'): Promise<void> {
    await this.tell({ kind: 'queue_updated', at: this.#clock.now(), actor: 'ada', settings: {}, state });
  }

  async submit(files: Readonly<Record<string, string>>, facts: Partial<PullRequestFacts> = {}): Promise<PrNumber> {
    const { number } = this.repository.openPullRequest({ base: 'main', files, message: 'A change' });
    await this.enter(number, Object.keys(files), facts);
    return number;
  }

  async enter(number: PrNumber, names: readonly string[], facts: Partial<PullRequestFacts> = {}): Promise<void> {
    const repository = { id: 'app', host: HOST, owner: 'acme', name: 'app', git: undefined, checks: [] };
    const pr = await this.forge.findPullRequest({ repository, number, targetBranch: 'main' });
    assert.ok(pr);
    await this.tell({
      kind: 'pull_request_submitted',
      at: this.#clock.now(),
      actor: 'ada',
      entryId: `entry-${number}` as EntryId,
      pr: { ...pr, ...facts },
      targets: { kind: 'list', digest: names.join(), count: names.length, targets: names },
      priority: undefined,
      noBatch: undefined,
    });
  }

  async cancel(prNumber: PrNumber): Promise<void> {
    await this.tell({ kind: 'pull_request_cancelled', at: this.#clock.now(), actor: 'ada', prNumber });
  }

  /** Submits a pull request and waits until it landed. */
  async land(files: Readonly<Record<string, string>>): Promise<PrNumber> {
    const number = await this.submit(files);
    await this.untilQuiet();
    assert.equal((await this.store.queues.findEntry(this.queueId, number))?.state, 'MERGED');
    return number;
  }

  /** Waits until all effects have run. */
  async untilQuiet(): Promise<void> {
    const until = Date.now() + DEADLINE_MS;
    while ((await this.store.queues.listEffects(this.queueId)).length > 0) {
      assert.ok(Date.now() < until, 'effects are still waiting');
      await pause(5);
    }
  }

  /** Alarms oldest first, after all effects have run. */
  async alarms(): Promise<readonly AlarmRow[]> {
    await this.untilQuiet();
    return (await this.store.alarms.list([this.queueId], 0, 100)).toReversed();
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}
