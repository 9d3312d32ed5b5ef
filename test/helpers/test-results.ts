// Stores test results as ingest would, for tests that only need stored rows.
import { randomUUID } from 'node:crypto';
import { newTestState } from '../../src/flaky/core/state.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import type { BatchFacts, StoredFailure, StoredRun, TestChange, TestMemory } from '../../src/storage/test-ingest.ts';
import type { RunConclusion, TestRow } from '../../src/storage/tests.ts';

/** A run with the fields of its upload. Without a group it failed in a way of its own. */
export interface TestRunRow {
  readonly testId: string;
  readonly startedAt: number;
  readonly conclusion: RunConclusion;
  readonly durationMs: number | null;
  readonly branch: string;
  readonly sha: string;
  readonly prNumber: number | null;
  readonly isBlocking: boolean;
  readonly failureGroup: string | null;
  readonly failureSummary: string | null;
}

export interface Results {
  readonly repositoryId: RepositoryId;
  /** They get their numbers here. */
  readonly tests: readonly TestRow[];
  readonly runs: readonly TestRunRow[];
}

/**
 * Stores the tests and their runs, one change for each branch, commit and pull request; at least one. Answers the
 * number of the last. Others may store at the same time.
 */
export async function applyResults(store: Store, { repositoryId, tests, runs }: Results): Promise<number> {
  const batches = [
    ...Map.groupBy(runs, ({ branch, sha, prNumber }) => JSON.stringify([branch, sha, prNumber])).values(),
  ];
  let seq = await applyBatch(store, repositoryId, tests, batches[0] ?? []);
  for (const batch of batches.slice(1)) seq = await applyBatch(store, repositoryId, [], batch);
  return seq;
}

async function applyBatch(
  store: Store,
  repositoryId: RepositoryId,
  tests: readonly TestRow[],
  runs: readonly TestRunRow[],
): Promise<number> {
  for (;;) {
    const ids = [...new Set([...tests.map(({ id }) => id), ...runs.map(({ testId }) => testId)])];
    const { seq, nextTestNo, known } = await store.testIngest.load(repositoryId, ids);
    const numbers = new Map(known.map(({ test }) => [test.id, test.no]));
    const added: TestRow[] = [];
    for (const test of tests) {
      if (numbers.has(test.id)) continue;
      numbers.set(test.id, nextTestNo + added.length);
      added.push(test);
    }
    const numbered = tests.map((test) => ({ ...test, no: numbers.get(test.id) as number }));
    const memories = added.map((test) => aMemory(numbers.get(test.id) as number, seq, test.firstSeenAt));
    const stored = await store.testIngest.commit(
      { repositoryId, expectedSeq: seq, tests: numbered, memories, ...rowsOf(runs, numbers) },
      Math.max(0, ...runs.map(({ startedAt }) => startedAt)),
    );
    if (stored !== undefined) return stored;
  }
}

function aMemory(testNo: number, seq: number, firstSeenAt: number): TestMemory {
  const state = JSON.stringify(newTestState(firstSeenAt));
  return { testNo, seq, state, nextCheckAt: null, settingsVersion: 0, lastRunAt: null };
}

function rowsOf(
  runs: readonly TestRunRow[],
  numbers: ReadonlyMap<string, number>,
): Pick<TestChange, 'batch' | 'failures' | 'events'> {
  const [first] = runs;
  if (first === undefined) return { failures: [], events: [] };
  const known = runs.filter(({ testId }) => numbers.has(testId));
  const facts: BatchFacts = {
    uploadId: randomUUID(),
    ...{ branch: first.branch, sha: first.sha, prNumber: first.prNumber },
    ...{ tree: null, candidateId: null, job: '', jobAttempt: null, jobName: 'test', jobUrl: null, flaw: null },
  };
  return {
    batch: { facts, runs: known.map((run) => asStored(run, numbers)) },
    failures: known.filter(({ conclusion }) => conclusion === 'FAILURE').map((run) => asFailure(run, numbers)),
    events: [],
  };
}

function asStored(run: TestRunRow, numbers: ReadonlyMap<string, number>): StoredRun {
  const { startedAt, conclusion, durationMs } = run;
  return { testNo: numbers.get(run.testId) as number, startedAt, conclusion, durationMs, isQuarantined: false };
}

function asFailure(run: TestRunRow, numbers: ReadonlyMap<string, number>): StoredFailure {
  const summary = run.failureSummary ?? '';
  return {
    testId: run.testId,
    testNo: numbers.get(run.testId) as number,
    startedAt: run.startedAt,
    isBlocking: run.isBlocking,
    isQuarantined: false,
    path: '',
    group: run.failureGroup ?? randomUUID(),
    summary,
    text: summary,
  };
}
