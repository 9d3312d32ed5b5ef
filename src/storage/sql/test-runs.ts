import type { RunCounts, TestExecution, TestRunList, TestRunQuery } from '../tests.ts';
import { RUN_CONCLUSIONS } from '../tests.ts';
import { allOf, first, type Operation } from './operation.ts';
import type { BlockCache } from './runs/block-cache.ts';
import { hasConclusion, runAt } from './runs/make-block.ts';
import { CONCLUSION_MASK, FAILURE, type RunColumns, SKIPPED, SUCCESS } from './runs/run-columns.ts';
import {
  findStoredRuns,
  type RunStatements,
  readStoredRuns,
  type StoredRuns,
  visitStoredRuns,
} from './runs/stored-runs.ts';
import type { TestFailuresTable, TestFailureTextsTable } from './schema.ts';
import type { StatementCompiler } from './statement.ts';
import type { BatchStatements } from './test-batches.ts';
import { toFacts } from './test-rows.ts';

type Statements = ReturnType<typeof testRunStatements> & BatchStatements & RunStatements;

export type NumberStatements = Pick<ReturnType<typeof testRunStatements>, 'findNumbers'>;

const NOTHING: TestRunList = { totalRows: 0, runs: [] };
/** Runs of no branch have this number. */
const NO_BRANCH = -1;

/** All runs of the test are read to count them, but only those of the page are told with what belongs to them. */
export function* listRuns(statements: Statements, cache: BlockCache, query: TestRunQuery): Operation<TestRunList> {
  const { repositoryId, testId, since } = query;
  const test = (yield* allOf(statements.findNumbers({ repositoryId }, [testId])))[0];
  if (test === undefined) return NOTHING;
  const branchNo = yield* findBranchNo(statements, query);
  const stored = yield* findStoredRuns(statements, cache, { repositoryId, testNos: [test.no], since });
  const columns = readStoredRuns(stored, test.no, since);
  const indexes = selectRuns(columns, { ...query, branchNo });
  const page = indexes.slice(query.offset, query.offset + query.limit);
  const runs = yield* viewsOf(statements, { repositoryId, testNo: test.no, columns, page });
  return { totalRows: indexes.length, runs };
}

function* findBranchNo(statements: Statements, { repositoryId, branch }: TestRunQuery): Operation<number | null> {
  if (branch === null) return null;
  return (yield* first(statements.findBranch, { repositoryId, name: branch }))?.no ?? NO_BRANCH;
}

/** Newest first. Sorting keeps the order of storing among runs of one instant, and turning round ends with the latest. */
function selectRuns(
  columns: RunColumns,
  query: TestRunQuery & { readonly branchNo: number | null },
): readonly number[] {
  const conclusion = query.conclusion === null ? null : RUN_CONCLUSIONS.indexOf(query.conclusion);
  const indexes: number[] = [];
  for (let index = 0; index < columns.seq.length; index++) {
    if ((columns.seq[index] as number) > query.watermark) continue;
    if (query.branchNo !== null && columns.branchNo[index] !== query.branchNo) continue;
    if (conclusion !== null && !hasConclusion(columns, index, conclusion)) continue;
    indexes.push(index);
  }
  const { startedAt } = columns;
  return indexes.sort((a, b) => (startedAt[a] as number) - (startedAt[b] as number)).reverse();
}

interface Page {
  readonly repositoryId: string;
  readonly testNo: number;
  readonly columns: RunColumns;
  readonly page: readonly number[];
}

function* viewsOf(statements: Statements, of: Page): Operation<readonly TestExecution[]> {
  const { repositoryId, columns, page } = of;
  const seqs = [...new Set(page.map((index) => columns.seq[index] as number))];
  const rows = yield* allOf(statements.findBatches({ repositoryId }, seqs));
  const batches = new Map(rows.map((row) => [row.seq, toFacts(row)]));
  const failures = yield* findFailures(statements, of);
  return page.flatMap((index) => {
    const facts = batches.get(columns.seq[index] as number);
    if (facts === undefined) return [];
    const { testNo: _, ...run } = runAt(columns, index);
    const { branch, sha, prNumber, jobName, jobUrl, uploadId, flaw } = facts;
    const failure = failures.get(index);
    return [
      {
        ...run,
        ...{ branch, sha, prNumber, jobName, jobUrl, uploadId, flaw },
        failureSummary: failure?.summary ?? null,
        failureText: failure?.text ?? null,
      },
    ];
  });
}

