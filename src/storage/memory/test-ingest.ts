import { assert } from '../../lib/assert.ts';
import { mergeCheckResults } from '../merge-check-results.ts';
import { toMicroseconds } from '../run-duration.ts';
import { compareFailures } from '../test-failures.ts';
import type {
  EarlierBatch,
  MergeSlice,
  StoredFailure,
  StoredRun,
  TestChange,
  TestIngest,
  TestMemory,
} from '../test-ingest.ts';
import type { TestRow } from '../tests.ts';
import { frozenCopy } from './frozen-copy.ts';
import type { MemoryBatch, MemoryState, MemoryTest, MemoryTests, TestKind } from './state.ts';
import { forget } from './test-forget.ts';
import { setIgnored, setOutcome } from './uploads.ts';

export function createMemoryTestIngest(state: MemoryState): TestIngest {
  const of = (repositoryId: string) => state.tests.get(repositoryId) ?? noTests();
  return {
    ...loadOperations(state, of),
    commit: async (change, at) => commit(state, frozenCopy(change), at),
    findEarlier: async (repositoryId, place) => findEarlier(of(repositoryId), place),
    async findPasses(repositoryId, seq, testNos) {
      const runs = of(repositoryId).batches.find((batch) => batch.seq === seq)?.runs ?? [];
      const passed = runs.filter((run) => run.conclusion === 'SUCCESS' && testNos.includes(run.testNo));
      const byTest = Map.groupBy(passed, (run) => run.testNo);
      return new Map([...byTest].map(([no, all]) => [no, Math.max(...all.map((run) => run.startedAt))]));
    },
    listBlocks: async (repositoryId) => blocksOf(of(repositoryId)).map(({ isBlock: _, ...block }) => block),
    async measureBlocks(repositoryId) {
      const blocks = blocksOf(of(repositoryId));
      const runs = blocks.reduce((sum, block) => sum + block.runs.length, 0);
      return { blocks: blocks.length, runs, upToSeq: blocks.at(-1)?.seq ?? 0 };
    },
    merge: async (slice) => merge(of(slice.repositoryId), frozenCopy(slice)),
    async dropBlocks(repositoryId, upToSeq) {
      for (const batch of of(repositoryId).batches) if (batch.seq <= upToSeq) batch.isBlock = false;
    },
    findCheckResults: async (repositoryId, candidateId, check) =>
      of(repositoryId).checkResults.get(JSON.stringify([candidateId, check])),
    async readRuns(repositoryId, testNos, since) {
      const isWanted = (run: StoredRun) => testNos.includes(run.testNo) && run.startedAt >= since;
      return of(repositoryId)
        .batches.map(({ facts, receivedAt, runs }) => ({
          facts,
          receivedAt,
          runs: runs.filter(isWanted).sort(compareRuns),
        }))
        .filter(({ runs }) => runs.length > 0);
    },
    async listTestNos(repositoryId, uploadId) {
      const batches = of(repositoryId).batches.filter(({ facts }) => facts.uploadId === uploadId);
      const numbers = new Set(batches.flatMap(({ runs }) => runs.map(({ testNo }) => testNo)));
      return [...numbers].sort((a, b) => a - b);
    },
    forget: async (repositoryId, before) => forget(of(repositoryId), before),
  };
}

export function noTests(): MemoryTests {
  return {
    lastSeq: 0,
    lastTestNo: 0,
    quarantineVersion: 0,
    byId: new Map(),
    batches: [],
    failures: [],
    events: [],
    checkResults: new Map(),
  };
}

