import type { TestStore } from '../tests.ts';
import { all, findRow, first, type Operation, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import { listStatements, type PageRow } from './test-lists.ts';
import { countByStatus, rankStatements, rankTests, readRanked } from './test-ranks.ts';
import { patternOf, toTest, toTestEvent } from './test-rows.ts';
import { countRuns, listRuns, testRunStatements } from './test-runs.ts';
import { getStats, statsStatements } from './test-stats.ts';

export function createTestStore(engine: SqlEngine, compiler: StatementCompiler): TestStore {
  const lists = listStatements(compiler);
  const runs = testRunStatements(compiler);
  const ranks = rankStatements(compiler);
  const stats = { ...runs, ...statsStatements(compiler) };
  return {
    ...testOperations(engine, lists),
    ...quarantineOperations(engine, lists),
    getWatermark: (repositoryId) =>
      engine.read(function* () {
        return (yield* first(lists.findSequence, { repositoryId }))?.last_seq ?? 0;
      }),
    listFailing: (query) =>
      engine.snapshot(function* () {
        const rows = yield* all(lists.listFailing, query);
        return yield* withTotal(rows, query.offset, function* () {
          return (yield* first(lists.countFailing, query))?.total ?? 0;
        });
      }),
    listQuarantined: (query) => engine.snapshot(() => listOfKind(lists, { ...query, kind: 'QUARANTINED' })),
    listByStatus: (query) => engine.snapshot(() => listOfKind(lists, { ...query, kind: query.status })),
    countByStatus: (repositoryIds) => engine.snapshot(() => countByStatus(ranks, [...new Set(repositoryIds)])),
    rank: (query) => engine.snapshot(() => rankTests(ranks, query)),
    getFigures: async (repositoryId, testNo) => {
      const [figures] = await engine.snapshot(() => readRanked(ranks, repositoryId, [testNo]));
      return figures;
    },
    getStats: (query) => engine.snapshot(() => getStats(stats, query)),
    listRuns: (query) => engine.snapshot(() => listRuns(runs, query)),
    countRuns: (repositoryId, tests) => engine.snapshot(() => countRuns(runs, repositoryId, tests)),
    listEvents: (query) =>
      engine.snapshot(function* () {
        const events = (yield* all(lists.listEvents, query)).map(toTestEvent);
        return { totalRows: (yield* first(lists.countEvents, query))?.total ?? 0, events };
      }),
  };
}

type ListStatements = ReturnType<typeof listStatements>;

function testOperations(engine: SqlEngine, lists: ListStatements): Pick<TestStore, 'find' | 'search'> {
  return {
    find: (repositoryId, testId) => engine.read(() => findRow(lists.find, { repositoryId, testId }, toTest)),
    search: (repositoryId, text, limit) =>
      engine.read(function* () {
        // Nothing stored holds it.
        if (text.includes('\0')) return [];
        return (yield* all(lists.search, { repositoryId, pattern: patternOf(text), limit })).map(toTest);
      }),
  };
}

function quarantineOperations(
  engine: SqlEngine,
  lists: ListStatements,
): Pick<TestStore, 'getQuarantineVersion' | 'listQuarantinedIds'> {
  function* findVersion(repositoryId: string): Operation<number> {
    return (yield* first(lists.findSequence, { repositoryId }))?.quarantine_version ?? 0;
  }
  return {
    getQuarantineVersion: (repositoryId) => engine.read(() => findVersion(repositoryId)),
    listQuarantinedIds: (repositoryId) =>
      engine.snapshot(function* () {
        const version = yield* findVersion(repositoryId);
        const rows = yield* all(lists.listQuarantinedIds, { repositoryId });
        return { version, ids: rows.map((row) => row.test_id) };
      }),
  };
}

type KindQuery = Parameters<ListStatements['listOfKind']['bind']>[0];

function* listOfKind(lists: ListStatements, query: KindQuery) {
  const rows = yield* all(lists.listOfKind, query);
  return yield* withTotal(rows, query.offset, function* () {
    return (yield* first(lists.countOfKind, query))?.total ?? 0;
  });
}

/** Every row brings the total along; only a page behind the end must ask for it. */
function* withTotal(rows: readonly PageRow[], offset: number, count: () => Operation<number>) {
  const totalRows: number = rows[0]?.total ?? (offset === 0 ? 0 : yield* count());
  return { totalRows, tests: rows.map(toTest) };
}
