import type { FeedQuery, FeedRow, FeedStore } from '../feed.ts';
import { EMPTY_HEAD, feedInserts, placed, sequence, sequenceStatements, toHead } from './feed-waiting.ts';
import { all, execute, executeAll, first, run, type SqlEngine } from './operation.ts';
import type { Schema } from './schema.ts';
import type { Statement, StatementCompiler } from './statement.ts';

export function createFeedStore(engine: SqlEngine, compiler: StatementCompiler): FeedStore {
  const statements = feedStatements(compiler);
  const inserts = feedInserts(compiler);
  const lists = new Map<string, Statement<FlatQuery, Schema['feed']>>();
  return {
    add: (rows) => engine.write(() => executeAll(inserts(rows))),
    addOnce: (organizationId, rows) =>
      engine.write(function* () {
        const [draft] = rows;
        if (draft === undefined) return;
        yield* run(statements.ensureHead, { organizationId });
        yield* first(statements.lockHead, { organizationId });
        const isThere =
          (yield* first(statements.hasVersion, draft)) ?? (yield* first(statements.isVersionWaiting, draft));
        if (isThere === undefined) yield* executeAll(inserts(rows));
      }),
    sequence: (seal, limit) => engine.write(() => sequence(statements, { seal, limit })),
    getHead: (organizationId) =>
      engine.read(function* () {
        const head = yield* first(statements.findHead, { organizationId });
        return head === undefined ? EMPTY_HEAD : toHead(head);
      }),
    findLatest: (source, version) =>
      engine.read(function* () {
        return (yield* first(statements.findLatest, { source, version }))?.seq ?? undefined;
      }),
    list: (query) =>
      engine.read(function* () {
        if (query.repositoryIds?.length === 0 || query.types?.length === 0) return [];
        const shape = shapeOf(query);
        const statement = lists.get(shape) ?? listStatement(compiler, query);
        lists.set(shape, statement);
        return (yield* all(statement, flatten(query))).map((row) => placed.to(row) as FeedRow);
      }),
    expire: (before, limit) => engine.write(() => execute(statements.expire, { before, limit })),
  };
}

function feedStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    ...sequenceStatements(compiler),
    findLatest: sql(`
      select seq from feed where source = :source and version <= :version
      order by version desc, ordinal desc limit 1`),
    hasVersion: sql('select ordinal from feed where source = :source and version = :version limit 1'),
    isVersionWaiting: sql('select part from feed_waiting where source = :source and version = :version limit 1'),
    expire: sql(`
      delete from feed where (source, version, ordinal) in (
        select source, version, ordinal from feed
        where at < :before and digest is null and seq is not null order by at limit :limit)`),
  };
}

/** The query with each item of its lists under a name of its own, such as `types3`. */
type FlatQuery = Readonly<Record<string, string | number>>;
type ListName = 'repositoryIds' | 'types' | 'hiddenTypes';

const LISTS: readonly ListName[] = ['repositoryIds', 'types', 'hiddenTypes'];
/** A statement is compiled for these lengths; a list is filled up with its last item. */
const LIST_SIZES = [1, 4, 16, 64, 256, 1_024];

function sizeOf(list: readonly unknown[]): number {
  return LIST_SIZES.find((size) => size >= list.length) ?? list.length;
}

function flatten(query: FeedQuery): FlatQuery {
  const flat: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'string' || typeof value === 'number') flat[name] = value;
  }
  for (const name of LISTS) {
    const list = query[name] ?? [];
    for (let index = 0; index < sizeOf(list) && list.length > 0; index += 1) {
      flat[`${name}${index}`] = list[Math.min(index, list.length - 1)] as string;
    }
  }
  return flat;
}

/** The filters of a query: a statement is compiled for each combination that was asked for. */
function shapeOf(query: FeedQuery): string {
  const { order, isAuditOnly } = query;
  return `${order} ${isAuditOnly === true} ${Object.keys(flatten(query)).sort().join(' ')}`;
}

function listStatement({ raw }: StatementCompiler, query: FeedQuery): Statement<FlatQuery, Schema['feed']> {
  return raw(`select * from feed where ${conditionsOf(query).join(' and ')} order by seq ${query.order} limit :limit`);
}

function conditionsOf(query: FeedQuery): readonly string[] {
  const items = (name: ListName) =>
    `(${Array.from({ length: sizeOf(query[name] ?? []) }, (_, index) => `:${name}${index}`).join(', ')})`;
  const conditions: readonly (readonly [boolean, string])[] = [
    [true, 'organization_id = :organizationId'],
    [query.repositoryIds !== null, `repository_id in ${items('repositoryIds')}`],
    [query.targetBranch !== undefined, 'target_branch = :targetBranch'],
    [query.prNumber !== undefined, 'pr_number = :prNumber'],
    [query.testId !== undefined, 'test_id = :testId'],
    [query.types !== undefined, `type in ${items('types')}`],
    [(query.hiddenTypes ?? []).length > 0, `type not in ${items('hiddenTypes')}`],
    [query.from !== undefined, 'at >= :from'],
    [query.until !== undefined, 'at <= :until'],
    [query.afterSeq !== undefined, `seq ${query.order === 'ASC' ? '>' : '<'} :afterSeq`],
    [query.isAuditOnly === true, 'digest is not null'],
    [true, 'seq is not null'],
  ];
  return conditions.flatMap(([isAsked, condition]) => (isAsked ? [condition] : []));
}
