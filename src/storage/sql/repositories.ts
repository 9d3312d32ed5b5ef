import { assert } from '../../lib/assert.ts';
import { REPOSITORY_FACT } from '../past.ts';
import type { Repository, RepositoryId, RepositoryRef, RepositoryStore } from '../repositories.ts';
import { repositoryChangeStatements, takeOfRepository } from './feed-changes.ts';
import { feedInserts } from './feed-waiting.ts';
import { execute, executeAll, findRow, first, listRows, type Operation, run, type SqlEngine } from './operation.ts';
import { factStatements } from './past-facts.ts';
import { fromPastFact, fromRepository, toRepository } from './rows.ts';
import { partStatements } from './run-parts.ts';
import { SECRET } from './secrets.ts';
import { replacing, type StatementCompiler } from './statement.ts';

type RepositoryStatements = ReturnType<typeof repositoryStatements>;

export function createRepositoryStore(engine: SqlEngine, compiler: StatementCompiler): RepositoryStore {
  const statements = repositoryStatements(compiler);
  const removals = removalStatements(compiler);
  const insertFeed = feedInserts(compiler);
  return {
    save: (repository, feed = []) =>
      engine.write(function* () {
        const stored = yield* upsert(statements.save, repository);
        yield* executeAll(insertFeed(feed));
        return stored;
      }),
    ensure: (repository) => engine.write(() => upsert(statements.ensure, repository)),
    find: (organizationId, ref) =>
      engine.read(() => findRow(statements.find, { ...ref, organizationId }, toRepository)),
    findSpelled: (organizationId, ref) =>
      engine.read(() => findRow(statements.findSpelled, { ...inSmallLetters(ref), organizationId }, toRepository)),
    list: (organizationId) => engine.read(() => listRows(statements.list, { organizationId }, toRepository)),
    listAll: () => engine.read(() => listRows(statements.listAll, {}, toRepository)),
    rename: (id, ref, at, feed = []) =>
      engine.write(function* () {
        const outcome = yield* rename(statements, { ...ref, id, at });
        if (outcome === 'renamed') yield* executeAll(insertFeed(feed));
        return outcome;
      }),
    identify: (id, forgeId) => engine.write(() => run(statements.identify, { id, forgeId })),
    bar: (id, reason, at) =>
      engine.write(function* () {
        yield* recordBefore(statements, id, at);
        yield* run(statements.bar, { id, reason });
      }),
    ...publicNames(engine, compiler),
    remove: (id, feed = []) =>
      engine.write(function* () {
        const outcome = yield* remove({ ...statements, insertFeed }, removals, id);
        if (outcome === 'removed') yield* executeAll(insertFeed(feed));
        return outcome;
      }),
  };
}

/** The rows of `meta` whose names begin so. */
const PUBLIC = 'public_read ';

type PublicNames = Pick<RepositoryStore, 'listPublicNames' | 'bindPublicName' | 'releasePublicName'>;

/** The rows stay when the repository is removed: another one of its name must not take its place. */
function publicNames(engine: SqlEngine, compiler: StatementCompiler): PublicNames {
  const { sql } = compiler;
  const list = sql('select * from meta where name like :pattern');
  const bind = sql('insert into meta (name, value) values (:name, :value) on conflict (name) do nothing');
  const release = sql('delete from meta where name = :name');
  return {
    listPublicNames: () =>
      engine.read(function* () {
        const rows = yield* listRows(
          list,
          { pattern: `${PUBLIC}%` },
          (row) => [row.name.slice(PUBLIC.length), row.value] as const,
        );
        return new Map(rows as readonly (readonly [string, RepositoryId])[]);
      }),
    bindPublicName: (name, id) => engine.write(() => run(bind, { name: PUBLIC + name, value: id })),
    releasePublicName: (name) => engine.write(() => run(release, { name: PUBLIC + name })),
  };
}

function* upsert(statement: RepositoryStatements['save'], repository: Repository): Operation<Repository> {
  const row = yield* first(statement, fromRepository(repository));
  assert(row !== undefined, 'an upsert answers its row');
  return toRepository(row);
}

type Rename = RepositoryRef & { readonly id: string; readonly at: number };

function* rename(
  statements: RepositoryStatements,
  { id, at, ...ref }: Rename,
): Operation<'renamed' | 'taken' | 'gone'> {
  const organizationId = (yield* first(statements.lock, { id }))?.organization_id;
  if (organizationId === undefined) return 'gone';
  const there = yield* first(statements.find, { ...ref, organizationId });
  if (there !== undefined && there.id !== id) return 'taken';
  yield* recordBefore(statements, id, at);
  yield* execute(statements.rename, { ...ref, id, at });
  return 'renamed';
}

