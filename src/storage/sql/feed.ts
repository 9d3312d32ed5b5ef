import { type SelectQueryBuilder, sql } from 'kysely';
import type { OrganizationId } from '../accounts.ts';
import type { FeedHead, FeedQuery, FeedRow, FeedStore, Seal } from '../feed.ts';
import { type FeedDraft, wholeVersions } from '../feed-draft.ts';
import type { RepositoryRef } from '../repositories.ts';
import { rowsOf } from './columns.ts';
import { all, execute, executeAll, first, type Operation, run, type SqlEngine } from './operation.ts';
import { FEED_EVENT, FEED_PLACE } from './queue-tables.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf, type Placeholders, type Statement, type StatementCompiler } from './statement.ts';

const drafts = rowsOf(FEED_EVENT);
const placed = rowsOf({ ...FEED_EVENT, ...FEED_PLACE });
const NO_PLACE = { seq: null, repo: null, digest: null };

/** Inserts events in the transaction in which they happen. */
export function feedInserts(compiler: StatementCompiler): (rows: readonly FeedDraft[]) => Call[] {
  const insert = compiler.insert('feed');
  return (rows) => insert(rows.map((row) => ({ ...drafts.from(row), ...NO_PLACE })));
}

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
        if ((yield* first(statements.hasVersion, draft)) === undefined) yield* executeAll(inserts(rows));
      }),
    sequence: (seal, limit) => engine.write(() => sequence(statements, seal, limit)),
    getHead: (organizationId) =>
      engine.read(function* () {
        const head = yield* first(statements.findHead, { organizationId });
        return head === undefined ? EMPTY : toHead(head);
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

type FeedStatements = ReturnType<typeof feedStatements>;
type Waiting = Schema['feed'] & { readonly of_repository: string | null } & {
  readonly [Key in keyof RepositoryRef]: string | null;
};

const EMPTY: FeedHead = { lastSeq: 0, digest: null };

function toHead({ last_seq, digest }: Schema['feed_heads']): FeedHead {
  return { lastSeq: last_seq, digest };
}

// SPEC X2
function* sequence(statements: FeedStatements, seal: Seal, limit: number): Operation<readonly OrganizationId[]> {
  const page = (yield* all(statements.listWaiting, { limit })) as readonly Waiting[];
  const waiting = page.length < limit ? page : wholeVersions(page);
  const byOrganization = Map.groupBy(waiting, (row) => row.organization_id ?? row.of_repository);
  // Its repository was removed while it was stored, so that no one may see it.
  yield* executeAll((byOrganization.get(null) ?? []).map((row) => callOf(statements.drop, row)));
  // In one order, so that two servers never wait for each other.
  const organizations = [...byOrganization.keys()].filter((id) => id !== null).sort();
  for (const organizationId of organizations) {
    yield* run(statements.ensureHead, { organizationId });
    const head = yield* first(statements.lockHead, { organizationId });
    // Another server may have given some of them a place while this one waited for the lock.
    const rows = yield* stillWaiting(statements, byOrganization.get(organizationId) ?? []);
    yield* executeAll(
      placeCalls(statements, { organizationId, head: head === undefined ? EMPTY : toHead(head), rows, seal }),
    );
  }
  return organizations as OrganizationId[];
}

function* stillWaiting(statements: FeedStatements, rows: readonly Waiting[]): Operation<readonly Waiting[]> {
  const results = yield rows.map(({ source, version, ordinal }) =>
    callOf(statements.isWaiting, { source, version, ordinal }),
  );
  return inOrder(rows.filter((_, index) => results[index]?.rows.length === 1));
}

/** By time, but never against the order of a source: a clock may go back. */
function inOrder(rows: readonly Waiting[]): readonly Waiting[] {
  const latest = new Map<string, number>();
  const timed = rows.map((row) => {
    const at = Math.max(row.at, latest.get(row.source) ?? row.at);
    latest.set(row.source, at);
    return { row, at };
  });
  return timed.sort((a, b) => a.at - b.at).map(({ row }) => row);
}

interface Placing {
  readonly organizationId: string;
  readonly head: FeedHead;
  readonly rows: readonly Waiting[];
  readonly seal: Seal;
}

function placeCalls(statements: FeedStatements, { organizationId, head, rows, seal }: Placing): readonly Call[] {
  let { lastSeq, digest } = head;
  const places = rows.map((row) => {
    lastSeq += 1;
    const { host, owner, name } = row;
    const repo = host === null ? null : { host, owner, name };
    const stored = { ...row, organization_id: organizationId, repo: repo && JSON.stringify(repo), seq: lastSeq };
    const { digest: _none, ...unsealed } = placed.to(stored) as FeedRow;
    const own = seal(unsealed, digest);
    digest = own ?? digest;
    return callOf(statements.place, { ...stored, digest: own });
  });
  return rows.length === 0 ? [] : [...places, callOf(statements.moveHead, { organizationId, lastSeq, digest })];
}

function feedStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  type Key = { source: string; version: number; ordinal: number };
  const ofOrganization = builder.selectFrom('feed_heads').selectAll();
  return {
    listWaiting: compiler.statement<{ limit: number }>()((param) =>
      builder
        .selectFrom('feed')
        .leftJoin('repositories', 'repositories.id', 'feed.repository_id')
        .selectAll('feed')
        .select([
          'repositories.organization_id as of_repository',
          'repositories.host',
          'repositories.owner',
          'repositories.name',
        ])
        .where('seq', 'is', null)
        .orderBy('source')
        .orderBy('version')
        .orderBy('ordinal')
        .limit(param('limit')),
    ),
    findLatest: compiler.statement<{ source: string; version: number }>()((param) =>
      builder
        .selectFrom('feed')
        .select('seq')
        .where('source', '=', param('source'))
        .where('version', '<=', param('version'))
        .where('seq', 'is not', null)
        .orderBy('version', 'desc')
        .orderBy('ordinal', 'desc')
        .limit(1),
    ),
    drop: compiler.statement<Key>()((param) =>
      builder
        .deleteFrom('feed')
        .where('source', '=', param('source'))
        .where('version', '=', param('version'))
        .where('ordinal', '=', param('ordinal')),
    ),
    isWaiting: compiler.statement<Key>()((param) =>
      builder
        .selectFrom('feed')
        .select('version')
        .where('source', '=', param('source'))
        .where('version', '=', param('version'))
        .where('ordinal', '=', param('ordinal'))
        .where('seq', 'is', null),
    ),
    hasVersion: compiler.statement<Pick<Key, 'source' | 'version'>>()((param) =>
      builder
        .selectFrom('feed')
        .select('ordinal')
        .where('source', '=', param('source'))
        .where('version', '=', param('version'))
        .limit(1),
    ),
    ensureHead: compiler.statement<{ organizationId: string }>()((param) =>
      builder
        .insertInto('feed_heads')
        .values({ organization_id: param('organizationId'), last_seq: 0, digest: null })
        .onConflict((conflict) => conflict.column('organization_id').doNothing()),
    ),
    findHead: compiler.statement<{ organizationId: string }>()((param) =>
      ofOrganization.where('organization_id', '=', param('organizationId')),
    ),
    lockHead: compiler.statement<{ organizationId: string }>()((param) =>
      ofOrganization
        .where('organization_id', '=', param('organizationId'))
        .$if(hasRowLocks, (query) => query.forUpdate()),
    ),
    moveHead: compiler.statement<{ organizationId: string; lastSeq: number; digest: string | null }>()((param) =>
      builder
        .updateTable('feed_heads')
        .set({ last_seq: param('lastSeq'), digest: param('digest') })
        .where('organization_id', '=', param('organizationId')),
    ),
    place: compiler.statement<Schema['feed']>()((param) =>
      builder
        .updateTable('feed')
        .set({
          organization_id: param('organization_id'),
          seq: param('seq'),
          repo: param('repo'),
          digest: param('digest'),
        })
        .where('source', '=', param('source'))
        .where('version', '=', param('version'))
        .where('ordinal', '=', param('ordinal')),
    ),
    expire: compiler.statement<{ before: number; limit: number }>()((param) => {
      const old = builder
        .selectFrom('feed')
        .select(['source', 'version', 'ordinal'])
        .where('at', '<', param('before'))
        .where('digest', 'is', null)
        .where('seq', 'is not', null)
        .orderBy('at')
        .limit(param('limit'));
      return builder.deleteFrom('feed').where(sql<boolean>`(source, version, ordinal) in ${old}`);
    }),
  };
}

type Events = SelectQueryBuilder<Schema, 'feed', Schema['feed']>;
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

function listStatement(compiler: StatementCompiler, query: FeedQuery): Statement<FlatQuery, Schema['feed']> {
  return compiler.statement<FlatQuery>()((param) => {
    const all: Events = compiler.dialect.builder.selectFrom('feed').selectAll();
    return narrow(all, query, param)
      .where('seq', 'is not', null)
      .orderBy('seq', query.order === 'ASC' ? 'asc' : 'desc')
      .limit(param('limit') as number);
  });
}

function narrow(events: Events, query: FeedQuery, param: Placeholders<FlatQuery>): Events {
  const {
    targetBranch,
    prNumber,
    testId,
    types,
    hiddenTypes = [],
    from,
    until,
    afterSeq,
    order,
    repositoryIds,
  } = query;
  const items = (name: ListName) =>
    Array.from({ length: sizeOf(query[name] ?? []) }, (_, index) => param(`${name}${index}`) as never);
  let rows = events.where('organization_id', '=', param('organizationId') as OrganizationId);
  if (repositoryIds !== null) rows = rows.where('repository_id', 'in', items('repositoryIds'));
  if (targetBranch !== undefined) rows = rows.where('target_branch', '=', param('targetBranch') as string);
  if (prNumber !== undefined) rows = rows.where('pr_number', '=', param('prNumber') as number);
  if (testId !== undefined) rows = rows.where('test_id', '=', param('testId') as string);
  if (types !== undefined) rows = rows.where('type', 'in', items('types'));
  if (hiddenTypes.length > 0) rows = rows.where('type', 'not in', items('hiddenTypes'));
  if (from !== undefined) rows = rows.where('at', '>=', param('from') as number);
  if (until !== undefined) rows = rows.where('at', '<=', param('until') as number);
  if (afterSeq !== undefined) rows = rows.where('seq', order === 'ASC' ? '>' : '<', param('afterSeq') as number);
  return query.isAuditOnly === true ? rows.where('digest', 'is not', null) : rows;
}
