import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { StoredRun } from '../../src/storage/test-ingest.ts';
import type { TestRow } from '../../src/storage/tests.ts';
import { aTest, DAY_MS, NOON, storeRepository } from '../helpers/store-rows.ts';
import { type ComparedStore, NaiveTests } from './naive-tests.ts';
import type { StoreTests } from './store-fixture.ts';
import { aChange, aMemory, aStoredFailure, facts } from './store-ingest.ts';

const anyRun = fc.record({
  test: fc.nat(60),
  ago: fc.nat(3 * DAY_MS),
  conclusion: fc.constantFrom('SUCCESS' as const, 'SUCCESS' as const, 'FAILURE' as const, 'SKIPPED' as const),
  durationMs: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true })),
  isQuarantined: fc.boolean(),
});
const anyStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      added: fc.nat(25),
      branch: fc.constantFrom('main', 'a', 'b'),
      runs: fc.array(anyRun, { maxLength: 40, size: 'max' }),
      status: fc.constantFrom('HEALTHY' as const, 'FLAKY' as const, 'BROKEN' as const),
      isQuarantined: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('count' as const), slices: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), days: fc.integer({ min: 1, max: 4 }) }) },
);
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

export function ingestModelPromises({ inStore }: StoreTests): void {
  inStore(
    'whatever is stored, counted and forgotten, the answers are those of a naive store [D12]',
    async ({ store }) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 14, size: 'max' }), async (steps) => {
          const model = new NaiveTests();
          const { id } = await storeRepository(store);
          let at = NOON;
          let since = 0;
          for (const step of steps) {
            at += DAY_MS / 3;
            const floor = step.kind === 'forget' ? Math.floor(at / DAY_MS - step.days) * DAY_MS : 0;
            since = Math.max(since, floor);
            const answers = [await take(store, id, step, { at, floor }), await take(model, id, step, { at, floor })];
            assert.deepEqual(answers[0], answers[1]);
          }
          assert.deepEqual(await readAll(store, id, { since, now: at }), await readAll(model, id, { since, now: at }));
        }),
        // Each statement travels there and back.
        { numRuns: store.isShared ? 4 : 25 },
      );
    },
  );
}

interface Moment {
  readonly at: number;
  readonly floor: number;
}

async function take(store: ComparedStore, id: RepositoryId, step: Step, { at, floor }: Moment): Promise<unknown> {
  if (step.kind === 'commit') return commit(store, id, step, at);
  if (step.kind === 'count') return count(store, id, step.slices);
  const removed = await store.testUpkeep.forget(id, floor, 1000);
  for (let more = removed; more > 0; ) more = await store.testUpkeep.forget(id, floor, 1000);
  return undefined;
}

async function commit(store: ComparedStore, id: RepositoryId, step: Extract<Step, { kind: 'commit' }>, at: number) {
  const { known, nextTestNo, seq } = await store.testIngest.loadRange(id, 0, 999);
  const prefix = id.slice(1);
  const added = Array.from({ length: step.added }, (_, index) => {
    const no = nextTestNo + index;
    return aTest(id, { no, id: `${no % 10}-${no}-${prefix}`, name: `test ${no}`, firstSeenAt: at });
  });
  const all = [...known.map(({ test: row }) => row), ...added];
  const changed = all.slice(0, 3).map((row) => ({
    ...row,
    status: step.status,
    quarantinedAt: step.isQuarantined ? at : null,
  }));
  const rowOf = (run: { readonly test: number }) => all[run.test % Math.max(all.length, 1)];
  const runs = step.runs.flatMap((run): StoredRun[] => {
    const row = rowOf(run);
    const { conclusion, durationMs, isQuarantined } = run;
    return row ? [{ testNo: row.no, startedAt: at - run.ago, conclusion, durationMs, isQuarantined }] : [];
  });
  const byNo = new Map(all.map((row) => [row.no, row]));
  const failures = runs
    .filter(({ conclusion }) => conclusion === 'FAILURE')
    .map((run, index) =>
      aStoredFailure(byNo.get(run.testNo) as TestRow, {
        ...{ startedAt: run.startedAt, isBlocking: index % 2 === 0, group: `g${index % 3}` },
        ...{ summary: `s${index}`, text: `t${index}` },
      }),
    );
  const ran = new Set(runs.map(({ testNo }) => testNo));
  const memories = all
    .filter(({ no }) => ran.has(no) || no >= nextTestNo)
    .map(({ no }) => aMemory(no, { seq: seq + 1, lastRunAt: ran.has(no) ? at : null }));
  const code = { sha: `c${seq % 2}`, tree: seq % 5 === 0 ? null : `t${seq % 3}` };
  const batch = {
    facts: facts({ uploadId: `u${seq}`, branch: step.branch, prNumber: seq % 3 || null, ...code }),
    runs,
  };
  const events = changed.map((row) => ({ testId: row.id, at, kind: step.status, actor: null, detail: '{}' }));
  const tests = [...added.filter((row) => !changed.some((other) => other.id === row.id)), ...changed];
  return store.testIngest.commit(aChange(id, seq, { tests, memories, batch, failures, events }), at);
}