function loadOperations(
  state: MemoryState,
  of: (repositoryId: string) => MemoryTests,
): Pick<TestIngest, 'countTests' | 'load' | 'loadRange' | 'listDue' | 'listBehind'> {
  const known = (repositoryId: string, isWanted: (row: TestRow) => boolean) => {
    const tests = of(repositoryId);
    const wanted = byNumber(tests).filter(({ row }) => isWanted(row));
    return {
      seq: tests.lastSeq,
      nextTestNo: tests.lastTestNo + 1,
      known: wanted.map(({ row, memory }) => ({ test: row, memory })),
    };
  };
  return {
    countTests: async (repositoryId) => known(repositoryId, () => true).known.length,
    load: async (repositoryId, testIds) => known(repositoryId, ({ id }) => testIds.includes(id)),
    loadRange: async (repositoryId, fromNo, toNo) => known(repositoryId, ({ no }) => no >= fromNo && no < toNo),
    async listDue(now, limit) {
      const due = [...state.tests.values()]
        .flatMap(byNumber)
        .filter(({ memory }) => memory.nextCheckAt !== null && memory.nextCheckAt <= now)
        .sort((a, b) => (a.memory.nextCheckAt as number) - (b.memory.nextCheckAt as number));
      return due
        .filter(({ row }) => row.repositoryId === due[0]?.row.repositoryId)
        .slice(0, limit)
        .map(({ row }) => ({ repositoryId: row.repositoryId, testId: row.id }));
    },
    async listBehind(repositoryId, settingsVersion, limit) {
      const behind = byNumber(of(repositoryId)).filter(({ memory }) => memory.settingsVersion !== settingsVersion);
      return behind.slice(0, limit).map(({ row }) => row.id);
    },
  };
}

function byNumber(tests: MemoryTests): MemoryTest[] {
  return [...tests.byId.values()].sort((a, b) => a.row.no - b.row.no);
}

function blocksOf(tests: MemoryTests): MemoryBatch[] {
  return tests.batches.filter(({ isBlock }) => isBlock);
}

function findEarlier(
  tests: MemoryTests,
  of: { readonly sha: string; readonly job: string; readonly exceptUploadId: string },
): readonly EarlierBatch[] {
  const earlier = tests.batches.filter(
    ({ facts }) =>
      facts.sha === of.sha && facts.job === of.job && facts.uploadId !== of.exceptUploadId && facts.flaw === null,
  );
  return earlier.map(({ seq, facts }) => {
    const failures = Map.groupBy(
      tests.failures.filter((failure) => failure.seq === seq),
      ({ testNo, path }) => JSON.stringify([testNo, path]),
    );
    const latest = [...failures.values()].map((all) => {
      const { testNo, path } = all[0] as StoredFailure;
      return { testNo, path, at: Math.max(...all.map((failure) => failure.startedAt)) };
    });
    return { seq, facts, failures: latest.sort(compareFailures) };
  });
}

function commit(state: MemoryState, change: TestChange, at: number): number | undefined {
  const { repositoryId, memories, upload } = change;
  assert(state.repositories.has(repositoryId), `there is no repository ${repositoryId}`);
  for (const test of change.tests) {
    assert(test.repositoryId === repositoryId, `test ${test.id} belongs to another repository`);
  }
  const tests = state.tests.get(repositoryId) ?? noTests();
  if (tests.lastSeq !== change.expectedSeq) return undefined;
  if (areOutdated(tests, memories)) return undefined;
  if (upload !== undefined) {
    const known = state.uploads.get(upload.uploadId)?.row;
    if (known?.status !== 'ACCEPTED') return undefined;
    if (upload.status === 'ACCEPTED' && known.partsDone >= upload.partsDone) return undefined;
  }
  const rows = [...new Map(change.tests.map((test) => [test.id, test])).values()];
  const added = rows.filter(({ id }) => !tests.byId.has(id)).sort((a, b) => a.no - b.no);
  added.forEach(({ id, no }, index) => {
    assert(no === tests.lastTestNo + 1 + index, `test ${id} is new, and ${no} is not the next number`);
    assert(
      memories.some(({ testNo }) => testNo === no),
      `test ${id} is new, and nothing is remembered of it`,
    );
  });
  state.tests.set(repositoryId, tests);
  tests.lastSeq += 1;
  tests.lastTestNo += added.length;
  putTests(tests, rows, memories);
  putRows(tests, change, at);
  if (upload !== undefined) setOutcome(state, upload);
  if (change.ignore !== undefined) ignore(state, tests, change.ignore);
  return tests.lastSeq;
}

