import type { TestStore } from '../tests.ts';
import { all, first, type Operation, type SqlEngine } from './operation.ts';
import { toTest } from './rows.ts';
import type { StatementCompiler } from './statement.ts';
import { applyChange, applyStatements } from './test-apply.ts';
import { listStatements, type PageRow } from './test-lists.ts';
import { getStats, statsStatements } from './test-stats.ts';

export function createTestStore(engine: SqlEngine, compiler: StatementCompiler): TestStore {
  const applies = applyStatements(compiler);
  const lists = listStatements(compiler);
  const stats = statsStatements(compiler);
  return {
    apply: (change) => engine.write(() => applyChange(applies, change)),
    getWatermark: (repositoryId) =>
      engine.read(function* () {
        return (yield* first(lists.findSequence, { repositoryId }))?.last_seq ?? 0;
      }),
    find: (repositoryId, testId) =>
      engine.read(function* () {
        const row = yield* first(lists.find, { repositoryId, testId });
        return row && toTest(row);
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
    getStats: (query) => engine.snapshot(() => getStats(stats, query)),
  };
}

type ListStatements = ReturnType<typeof listStatements>;
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