type FailureTexts = Pick<TestFailuresTable, 'seq' | 'started_at' | 'summary'> & Pick<TestFailureTextsTable, 'text'>;

/** By place of the run: the n-th that failed in its batch at an instant is the n-th failure there. */
function* findFailures(
  statements: Statements,
  { repositoryId, testNo, columns, page }: Page,
): Operation<ReadonlyMap<number, FailureTexts>> {
  const failing = page.filter((index) => hasConclusion(columns, index, FAILURE));
  if (failing.length === 0) return new Map();
  const starts = failing.map((index) => columns.startedAt[index] as number);
  const [from, until] = [Math.min(...starts), Math.max(...starts)];
  const seqs = [...new Set(failing.map((index) => columns.seq[index] as number))];
  const rows = yield* allOf(statements.findFailureTexts({ repositoryId, testNo, from, until }, seqs));
  const byPlace = Map.groupBy(rows, (row) => `${row.seq} ${row.started_at}`);
  const found = new Map<number, FailureTexts>();
  const seen = new Map<string, number>();
  for (let index = 0; index < columns.seq.length; index++) {
    if (!hasConclusion(columns, index, FAILURE)) continue;
    const place = `${columns.seq[index]} ${columns.startedAt[index]}`;
    const nth = seen.get(place) ?? 0;
    seen.set(place, nth + 1);
    const row = byPlace.get(place)?.[nth];
    if (row !== undefined) found.set(index, row);
  }
  return found;
}

export function* countRuns(
  statements: Statements,
  cache: BlockCache,
  repositoryId: string,
  tests: readonly { readonly testId: string; readonly since: number }[],
): Operation<readonly RunCounts[]> {
  const ids = [...new Set(tests.map(({ testId }) => testId))];
  const numbers = new Map((yield* allOf(statements.findNumbers({ repositoryId }, ids))).map(({ id, no }) => [id, no]));
  const since = Math.min(...tests.map((test) => test.since));
  const testNos = [...numbers.values()];
  const stored = yield* findStoredRuns(statements, cache, { repositoryId, testNos, since });
  return tests.map((test) => {
    const no = numbers.get(test.testId);
    if (no === undefined) return { passes: 0, failures: 0, lastRunAt: null };
    return countOf(stored, no, test.since);
  });
}

function countOf(stored: StoredRuns, testNo: number, since: number): RunCounts {
  let [passes, failures, lastRunAt] = [0, 0, Number.NEGATIVE_INFINITY];
  visitStoredRuns(stored, testNo, since, ({ startedAt, flags }) => {
    const conclusion = flags & CONCLUSION_MASK;
    if (conclusion === SKIPPED) return;
    if (conclusion === SUCCESS) passes += 1;
    else failures += 1;
    if (startedAt > lastRunAt) lastRunAt = startedAt;
  });
  return { passes, failures, lastRunAt: passes + failures === 0 ? null : lastRunAt };
}

export function testRunStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Failing = { repositoryId: string; testNo: number; from: number; until: number };
  return {
    findNumbers: compiler.list<{ repositoryId: string }, string>()((param, ids) =>
      builder
        .selectFrom('tests')
        .select(['id', 'no'])
        .where('repository_id', '=', param('repositoryId'))
        .where('id', 'in', ids),
    ),
    findBranch: compiler.statement<{ repositoryId: string; name: string }>()((param) =>
      builder
        .selectFrom('test_branches')
        .select('no')
        .where('repository_id', '=', param('repositoryId'))
        .where('name', '=', param('name')),
    ),
    findFailureTexts: compiler.list<Failing, number>()((param, seqs) =>
      builder
        .selectFrom('test_failures')
        .crossJoin('test_failure_texts as texts')
        .select(['test_failures.seq', 'test_failures.started_at', 'test_failures.summary', 'texts.text'])
        .where('test_failures.repository_id', '=', param('repositoryId'))
        .where('test_failures.test_no', '=', param('testNo'))
        .where('test_failures.started_at', '>=', param('from'))
        .where('test_failures.started_at', '<=', param('until'))
        .where('test_failures.seq', 'in', seqs)
        .where('texts.repository_id', '=', param('repositoryId'))
        .whereRef('texts.seq', '=', 'test_failures.seq')
        .whereRef('texts.ordinal', '=', 'test_failures.ordinal')
        .orderBy('test_failures.started_at')
        .orderBy('test_failures.seq')
        .orderBy('test_failures.ordinal'),
    ),
  };
}