function ignore(state: MemoryState, tests: MemoryTests, of: NonNullable<TestChange['ignore']>): void {
  setIgnored(state, of);
  for (const batch of tests.batches) {
    if (batch.facts.uploadId === of.uploadId) batch.facts = Object.freeze({ ...batch.facts, flaw: 'IGNORED' });
  }
}

/** Whether what is stored of one of them counts more runs. */
function areOutdated(tests: MemoryTests, memories: readonly TestMemory[]): boolean {
  const stored = new Map([...tests.byId.values()].map(({ memory }) => [memory.testNo, memory.seq]));
  return memories.some(({ testNo, seq }) => (stored.get(testNo) ?? seq) > seq);
}

function putTests(tests: MemoryTests, rows: readonly TestRow[], memories: readonly TestMemory[]): void {
  const wasQuarantined = (id: string) => (tests.byId.get(id)?.row.quarantinedAt ?? null) !== null;
  const isQuarantineChanged = rows.some((row) => wasQuarantined(row.id) !== (row.quarantinedAt !== null));
  for (const row of rows) putTest(tests, row);
  if (isQuarantineChanged) tests.quarantineVersion += 1;
  const byNo = new Map(byNumber(tests).map((test) => [test.row.no, test]));
  for (const memory of memories) {
    const test = byNo.get(memory.testNo);
    if (test !== undefined) test.memory = memory;
  }
}

const NOTHING = { seq: 0, state: '', nextCheckAt: null, settingsVersion: 0, lastRunAt: null };

function putTest({ byId, lastSeq }: MemoryTests, row: TestRow): void {
  const test = byId.get(row.id) ?? { row, memory: { testNo: row.no, ...NOTHING }, intervals: [] };
  test.row = row;
  byId.set(row.id, test);
  const kinds: TestKind[] = row.quarantinedAt === null ? [row.status] : [row.status, 'QUARANTINED'];
  const open = test.intervals.filter((interval) => interval.toSeq === null);
  for (const interval of open) if (!kinds.includes(interval.kind)) interval.toSeq = lastSeq;
  for (const kind of kinds) {
    if (!open.some((interval) => interval.kind === kind)) test.intervals.push({ kind, fromSeq: lastSeq, toSeq: null });
  }
}

function putRows(tests: MemoryTests, change: TestChange, at: number): void {
  const { batch, checkResults } = change;
  const seq = tests.lastSeq;
  if (batch !== undefined) {
    const runs = batch.runs.map(asStored).sort((a, b) => a.testNo - b.testNo);
    tests.batches.push({ seq, facts: batch.facts, receivedAt: at, runs, isBlock: runs.length > 0 });
  }
  const prNumber = batch?.facts.prNumber ?? null;
  tests.failures.push(...change.failures.map((failure) => ({ ...failure, seq, prNumber })));
  tests.events.push(...change.events.map((event) => ({ ...event, seq })));
  if (checkResults === undefined) return;
  const key = JSON.stringify([checkResults.candidateId, checkResults.check]);
  tests.checkResults.set(key, mergeCheckResults(tests.checkResults.get(key), checkResults));
}

function compareRuns(a: StoredRun, b: StoredRun): number {
  return a.testNo - b.testNo || a.startedAt - b.startedAt;
}

function asStored(run: StoredRun): StoredRun {
  const microseconds = toMicroseconds(run.durationMs);
  return Object.freeze({ ...run, durationMs: microseconds === null ? null : microseconds / 1000 });
}

/** Runs are read from their batches here, so there is nothing to merge but memories. */
function merge(tests: MemoryTests, { expectedSeq, memories }: MergeSlice): boolean {
  if (tests.lastSeq !== expectedSeq || areOutdated(tests, memories)) return false;
  putTests(tests, [], memories);
  return true;
}
