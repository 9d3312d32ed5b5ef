import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPullRequest } from '../../../test/helpers/a-pull-request.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aTest } from '../../../test/helpers/store-rows.ts';
import { settle } from '../../../test/worlds/shell/manual-clock.ts';
import { WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { EntryId } from '../../engine/model/queue.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import { newTestState } from '../../flaky/core/state.ts';
import type { Sha } from '../../lib/sha.ts';
import type { TestEventRow, TestRow } from '../../storage/tests.ts';
import type { Caller } from '../core/caller.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { isRefusal } from '../core/refusal.ts';
import { costOfFlakes } from './cost-of-flakes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A queue whose runs fail in tests of which the statuses are told. */
class FlakyQueue {
  readonly world: WorkerWorld;
  readonly begunAt: number;
  #candidates = 0;

  constructor(world: WorkerWorld) {
    this.world = world;
    this.begunAt = world.clock.now();
  }

  static async create(mode: QueueSettings['honorQuarantine'] = 'OFF'): Promise<FlakyQueue> {
    const world = await WorkerWorld.create();
    const { app, clock, queueId } = world;
    const event = {
      kind: 'queue_updated',
      actor: 'ada',
      settings: { honorQuarantine: mode },
      state: undefined,
    } as const;
    await app.queues.run(queueId, () => ({ ...event, at: clock.now() }));
    world.worker.start();
    return new FlakyQueue(world);
  }

  /** A person called it flaky long ago, and it is quarantined since then. */
  async quarantine(id: string): Promise<void> {
    const override = { actor: 'ada', at: 0, reason: 'It is known.', expiresAt: null };
    const decided = { quarantineOverride: 'ALWAYS_QUARANTINE', override, quarantinedAt: 0, statusAt: 0 } as const;
    await this.commit([{ id, status: 'FLAKY', ...decided }], [], { status: 'FLAKY' });
  }

  async commit(
    tests: readonly Partial<TestRow>[],
    events: readonly TestEventRow[] = [],
    state: object = {},
  ): Promise<void> {
    const { store, repositoryId, clock } = this.world;
    const { seq, nextTestNo } = await store.testIngest.load(repositoryId, []);
    const rows = tests.map((row, index) => aTest(repositoryId, { no: nextTestNo + index, ...row }));
    const memories = rows.map(({ no }) => {
      return {
        testNo: no,
        seq,
        state: JSON.stringify({ ...newTestState(0), ...state }),
        nextCheckAt: null,
        settingsVersion: 0,
        lastRunAt: 0,
      };
    });
    const change = { repositoryId, expectedSeq: seq, tests: rows, memories, failures: [], events };
    assert.ok(await store.testIngest.commit(change, clock.now()));
  }

  /** A new pull request. Its run takes this long and then ends, with failures in these tests. */
  async run(minutes: number, failing: readonly string[], conclusion: 'FAILURE' | 'SUCCESS' = 'FAILURE') {
    const { world } = this;
    const pull = world.repository.openPullRequest({ base: 'main', files: { [`f${this.#candidates}`]: '' } });
    await this.submit(pull);
    this.#candidates += 1;
    const candidate = this.#candidates as CandidateNumber;
    await world.clock.pass(minutes * MINUTE);
    await this.#storeResults(candidate, failing);
    const nothing = { startedAt: undefined, url: undefined, summary: undefined };
    const check = { name: 'ci', status: 'COMPLETED', conclusion, ...nothing } as const;
    const { app, queueId, clock } = world;
    await app.queues.run(queueId, () => ({ kind: 'check_reported', at: clock.now(), candidate, check }));
    await settle();
    await clock.pass(1_000);
    return pull;
  }

  async submit({ number, headSha }: { readonly number: PrNumber; readonly headSha: Sha }): Promise<void> {
    const { app, queueId, clock } = this.world;
    const nothing = { targets: undefined, priority: undefined, noBatch: undefined };
    const entryId = `entry-${number}` as EntryId;
    const pr = aPullRequest(number, { headSha });
    const event = { kind: 'pull_request_submitted', actor: 'ada', entryId, pr, ...nothing } as const;
    await app.queues.run(queueId, () => ({ ...event, at: clock.now() }));
    await clock.pass(10);
  }

  async #storeResults(candidate: CandidateNumber, failing: readonly string[]): Promise<void> {
    const { store, repositoryId, queueId, clock } = this.world;
    const { seq, known } = await store.testIngest.load(repositoryId, failing);
    const checkResults = {
      candidateId: candidateIdOf(queueId, candidate),
      check: 'ci',
      isWhole: true,
      problem: null,
      uploadIds: [`upload of ${candidate}`],
      testNos: [1, 2],
      failing: known.map(({ test }) => ({ testNo: test.no, testId: test.id })),
      at: clock.now(),
    };
    const nothing = { tests: [], memories: [], failures: [], events: [] };
    await store.testIngest.commit({ repositoryId, expectedSeq: seq, ...nothing, checkResults }, clock.now());
  }

  async read(from = this.begunAt, until = this.world.clock.now() + 1) {
    const { app, store, repositoryId } = this.world;
    const repository = (await store.repositories.listAll()).find(({ id }) => id === repositoryId);
    assert.ok(repository);
    const organization = await store.accounts.findOrganizationById(repository.organizationId);
    assert.ok(organization);
    const caller = { organization, name: 'ada', repositoryIds: null, scopes: ['read'] } as unknown as Caller;
    const { host, owner, name } = repository;
    const scope = { repo: { host, owner, name }, org_url_slug: organization.slug };
    const answer = await costOfFlakes(
      app,
      caller,
      { ...scope, start_time: from, end_time: until },
      { baseUrl: 'https://sluice.test' },
    );
    assert.ok(!isRefusal(answer), JSON.stringify(answer));
    return answer;
  }

  end(): Promise<void> {
    return this.world.worker.stop();
  }
}

