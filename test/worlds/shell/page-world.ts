import assert from 'node:assert/strict';
import { Directory } from '../../../src/app/core/directory.ts';
import { candidateIdOf } from '../../../src/app/core/entry-id.ts';
import { encodeQueue } from '../../../src/app/core/queue-codec.ts';
import { QueueHost } from '../../../src/app/core/queue-host.ts';
import { createEffectWorker, type EffectWorker } from '../../../src/app/effects/effect-worker.ts';
import type { CandidateNumber } from '../../../src/engine/model/candidate.ts';
import type { CheckConclusion } from '../../../src/engine/model/check.ts';
import type { QueueEvent } from '../../../src/engine/model/event.ts';
import type { Learned } from '../../../src/engine/model/learned.ts';
import type { Priority } from '../../../src/engine/model/priority.ts';
import type { PrNumber, PullRequestFacts } from '../../../src/engine/model/pull-request.ts';
import { createQueue, type EntryId, type EntryState, type Submitter } from '../../../src/engine/model/queue.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import type { LandAnswer } from '../../../src/forge/forge.ts';
import type { Hosting } from '../../../src/forge/hosting.ts';
import { present } from '../../../src/lib/present.ts';
import type { Sha } from '../../../src/lib/sha.ts';
import type { QueueId } from '../../../src/storage/queues.ts';
import type { Repository } from '../../../src/storage/repositories.ts';
import type { TestRow } from '../../../src/storage/tests.ts';
import { PullRequestPages } from '../../fake/pull-request-pages.ts';
import { aPullRequest } from '../../helpers/a-pull-request.ts';
import { aTest, storeQueue } from '../../helpers/store-rows.ts';
import { applyResults } from '../../helpers/test-results.ts';
import { FAILING_ONCE } from '../failing-once.ts';
import { NOON } from './manual-clock.ts';
import { WorkerWorld } from './worker-world.ts';

/** A little longer than the delay of page updates. */
const UPDATED_MS = 2_500;

/** A server with a queue on a hosted forge, whose pages can be read. */
export class PageWorld {
  readonly pages = new PullRequestPages();
  readonly #world: WorkerWorld;
  readonly #others: EffectWorker[] = [];
  #endHang = () => {};
  queueId = '' as QueueId;
  #files = 0;

  private constructor(world: WorkerWorld) {
    this.#world = world;
    Object.assign(world.forge, { hosting: this.pages as unknown as Hosting });
    Object.assign(world.app, { publicUrl: 'https://sluice.test' });
  }

  static async create(settings: Partial<QueueSettings> = {}, learned: Partial<Learned> = {}): Promise<PageWorld> {
    const world = new PageWorld(await WorkerWorld.create());
    world.queueId = await world.addQueue('main', settings, '00000000-0000-8000-8000-000000000001', learned);
    world.#world.worker.start();
    return world;
  }

  get app() {
    return this.#world.app;
  }

  get forge() {
    return this.#world.forge;
  }

  get store() {
    return this.#world.store;
  }

  get now(): number {
    return this.#world.clock.now();
  }