/** Keeps what explanations say of a repository until now: its name, and why it is blocked. */
function* recordBefore(statements: RepositoryStatements, id: string, at: number): Operation<void> {
  const row = yield* first(statements.findById, { id });
  if (row === undefined) return;
  const last = yield* first(statements.findLastFact, { subject: id, key: REPOSITORY_FACT });
  const { host, owner, name, blockedReason } = toRepository(row);
  const body = JSON.stringify({ host, owner, name, blockedReason });
  const fact = { subject: id, key: REPOSITORY_FACT, fromAt: last?.until_at ?? 0, untilAt: at, body };
  yield* executeAll(statements.beginFacts([fromPastFact(fact)]));
}

// SPEC X7
function* remove(
  statements: RepositoryStatements & { readonly insertFeed: ReturnType<typeof feedInserts> },
  removals: ReturnType<typeof removalStatements>,
  id: string,
): Operation<'removed' | 'has_queues'> {
  // The lock keeps a queue from being created meanwhile: its foreign key waits for this row.
  yield* first(statements.lock, { id });
  if ((yield* first(statements.findQueue, { id })) !== undefined) return 'has_queues';
  yield* executeAll(statements.insertFeed(yield* takeOfRepository(statements, id)));
  // The sequencer could not look it up any more.
  yield* execute(statements.nameOrganization, { id });
  for (const removal of removals) yield* execute(removal, { id });
  return 'removed';
}

function repositoryStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  const replacement = replacing('repositories', ['organization_id', 'host', 'owner', 'name'], ['id', 'created_at']);
  return {
    ...factStatements(compiler),
    ...repositoryChangeStatements(compiler),
    ...rowStatements(compiler),
    findById: sql('select * from repositories where id = :id'),
    save: compiler.insertOne('repositories', `${replacement} returning *`),
    // It sets the name to itself: a row that nothing is set in would not be answered.
    ensure: compiler.insertOne(
      'repositories',
      'on conflict (organization_id, host, owner, name) do update set name = excluded.name returning *',
    ),
    find: sql(`
      select * from repositories
      where organization_id = :organizationId and host = :host and owner = :owner and name = :name`),
    findSpelled: sql(`
      select * from repositories
      where organization_id = :organizationId and host = :host and lower(owner) = :owner and lower(name) = :name
      order by created_at, id limit 1`),
    list: sql('select * from repositories where organization_id = :organizationId order by host, owner, name'),
    listAll: sql('select * from repositories order by host, owner, name, id'),
  };
}

/** Changes of a repository that exists. */
function rowStatements({ sql }: StatementCompiler) {
  return {
    lock: sql('select id, organization_id from repositories where id = :id for update'),
    rename: sql('update repositories set host = :host, owner = :owner, name = :name, updated_at = :at where id = :id'),
    identify: sql('update repositories set forge_id = :forgeId where id = :id and forge_id is null'),
    bar: sql('update repositories set blocked_reason = :reason where id = :id'),
    nameOrganization: sql(`
      update feed_waiting set organization_id = (select organization_id from repositories where id = :id)
      where repository_id = :id`),
    findQueue: sql('select id from queues where repository_id = :id and deleted_at is null limit 1'),
  };
}

/** Everything that names the repository, with the remains of its deleted queues, in an order its keys allow. */
function removalStatements(compiler: StatementCompiler) {
  const { raw } = compiler;
  const tables = [
    ...['queue_events', 'entries', 'transitions', 'candidates', 'effects', 'impacted_targets'],
    ...['alarms', 'audit_marks', 'queue_changes', 'queue_packs', 'queue_pack_keys'],
  ];
  const ofQueues = tables.map((table) =>
    raw<{ id: string }>(`delete from ${table} where queue_id in (select id from queues where repository_id = :id)`),
  );
  // Bodies of uploads and runs stay behind without a name, and are tidied away in pieces.
  // Numbers first: whoever stores results of it at this moment is waited for, and whoever comes later finds none.
  const ofTests = [
    ...['test_sequences', 'upload_sequences'],
    ...['test_states', 'test_memories', 'test_batches', 'test_failures', 'test_failure_texts'],
    ...['test_events', 'check_results', 'tests', 'test_owners', 'test_figures', 'test_pull_requests'],
    ...['uploads', 'ingest_leases', 'test_settings', 'test_setting_changes', 'pull_request_notes'],
  ];
  const ofRepository = ['queues', ...ofTests].map((table) =>
    raw<{ id: string }>(`delete from ${table} where repository_id = :id`),
  );
  const secrets = raw<{ id: string }>(`delete from meta where name like '${SECRET}' || :id || ' %'`);
  const itself = raw<{ id: string }>('delete from repositories where id = :id');
  return [...ofQueues, ...ofRepository, partStatements(compiler).retireAll, secrets, itself];
}

/** A-Z alone, as the databases do it: names on a forge have no other letters. */
function inSmallLetters({ host, owner, name }: RepositoryRef): RepositoryRef {
  return { host, owner: small(owner), name: small(name) };
}

function small(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