async function count(store: ComparedStore, id: RepositoryId, slices: number): Promise<unknown> {
  const { seq, nextTestNo } = await store.testIngest.loadRange(id, 0, 0);
  const { upToSeq } = await store.testIngest.measureUncounted(id);
  const answers: boolean[] = [];
  for (let slice = 0; slice < slices; slice++) {
    const [fromNo, toNo] = [slice * 32, slice * 32 + 32];
    const { known } = await store.testIngest.loadRange(id, fromNo, toNo);
    const memories = known.map(({ memory }) => ({ ...memory, seq: Math.max(memory.seq, upToSeq) }));
    answers.push(await store.testIngest.storeMemories({ repositoryId: id, expectedSeq: seq, memories }));
  }
  if (slices * 32 >= nextTestNo) await store.testIngest.markCounted(id, upToSeq);
  return answers;
}

async function readAll(store: ComparedStore, id: RepositoryId, of: { readonly since: number; readonly now: number }) {
  const { tests, testIngest } = store;
  const { since, now } = of;
  const loaded = await testIngest.loadRange(id, 0, 999);
  const ids = loaded.known.map(({ test: row }) => row.id);
  const numbers = loaded.known.map(({ test: row }) => row.no);
  const page = { repositoryId: id, offset: 0, limit: 50 };
  const runQuery = { ...page, since, branch: null, conclusion: null, watermark: loaded.seq };
  const lists = [];
  for (const watermark of [loaded.seq, Math.ceil(loaded.seq / 2)]) {
    lists.push(await tests.listFailing({ ...page, watermark, from: since, until: now }));
    lists.push(await tests.listQuarantined({ ...page, watermark, offset: 1 }));
    lists.push(await tests.listByStatus({ ...page, watermark, status: 'HEALTHY', limit: 3 }));
  }
  const runs = [];
  for (const testId of ids.slice(0, 12)) {
    runs.push(await tests.listRuns({ ...runQuery, testId }));
    runs.push(await tests.listRuns({ ...runQuery, testId, branch: 'a', conclusion: 'FAILURE', limit: 2 }));
    runs.push(await tests.listEvents({ ...page, watermark: loaded.seq, testId }));
  }
  const earlier = await testIngest.findEarlier(id, {
    ...{ sha: 'c1', job: 'unit', exceptUploadId: 'u0', beforeSeq: loaded.seq, limit: 3 },
    ...(loaded.seq % 2 === 0 && { ofTree: { tree: 't1', since } }),
  });
  const passes = [];
  // Passes older than the latest forgetting may or may not be left.
  for (const { seq } of earlier) {
    const passed = [...(await testIngest.findPasses(id, seq, numbers))].filter(([, at]) => at >= since);
    passes.push(passed.sort(([a], [b]) => a - b));
  }
  return {
    ...{ loaded, lists, runs, passes },
    earlier: earlier.map(({ failures, ...rest }) => ({ ...rest, failures: failures.filter(({ at }) => at >= since) })),
    stats: await tests.getStats({ repositoryId: id, testIds: ids, now, since }),
    counts: await tests.countRuns(
      id,
      ids.map((testId, index) => ({ testId, since: since + index * 1e6 })),
    ),
    again: await testIngest.readRuns(id, numbers, since),
    uncounted: await testIngest.listUncounted(id),
    waiting: await testIngest.measureUncounted(id),
    quarantined: (await tests.listQuarantinedIds(id)).ids,
    version: await tests.getQuarantineVersion(id),
  };
}