  async repository(): Promise<Repository> {
    const repository = await this.app.directory.findRepositoryById(this.#world.repositoryId);
    assert.ok(repository);
    return repository;
  }

  /** The queue that every world has is for plain git, and is replaced here. */
  async addQueue(
    branch: string,
    settings: Partial<QueueSettings> = {},
    id?: string,
    learned: Partial<Learned> = {},
  ): Promise<QueueId> {
    const { repositoryId } = this.#world;
    const old = await this.store.queues.find(repositoryId, branch);
    if (old !== undefined) await this.store.queues.delete(old.id, old.version, { at: NOON, by: 'ada' });
    this.app.directory.forget();
    const fresh = createQueue(branch, { ...FAILING_ONCE, ...settings }, 'RUNNING', { hasPages: true });
    const body = encodeQueue({ ...fresh, learned: { ...fresh.learned, ...learned } });
    const given = id === undefined ? {} : { id: id as QueueId };
    const queue = await storeQueue(this.store, { repositoryId, branch, body, ...given });
    const head = this.#world.repository.getHead('main');
    await this.send({ kind: 'target_observed', at: NOON, head, since: 0, isDescendant: true }, queue.id);
    return queue.id;
  }

  async send(event: QueueEvent, queueId = this.queueId): Promise<void> {
    const running = this.app.queues.run(queueId, () => event);
    // Events that come together share a commit after a moment.
    await this.pass(5);
    await running;
  }

  /** Opens a pull request with a page. */
  open(facts: Partial<PullRequestFacts> = {}): PullRequestFacts {
    this.#files += 1;
    return this.openChanging({ [`file-${this.#files}`]: '' }, facts);
  }

  openChanging(files: Readonly<Record<string, string>>, facts: Partial<PullRequestFacts> = {}): PullRequestFacts {
    const { number, headSha } = this.#world.repository.openPullRequest({ base: 'main', files });
    const url = `https://forge.test/acme/app/pull/${number}`;
    return aPullRequest(number, { headSha, url, ...facts });
  }

  async submit(facts: Partial<PullRequestFacts> = {}, queueId = this.queueId): Promise<PullRequestFacts> {
    const pr = this.open(facts);
    await this.enter(pr, queueId);
    return pr;
  }

  async enter(pr: PullRequestFacts, queueId = this.queueId, priority?: Priority, submitter?: Submitter): Promise<void> {
    const entryId = `entry-${queueId}-${pr.number}` as EntryId;
    const given = {
      targets: undefined,
      priority,
      noBatch: undefined,
      by: 'person' as const,
      ...present({ submitter }),
    };
    await this.send({ kind: 'pull_request_submitted', at: this.now, actor: '@ada', entryId, pr, ...given }, queueId);
  }

  async observe(pr: PullRequestFacts, queueId = this.queueId): Promise<void> {
    const { now: at } = this;
    await this.send({ kind: 'pull_request_observed', at, prNumber: pr.number, pr, targets: undefined }, queueId);
  }

  async update(settings: Partial<QueueSettings>, state?: 'PAUSED' | 'RUNNING'): Promise<void> {
    await this.send({ kind: 'queue_updated', at: this.now, actor: 'ada', settings, state });
  }

  /** A foreign push to the target branch. */
  async pushToTarget(head: Sha): Promise<void> {
    const since = (await this.app.queues.find(this.queueId))?.queue.heads ?? 0;
    await this.send({ kind: 'target_observed', at: this.now, head, since, isDescendant: true });
  }

  refuseLandingOf(prNumber: PrNumber): void {
    const detail = 'At least 1 approving review is required by reviewers with write access.';
    const answer = { kind: 'refused', prNumber, reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET', detail } as const;
    Object.assign(this.forge, { landCandidate: async (): Promise<LandAnswer> => answer });
  }

  async cancel(prNumber: PrNumber): Promise<void> {
    await this.send({ kind: 'pull_request_cancelled', at: this.now, actor: '@bob', prNumber });
  }

  async report(candidate: number, name: string, conclusion: CheckConclusion, summary?: string): Promise<void> {
    const check = { name, status: 'COMPLETED' as const, conclusion, startedAt: undefined, summary };
    const url = `https://ci.test/${candidate}/${name}`;
    const of = { at: this.now, candidate: candidate as CandidateNumber };
    await this.send({ kind: 'check_reported', ...of, check: { ...check, url } });
  }

  /** Stores an upload for a candidate's check in which these tests failed. */
  async storeFailures(candidate: number, check: string, failed: readonly Partial<TestRow>[]): Promise<void> {
    const { repositoryId } = this.#world;
    const tests = failed.map((values, index) =>
      aTest(repositoryId, { parent: null, id: `00000000-0000-8000-8000-00000000010${index}`, ...values }),
    );
    const seq = await applyResults(this.store, { repositoryId, tests, runs: [] });
    const { known } = await this.store.testIngest.load(
      repositoryId,
      tests.map(({ id }) => id),
    );
    const failing = known.map(({ test }) => ({ testNo: test.no, testId: test.id }));
    const candidateId = candidateIdOf(this.queueId, candidate as CandidateNumber);
    const testNos = failing.map(({ testNo }) => testNo);
    const results = {
      candidateId,
      check,
      isWhole: true,
      problem: null,
      uploadIds: ['u'],
      testNos,
      failing,
      at: this.now,
    };
    const nothing = { tests: [], memories: [], failures: [], events: [] };
    await this.store.testIngest.commit({ repositoryId, expectedSeq: seq, ...nothing, checkResults: results }, this.now);
  }

  /** Waits until pages are updated. */
  async pagesUpdated(): Promise<void> {
    await this.pass(UPDATED_MS);
  }

  async pass(ms: number): Promise<void> {
    await this.#world.clock.pass(ms);
  }

  async stateOf(prNumber: PrNumber, queueId = this.queueId): Promise<EntryState | undefined> {
    return (await this.store.queueRecords.findEntry(queueId, prNumber))?.state as EntryState | undefined;
  }

  async effects(queueId = this.queueId) {
    return this.store.effects.list(queueId);
  }

  /** Makes the forge apply writes one after the other, with this delay between. */
  pace(ms: number): void {
    const { clock } = this.app;
    let nextAt = this.now;
    this.pages.turn = async () => {
      nextAt = Math.max(this.now, nextAt) + ms;
      await new Promise<void>((resolve) => clock.after(nextAt - this.now, resolve));
    };
  }

  /** This server stops renewing leases and claiming effects. */
  hang(): void {
    const { promise, resolve } = Promise.withResolvers<never[]>();
    this.#endHang = () => resolve([]);
    Object.assign(this.app.store.effects, { renewLeases: async () => [], claim: () => promise });
  }

  /** Another server on the same store, which stops with this one. */
  startAnother(): void {
    const store = { ...this.store, isShared: true };
    const directory = new Directory(store, this.app.forges);
    const own = { store, queues: new QueueHost(store, this.app.clock), directory };
    const worker = createEffectWorker({ ...this.app, ...own }, 'another');
    worker.start();
    this.#others.push(worker);
  }

  async stop(): Promise<void> {
    for (const other of this.#others) await other.stop();
    this.#endHang();
    await this.#world.worker.stop();
  }
}
