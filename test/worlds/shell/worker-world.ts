import type { Authenticator } from '../../../src/app/access/authenticate.ts';
import type { App } from '../../../src/app/core/app.ts';
import { Directory } from '../../../src/app/core/directory.ts';
import { Outages } from '../../../src/app/core/outages.ts';
import { encodeQueue } from '../../../src/app/core/queue-codec.ts';
import { QueueHost } from '../../../src/app/core/queue-host.ts';
import { WakeSignal } from '../../../src/app/core/wake-signal.ts';
import { EffectWorker } from '../../../src/app/effects/effect-worker.ts';
import type { CandidateNumber } from '../../../src/engine/candidate.ts';
import type { QueueEvent } from '../../../src/engine/event.ts';
import type { PrNumber } from '../../../src/engine/pull-request.ts';
import { createQueue, type EntryId, findCandidate } from '../../../src/engine/queue.ts';
import { DEFAULT_SETTINGS } from '../../../src/engine/settings.ts';
import type { BuildRequest } from '../../../src/forge/forge.ts';
import type { QueueCommit, QueueId } from '../../../src/storage/queues.ts';
import type { RepositoryId, RunnerCheck } from '../../../src/storage/repositories.ts';
import { createMemoryStore } from '../../../src/storage/sqlite/create-memory-store.ts';
import { storeQueue, storeRepository } from '../../helpers/store-rows.ts';
import { FakeForge } from '../../fake/fake-forge.ts';
import { FakeJobs } from '../../fake/fake-jobs.ts';
import { FakeRepository } from '../../fake/fake-repository.ts';
import { noIngest } from '../../fake/no-ingest.ts';
import { aPullRequest } from '../../helpers/a-pull-request.ts';

export const NOON = Date.UTC(2026, 8, 17, 12);
export const FIRST = 1 as CandidateNumber;
const HOST = 'forge.test';

/** A clock that the test moves. Timers that are due at once fire at once. */
export class ManualClock {
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

  /** Timers keep their remaining time. */
  setBack(ms: number): void {
    this.#now -= ms;
    this.#timers = this.#timers.map(({ at, act }) => ({ at: at - ms, act }));
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

export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A fake forge whose builds can wait, or fail by a bug. */
export class SlowForge extends FakeForge {
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

/** A server with a worker that is not started, on queues with a known head. */
export class World {
  readonly clock = new ManualClock();
  readonly repository = new FakeRepository(() => this.clock.now());
  readonly forge = new SlowForge(this.repository);
  readonly store = createMemoryStore();
  readonly jobs = new FakeJobs();
  /** Commits are stored, but their answers wait for this. */
  answers: Promise<void> | undefined;
  readonly resultListeners = new Set<Parameters<App['ingest']['onCheckResults']>[0]>();
  ingestWakes = 0;
  repositoryId = '' as RepositoryId;
  queueId = '' as QueueId;
  readonly app: App;
  readonly worker: EffectWorker;

  constructor() {
    const commit = async (each: QueueCommit) => {
      const answer = await this.store.queues.commit(each);
      await this.answers;
      return answer;
    };
    const store = { ...this.store, queues: { ...this.store.queues, commit } };
    const forges = new Map([[HOST, this.forge]]);
    const ignore = () => undefined;
    this.app = {
      store,
      queues: new QueueHost(store, this.clock),
      directory: new Directory(store, forges),
      forges,
      clock: this.clock,
      outages: new Outages(),
      hints: new WakeSignal(),
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      ingest: {
        ...noIngest,
        wake: () => {
          this.ingestWakes += 1;
        },
        onCheckResults: (listener) => {
          this.resultListeners.add(listener);
          return () => this.resultListeners.delete(listener);
        },
      },
      checkRunner: this.jobs,
      backupFolder: '',
      auth: undefined as unknown as Authenticator,
    };
    this.worker = new EffectWorker(this.app, 'this one');
  }

  static async create(checks: readonly RunnerCheck[] = [], junit: readonly string[] = []): Promise<World> {
    const world = new World();
    if (checks.length === 0) world.forge.protection = ['ci'];
    world.repository.commit('main', { files: { readme: 'hello' } });
    world.repositoryId = (await storeRepository(world.store, { host: HOST, checks, junit })).id;
    world.queueId = await world.addQueue('main');
    return world;
  }

  async addQueue(branch: string): Promise<QueueId> {
    const body = encodeQueue(createQueue(branch, DEFAULT_SETTINGS, 'RUNNING'));
    const { id } = await storeQueue(this.store, { repositoryId: this.repositoryId, branch, body });
    const head = this.repository.getHead('main');
    const observed = { kind: 'target_observed', at: NOON, head, since: 0, isDescendant: true } as const;
    await this.app.queues.run(id, () => observed);
    return id;
  }

  async submit(queueId = this.queueId, baseBranch = 'main', base = 'main'): Promise<PrNumber> {
    const { number, headSha } = this.repository.openPullRequest({ base, files: { [`f${Math.random()}`]: '' } });
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
    await this.app.queues.run(queueId, () => event);
    return number;
  }

  async stateOf(candidate: CandidateNumber): Promise<string | undefined> {
    const found = await this.app.queues.find(this.queueId);
    return found && findCandidate(found.queue, candidate)?.state;
  }

  async effects() {
    return this.store.queues.listEffects(this.queueId);
  }
}
