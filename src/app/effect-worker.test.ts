import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storeQueue, storeRepository } from '../../test/contract/store-world.ts';
import { FakeForge } from '../../test/fake/fake-forge.ts';
import { FakeRepository } from '../../test/fake/fake-repository.ts';
import { aPullRequest } from '../../test/helpers/a-pull-request.ts';
import type { CandidateNumber } from '../engine/candidate.ts';
import type { QueueEvent } from '../engine/event.ts';
import type { PrNumber } from '../engine/pull-request.ts';
import { createQueue, type EntryId, findCandidate } from '../engine/queue.ts';
import { DEFAULT_SETTINGS } from '../engine/settings.ts';
import type { BuildRequest } from '../forge/forge.ts';
import { createMemoryStore } from '../storage/memory/create-memory-store.ts';
import type { QueueCommit, QueueId } from '../storage/queues.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import type { App } from './app.ts';
import type { Authenticator } from './authenticate.ts';
import { Directory } from './directory.ts';
import { EffectWorker } from './effect-worker.ts';
import { encodeQueue } from './queue-codec.ts';
import { QueueRunner } from './queue-runner.ts';

const NOON = Date.UTC(2026, 8, 17, 12);
const FIRST = 1 as CandidateNumber;
const HOST = 'forge.test';

/** Time passes when the test says so; what is due at once happens at once. */
class ManualClock {
  #now = NOON;
  #timers: { readonly at: number; readonly act: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, act: () => void): () => void {
    if (ms <= 0) {
      const turn = setImmediate(act);
      return () => clearImmediate(turn);
    }
    const timer = { at: this.#now + ms, act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.act();
      await settle();
    }
    this.#now = until;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The fake forge; its builds can be made to wait, or to fail by a bug. */
class SlowForge extends FakeForge {
  builds = 0;
  gate: Promise<void> | undefined;
  bug: Error | undefined;

  override async buildCandidate(request: BuildRequest) {
    this.builds += 1;
    await this.gate;
    if (this.bug !== undefined) throw this.bug;
    return super.buildCandidate(request);
  }
}

/** A server with a worker that has not started, on queues whose target is known. */
class World {
  readonly clock = new ManualClock();
  readonly repository = new FakeRepository(() => this.clock.now());
  readonly forge = new SlowForge(this.repository);
  readonly store = createMemoryStore();
  /** Commits are stored, and their answers are under way for as long as this. */
  answers: Promise<void> | undefined;
  repositoryId = '' as RepositoryId;
  queueId = '' as QueueId;
  readonly app: App;
  readonly worker: EffectWorker;

  constructor() {
    this.forge.protection = ['ci'];
    const commit = async (each: QueueCommit) => {
      const answer = await this.store.queues.commit(each);
      await this.answers;
      return answer;
    };
    const store = { ...this.store, queues: { ...this.store.queues, commit } };
    const ignore = () => undefined;
    this.app = {
      store,
      runner: new QueueRunner(store, this.clock),
      directory: new Directory(store),
      forges: new Map([[HOST, this.forge]]),
      clock: this.clock,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      backupFolder: '',
      auth: undefined as unknown as Authenticator,
    };
    this.worker = new EffectWorker(this.app, 'this one');
  }

  static async create(): Promise<World> {
    const world = new World();
    world.repository.commit('main', { files: { readme: 'hello' } });
    world.repositoryId = (await storeRepository(world.store, { host: HOST, checks: [] })).id;
    world.queueId = await world.addQueue('main');
    return world;
  }

  async addQueue(branch: string): Promise<QueueId> {
    const body = encodeQueue(createQueue(branch, DEFAULT_SETTINGS, 'RUNNING'));
    const { id } = await storeQueue(this.store, { repositoryId: this.repositoryId, branch, body });
    const head = this.repository.getHead('main');
    const observed = { kind: 'target_observed', at: NOON, head, since: 0, isDescendant: true } as const;
    await this.app.runner.run(id, () => observed);
    return id;
  }

  async submit(queueId = this.queueId, baseBranch = 'main'): Promise<PrNumber> {
    const { number, headSha } = this.repository.openPullRequest({ base: 'main', files: { [`f${Math.random()}`]: '' } });
    const event: QueueEvent = {
      kind: 'pull_request_submitted',
      at: this.clock.now(),
      actor: 'ada',
      entryId: `entry-${number}` as EntryId,
      pr: aPullRequest(number, { headSha, baseBranch }),
      targets: undefined,
      priority: undefined,
      noBatch: undefined,
    };
    await this.app.runner.run(queueId, () => event);
    return number;
  }

  async stateOf(candidate: CandidateNumber): Promise<string | undefined> {
    const found = await this.app.runner.find(this.queueId);
    return found && findCandidate(found.queue, candidate)?.state;
  }