const A = '11111111-1111-4111-8111-111111111111';
const B = '22222222-2222-4222-8222-222222222222';
const minutesOf = (hours: number) => Math.round(hours * 60);

describe('cost of flakes', () => {
  it('counts runs that failed in flaky tests only, by test and owner [F66]', async () => {
    const queue = await FlakyQueue.create();
    await queue.commit([
      { id: A, name: 'flakes', status: 'FLAKY', codeowners: ['@web'] },
      { id: B, name: 'breaks', status: 'BROKEN', codeowners: ['@core'] },
    ]);
    await queue.run(30, [A]);
    await queue.run(20, [A, B]);
    const { total, tests, owners, advice, saved_by_honoring } = await queue.read();
    assert.deepEqual([total.test_runs, total.entries_removed, total.entries_retested], [1, 1, 0]);
    assert.deepEqual([minutesOf(total.hours_waited), Math.round(total.ci_minutes)], [30, 30]);
    assert.deepEqual(pluck(tests, 'id', 'entries_removed'), [[A, 1]]);
    assert.deepEqual(pluck(owners, 'owner'), ['@web']);
    assert.equal(saved_by_honoring.test_runs, 0);
    const text = 'Quarantining this test would have saved 30 min of waiting and 30 CI minutes: "flakes".';
    assert.deepEqual([advice?.test_ids, advice?.text], [[A], text]);
    await queue.end();
  });

  it('a removed pull request waited until it was submitted again [F66]', async () => {
    const queue = await FlakyQueue.create();
    await queue.commit([{ id: A, status: 'FLAKY' }]);
    const pull = await queue.run(30, [A]);
    await queue.world.clock.pass(2 * HOUR);
    assert.equal(minutesOf((await queue.read()).total.hours_waited), 30);
    await queue.submit(pull);
    assert.equal(minutesOf((await queue.read()).total.hours_waited), 150);
    await queue.end();
  });

  it('runs without results, and runs whose check failed in no test, tell nothing of flakes [F66]', async () => {
    const queue = await FlakyQueue.create();
    await queue.commit([{ id: A, status: 'FLAKY' }]);
    await queue.run(30, []);
    assert.equal((await queue.read()).total.test_runs, 0);
    await queue.end();
  });

  it('a test that was found to be flaky within a week was flaky, and one that was repaired since too [F66]', async () => {
    const queue = await FlakyQueue.create();
    await queue.commit([
      { id: A, status: 'HEALTHY' },
      { id: B, status: 'FLAKY' },
    ]);
    await queue.run(30, [A]);
    await queue.run(20, [B]);
    const { clock } = queue.world;
    const change = (testId: string, days: number, from: string, to: string): TestEventRow => {
      const at = clock.now() + days * 24 * HOUR;
      return { testId, at, kind: 'status_changed', actor: null, detail: JSON.stringify({ from, to }) };
    };
    assert.equal((await queue.read()).total.test_runs, 1);
    await queue.commit([], [change(A, 6, 'HEALTHY', 'FLAKY'), change(A, 9, 'FLAKY', 'HEALTHY')]);
    await queue.commit([], [change(B, 8, 'HEALTHY', 'FLAKY')]);
    const { tests } = await queue.read();
    assert.deepEqual(pluck(tests, 'id'), [A]);
    await queue.end();
  });

  it('says what honoring quarantine would have saved, from the judgements of SHADOW mode [F69]', async () => {
    const queue = await FlakyQueue.create('SHADOW');
    await queue.quarantine(A);
    await queue.run(1, [], 'SUCCESS');
    await queue.run(30, [A]);
    const { total, saved_by_honoring, advice } = await queue.read();
    assert.deepEqual([total.test_runs, total.entries_removed], [1, 1]);
    assert.deepEqual(saved_by_honoring, total);
    assert.equal(advice, undefined, 'it is quarantined already');
    await queue.end();
  });

  it('is empty without queues, failures or tests in the range', async () => {
    const queue = await FlakyQueue.create();
    await queue.commit([{ id: A, status: 'FLAKY' }]);
    await queue.run(30, [A]);
    const nothing = { test_runs: 0, entries_removed: 0, entries_retested: 0, hours_waited: 0, ci_minutes: 0 };
    const before = await queue.read(queue.begunAt - HOUR, queue.begunAt);
    assert.deepEqual(before, { total: nothing, tests: [], owners: [], saved_by_honoring: nothing });
    await queue.end();
  });
});