  async effects() {
    return this.store.queues.listEffects(this.queueId);
  }
}

describe('EffectWorker', () => {
  it('carries out what is asked for, and ends it together with its answer [D1]', async () => {
    const world = await World.create();
    world.worker.start();
    await world.submit();
    await world.clock.pass(10);
    assert.equal(await world.stateOf(FIRST), 'testing');
    assert.deepEqual(await world.effects(), []);
    await world.clock.pass(180_000);
    assert.equal(world.forge.builds, 1);
    await world.worker.stop();
  });

  it('waits for a commit that is stored and not shown yet, without counting that as a failure [D1] [D2]', async () => {
    const world = await World.create();
    world.worker.start();
    await world.clock.pass(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.answers = promise;
    const submitted = world.submit();
    await settle();
    world.worker.wake();
    await world.clock.pass(4);
    assert.deepEqual(
      (await world.effects()).map(({ kind, attempts, dueAt }) => ({ kind, attempts, dueAt })),
      [{ kind: 'build_candidate', attempts: 0, dueAt: NOON + 6 }],
    );
    assert.equal(world.forge.builds, 0);
    world.answers = undefined;
    resolve();
    await submitted;
    await world.clock.pass(10);
    assert.equal(await world.stateOf(FIRST), 'testing');
    await world.worker.stop();
  });

  it('comes back to what has to wait, without counting that as a failure [C1]', async () => {
    const world = await World.create();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.forge.gate = promise;
    world.worker.start();
    await world.submit();
    await world.submit();
    await world.clock.pass(1);
    assert.deepEqual(
      (await world.effects()).map(({ attempts }) => attempts),
      [0, 0],
    );
    resolve();
    await world.clock.pass(100);
    assert.equal(await world.stateOf(2 as CandidateNumber), 'testing');
    await world.worker.stop();
  });

  it('ends an effect whose answer comes too late to be stored [I4]', async () => {
    const world = await World.create();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.forge.gate = promise;
    world.worker.start();
    const prNumber = await world.submit();
    await world.clock.pass(1);
    await world.app.runner.run(world.queueId, () => ({
      kind: 'pull_request_cancelled',
      at: NOON,
      actor: 'ada',
      prNumber,
    }));
    resolve();
    await world.clock.pass(1);
    assert.deepEqual(await world.effects(), []);
    assert.equal(world.forge.builds, 1);
    await world.worker.stop();
  });

  it('tries on what the forge does not answer, later each time, and never gives up [D1]', async () => {
    const world = await World.create();
    world.forge.isBroken = true;
    world.worker.start();
    await world.submit();
    await world.clock.pass(1);
    const [first] = await world.effects();
    assert.equal(first?.attempts, 1);
    assert.match(first?.lastError ?? '', /The forge is down/);
    assert.ok(first !== undefined && first.dueAt >= NOON + 250 && first.dueAt <= NOON + 500, `${first?.dueAt}`);
    await world.clock.pass(600_000);
    const [later] = await world.effects();
    assert.ok(later !== undefined && later.attempts > 8 && later.parkedAt === null);
    assert.ok(world.forge.builds < 40, 'it does not hammer');
    world.forge.isBroken = false;
    await world.clock.pass(60_000);
    assert.equal(await world.stateOf(FIRST), 'testing');
    await world.worker.stop();
  });

  it('shows what fails by a bug and leaves it alone after five attempts [I1]', async () => {
    const world = await World.create();
    world.forge.bug = new TypeError('x is not a function\0');
    world.worker.start();
    await world.submit();
    await world.clock.pass(600_000);
    const [effect] = await world.effects();
    assert.equal(effect?.lastError, 'x is not a function');
    assert.notEqual(effect?.parkedAt, null);
    assert.equal(world.forge.builds, 5);
    await world.worker.stop();
  });

  it('goes on at once with what a server that died was doing, where it is the only one [D4]', async () => {
    const world = await World.create();
    await world.submit();
    await world.store.queues.claimEffects({ holder: 'dead', now: NOON, leaseUntil: NOON + 60_000, limit: 9 });
    world.worker.start();
    await world.clock.pass(1);
    assert.equal(world.forge.builds, 1);
    await world.worker.stop();
  });

  it('finds what nobody told it of within seconds', async () => {
    const world = await World.create();
    world.worker.start();
    await world.clock.pass(1);
    const other = new QueueRunner(world.store, world.clock);
    const found = await other.find(world.queueId);
    assert.ok(found);
    await world.app.store.queues.endLeases();
    const { id } = await storeQueue(world.store, {
      repositoryId: world.repositoryId,
      branch: 'next',
      body: encodeQueue({ ...found.queue, branch: 'next' }),
    });
    const { number, headSha } = world.repository.openPullRequest({ base: 'main', files: { z: '' } });
    await other.run(id, () => ({
      kind: 'pull_request_submitted',
      at: NOON,
      actor: 'ada',
      entryId: 'entry-z' as EntryId,
      pr: aPullRequest(number, { headSha, baseBranch: 'next' }),
      targets: undefined,
      priority: undefined,
      noBatch: undefined,
    }));
    await world.clock.pass(4_000);
    assert.equal(world.forge.builds, 0);
    await world.clock.pass(2_000);
    assert.equal(world.forge.builds, 1);
    await world.worker.stop();
  });

  it('has eight under way at once and no more, and waits for them when it stops [H10]', async () => {
    const world = await World.create();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.forge.gate = promise;
    world.worker.start();
    for (let index = 0; index < 12; index += 1) {
      const branch = `branch-${index}`;
      await world.submit(await world.addQueue(branch), branch);
    }
    await world.clock.pass(20_000);
    assert.equal(world.forge.builds, 8);
    let isStopped = false;
    const stopping = world.worker.stop().then(() => {
      isStopped = true;
    });
    await settle();
    assert.equal(isStopped, false);
    resolve();
    await stopping;
    await world.clock.pass(20_000);
    assert.equal(world.forge.builds, 8);
  });
});
