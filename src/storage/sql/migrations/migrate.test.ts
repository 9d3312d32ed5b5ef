import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createFolder, isFault, openStore } from '../../../../test/contract/store-folder.ts';
import { pluck } from '../../../../test/helpers/pluck.ts';
import { createEmptyDatabase, openPostgres, query } from '../../../../test/helpers/postgres.ts';
import {
  aCandidate,
  aCommit,
  aFailure,
  anEffect,
  anEntry,
  asStored,
  aTest,
} from '../../../../test/helpers/store-rows.ts';
import { applyResults } from '../../../../test/helpers/test-results.ts';
import type { OrganizationId } from '../../accounts.ts';
import { PostgresEngine } from '../../postgres/engine.ts';
import { openPostgresStore } from '../../postgres/open-postgres-store.ts';
import { createServer } from '../../postgres/pool.ts';
import type { QueueId } from '../../queues.ts';
import type { RepositoryId } from '../../repositories.ts';
import { APPLICATION_ID } from '../../sqlite/database.ts';
import { SqliteEngine } from '../../sqlite/engine.ts';
import type { Store } from '../../store.ts';
import { postgresDialect, type SqlDialect, sqliteDialect } from '../dialect.ts';
import { all, type SqlEngine } from '../operation.ts';
import { TABLES } from '../schema.ts';
import { StatementCompiler } from '../statement.ts';
import { MIGRATIONS } from './all.ts';
import { migrate, migrationTexts, type OnMigrated } from './migrate.ts';
import type { Migration } from './migration.ts';

/** The migrations of the first release. */
const RELEASED = 7;

/**
 * Rows as servers of each version wrote them, by the version that could first. They are plain SQL, which no later
 * change of the code reaches.
 */
const ROWS: readonly (readonly string[])[] = [
  [
    `insert into meta values ('signing_key', '${'ab'.repeat(32)}')`,
    `insert into organizations values ('o1', 'acme', 1)`,
    `insert into tokens values ('t1', 'o1', 'ci', 'h1', '["read","instance"]', null, 'api', 2, null, null, null)`,
    `insert into repositories values ('r1', 'o1', 'git.example', 'acme', 'app', null, '12', 'why', true, '[]', '[]', false, 3, 3)`,
    `insert into queues values ('q1', 'r1', 'main', 2, '{"q":1}', 4, null)`,
    `insert into queue_events values ('q1', 1, 4, 'queue_created', '{}'), ('q1', 2, 5, 'submitted', '{}')`,
    `insert into entries values ('e1', 'q1', 7, 2, true, 'QUEUED', 5, 'd1', '{"e":1}')`,
    `insert into transitions values ('q1', 'e1', 7, 2, 0, 5, null, 'QUEUED', false, null, null, '{}')`,
    `insert into effects values ('q1', 'f1', 2, 0, 'build_candidate', '', 5, '{}', 0, null, null, null, null)`,
    `insert into effects values ('q1', 'f2', 2, 1, 'notify', 's', 5, '{}', 2, 'why', null, 'x', 9)`,
    `insert into target_sets values ('d1', '["a"]', 7), ('d2', '["unused"]', 7)`,
    `insert into impacted_targets values ('q1', 7, 'sha', '{}', 'd1', 5, false), ('q1', 8, 'sha', '{}', null, 5, true)`,
    `insert into candidates values ('q1', 1, 'c1', 2, true, 'testing', false, 'sha', 8, null, '{"c":1}')`,
    `insert into logs values ('c1', 'unit', 42, 9)`,
    `insert into log_chunks values ('c1', 'unit', 0, 2, 'plain', hex'6f6b')`,
    `insert into log_chunks values ('c1', 'unit', 2, 40, 'zstd', hex'28b52ffd202845000010212101001f8005')`,
    `insert into alarms values ('a1', 'q1', 'FOREIGN_PUSH', 'somebody pushed', 9, null)`,
    `insert into audit_marks values ('q1', 'sha', 2, 9)`,
    `insert into test_sequences values ('r1', 1, 1, 1, 0, 1, 1, 0)`,
    `insert into tests values ('r1', 'x1', 1, 'adds', '', null, null, null, '[]', 6, 'FLAKY', 'why', 6, 'UNSPECIFIED', null, 6, false, '[]', null, 'adds')`,
    `insert into test_states values ('r1', 'FLAKY', 'x1', 1, null), ('r1', 'QUARANTINED', 'x1', 1, null)`,
    `insert into test_memories values ('r1', 1, 1, null, 0, 6, '{}', '[]')`,
    `insert into test_batches values ('r1', 1, 'u1', 'main', 'sha', '', null, 'unit', null, 7, null, false, 6, 1, 1)`,
    `insert into run_parts values (1, 'r1', null, 1, 6, 6, 1, 1)`,
    `insert into runs values (1, 1, 6, 1500, 1, 0, 1, false)`,
    `insert into test_failures values ('r1', 1, 6, 1, 0, 7, true, false, 'g', 'boom')`,
    `insert into test_failure_texts values ('r1', 1, 0, 1, 6, 'boom!', null)`,
    `insert into test_events values ('r1', 'x1', 6, 1, 0, 'status_changed', null, '{}')`,
    `insert into uploads values ('u1', 'r1', 1, 'reports', 'PROCESSED', 6, 7, null, null, null, null, '[]', 5, 1, 1, '[]', null, null, 0, null, null, false, null, null, null, null, false)`,
    `insert into upload_sequences values ('r1', 1)`,
    `insert into test_settings values ('r1', 1, '{}', '[]', 0, '[]', 'ada', 6)`,
    `insert into test_setting_changes values ('r1', 1, 6, 'ada', '{}', '[]')`,
    `insert into hints values ('h', 'k1', 'branch', '{}', 6, 7, 3, 1, 'x', 8, null), ('h', 'k2', 'comment', '{}', 6, 7, 1, 0, null, null, 99)`,
    `insert into pull_request_notes values ('r1', 7, 2, '{"n":1}')`,
    `insert into feed values ('q1', 1, 0, 4, 'queue.created', 'o1', 'r1', 'q1', 'main', null, null, '{"a":1}', 1, '{"name":"app"}', 'd')`,
    `insert into feed values ('q1', 2, 0, 5, 'pull_request.queued', null, 'r1', 'q1', 'main', 7, null, '{"b":"é"}', null, null, null)`,
    `insert into feed_heads values ('o1', 1, 'd')`,
  ],
  [`insert into idempotent_requests values ('t1', 'k1', 'd1', 6, '{"a":1}'), ('t1', 'k2', 'd2', 7, null)`],
  [
    `insert into queue_changes values ('q2', 1, 4, 1, 'w')`,
    `insert into past_facts values ('r1', 'repository', 0, 5, '{"name":"old"}')`,
  ],
  [`insert into sessions values ('s1', 't1', 6, 7, false)`],
  [
    `insert into feed_waiting values ('q1', 3, 0, null, 'r1', 1, '[{"source":"q1","version":3,"ordinal":0,"at":6,"type":"pull_request.merged","organizationId":null,"repositoryId":"r1","queueId":"q1","targetBranch":"main","prNumber":7,"testId":null,"body":"{}"}]')`,
  ],
  [],
  [`insert into queue_changes values ('q1', 4, 12, 1, 'v', '4\t0\t12\t7\tpull_request.merged\t{}')`],
  [
    `insert into sessions values ('s2', '', 6, 7, false, 'o1', '{"provider":"sso","subject":"1","name":"Ada","groups":[],"logins":{}}')`,
  ],
  [`insert into servers values ('server-1', 'http://10.0.0.5:8080', '0.2.0', 8)`],
  [
    `insert into tokens values ('t2', 'o1', 'own', 'h2', '["read"]', null, 'api', 9, 20, null, null, 'Ada (sso:1)', '{"provider":"sso","subject":"1","name":"Ada","groups":[],"logins":{}}', 8)`,
  ],
  [],
  [],
  [
    `insert into test_batches values ('r1', 0, 'u0', 'main', 'other', '', null, 'unit', null, 7, null, false, 6, null, 0, 'tree', 'c1')`,
  ],
];

/** As a server makes it before the first runs of a period are stored. */
const PARTITION = 'create table runs_0 partition of runs for values from (0) to (100000)';

/** The store as a server of this version left it. */
function statementsOf(dialect: SqlDialect, version: number): string[] {
  const created = MIGRATIONS.slice(0, version).flatMap((migration, index) => [
    ...migrationTexts(migration, dialect),
    `insert into migrations values (${index + 1}, '${migration.name}', 0)`,
    ...(dialect.hasPartitions && index === 0 ? [PARTITION] : []),
    ...(ROWS[index] ?? []).map((row) => row.replace(/hex'(\w+)'/, dialect.hasRowLocks ? "'\\x$1'" : "x'$1'")),
  ]);
  const log = 'create table migrations (version bigint primary key, name text not null, applied_at bigint not null)';
  return [log, ...created];
}

/** The queue is older than the past, which begins when it is packed first. */
async function checkPast({ past }: Store): Promise<void> {
  const queueId = 'q1' as QueueId;
  const packing = { bytes: 1_000, before: 0, now: 10 };
  assert.deepEqual(await past.listUnpacked(packing.bytes, packing.before), [queueId]);
  assert.equal(await past.findBegin(queueId), undefined);
  assert.equal(await past.pack(queueId, packing), 1);
  assert.deepEqual(await past.listUnpacked(packing.bytes, packing.before), []);
  assert.deepEqual(await past.findBegin(queueId), { version: 2, at: 10 });
  assert.equal(await past.load(queueId, 9), undefined);
  const then = await past.load(queueId, 11);
  assert.deepEqual([then?.snapshot.entries.length, then?.snapshot.candidates.length], [1, 1]);
  assert.deepEqual(then?.snapshot.targetSets, [{ digest: 'd1', body: '["a"]' }]);
}

/** Events that had no place yet get theirs behind the others. */
async function checkFeed({ feed }: Store): Promise<void> {
  await feed.sequence(() => null, 9);
  const organizationId = 'o1' as OrganizationId;
  const listed = await feed.list({ organizationId, repositoryIds: null, order: 'ASC', limit: 9 });
  const [first, second, ...later] = listed;
  assert.deepEqual([first?.seq, first?.digest, second?.version, second?.digest], [1, 'd', 2, null]);
  assert.deepEqual(
    [second?.prNumber, second?.body, second?.repo],
    [7, '{"b":"é"}', { host: 'git.example', owner: 'acme', name: 'app' }],
  );
  assert.ok(later.every(({ seq, version }, index) => seq === (second?.seq ?? 0) + 1 + index && version === 3 + index));
}

async function checkRows(store: Store): Promise<void> {
  await checkPast(store);
  await checkFeed(store);
  const { accounts, repositories, queues, queueRecords, tests, signingKey } = store;
  assert.equal(Buffer.from(signingKey).toString('hex'), 'ab'.repeat(32));
  assert.equal((await accounts.findToken('h1'))?.organization.slug, 'acme');
  const [repository, ...others] = await repositories.list('o1' as OrganizationId);
  assert.deepEqual([repository?.forgeId, repository?.blockedReason], ['12', 'why']);
  assert.deepEqual([repository?.runHooks, repository?.trustChecks], [true, false]);
  assert.deepEqual(others, []);
  const queueId = 'q1' as QueueId;
  const repositoryId = 'r1' as RepositoryId;
  const loaded = await queues.load(queueId);
  assert.deepEqual(loaded?.entries, [
    anEntry(queueId, 7, { id: 'e1', submittedAt: 5, targetsDigest: 'd1', body: '{"e":1}' }),
  ]);
  assert.deepEqual(loaded?.targetSets, [{ digest: 'd1', body: '["a"]' }]);
  assert.equal(await queues.removeUnusedTargetSets(8), 1);
  assert.equal((await queues.findImpactedTargets(queueId, 7, 'sha'))?.isOfFork, false);
  assert.equal((await queues.findImpactedTargets(queueId, 8, 'sha'))?.isOfFork, true);
  assert.equal((await queueRecords.listTransitions('e1')).length, 1);
  assert.equal((await queueRecords.listEvents(queueId, 0, 9)).length, 2);
  const candidate = aCandidate(queueId, 1, { id: 'c1', state: 'testing', sha: 'sha', createdAt: 8, body: '{"c":1}' });
  assert.deepEqual(loaded?.candidates, [candidate]);
  await checkEffects(store);
  await checkLogsAndAlarms(store);
  const row = aTest(repositoryId);
  const seq = await applyResults(store, { repositoryId, tests: [row], runs: [aFailure(row.id, { startedAt: 7 })] });
  const page = { repositoryId, watermark: seq, offset: 0, limit: 9 };
  assert.equal(seq, 2);
  assert.equal((await tests.listFailing({ ...page, from: 0, until: 9 })).totalRows, 2);
  assert.equal((await tests.listQuarantined(page)).totalRows, 1);
  await checkResults(store);
  await checkHints(store);
  await checkAnswers(store);
}

async function checkAnswers({ idempotentRequests: requests }: Store): Promise<void> {
  const limits = { expiredBefore: 0, abandonedBefore: 0 };
  const request = { tokenId: 't1', key: 'k3', digest: 'd3', startedAt: 8 };
  assert.equal(await requests.begin(request, limits), undefined);
  const known = await requests.begin({ ...request, key: 'k1' }, limits);
  assert.ok(known === undefined || known.answer === '{"a":1}');
}

async function checkHints({ hints, pullRequestNotes }: Store): Promise<void> {
  const hint = { host: 'h', key: 'k1', kind: 'branch', body: '{}', receivedAt: 6, dueAt: 7 };
  const claim = { holder: 'y', now: 8, leaseUntil: 9, limit: 9 };
  assert.deepEqual(await hints.claim(claim), [{ ...hint, version: 3, attempts: 1 }]);
  assert.equal(await hints.add([{ ...hint, key: 'k2' }]), 0);
  const note = { repositoryId: 'r1' as RepositoryId, prNumber: 7, version: 2, body: '{"n":1}' };
  assert.deepEqual(await pullRequestNotes.find(note.repositoryId, 7), note);
}

async function checkResults({ tests, testIngest, uploads, testSettings }: Store): Promise<void> {
  const repositoryId = 'r1' as RepositoryId;
  const page = { repositoryId, watermark: 9, offset: 0, limit: 9 };
  const runs = await tests.listRuns({ ...page, testId: 'x1', since: 0, branch: 'main', conclusion: null });
  assert.deepEqual(pluck(runs.runs, 'startedAt', 'durationMs', 'sha', 'failureText'), [[6, 1.5, 'sha', 'boom!']]);
  assert.equal((await tests.listEvents({ ...page, testId: 'x1' })).totalRows, 1);
  assert.equal((await uploads.list(page)).uploads[0]?.id, 'u1');
  assert.deepEqual(await testSettings.listBehind(), ['r1']);
  // Earlier versions store no trees: a commit of theirs stands for itself.
  const place = { sha: 'sha', job: '', exceptUploadId: '', beforeSeq: 2, limit: 9 };
  const found = await testIngest.findEarlier(repositoryId, { ...place, ofTree: { tree: 'tree', since: 0 } });
  assert.deepEqual([found[0]?.seq, found[0]?.facts.tree], [1, null]);
}

async function checkEffects({ queues, effects }: Store): Promise<void> {
  const queueId = 'q1' as QueueId;
  const old = asStored(queueId, anEffect({ id: 'f1', stream: '', dueAt: 5 }));
  const effect = anEffect({ id: 'f2', kind: 'notify', stream: 's', dueAt: 5 });
  const tried = asStored(queueId, effect, { attempts: 2, lastError: 'why' });
  assert.deepEqual(await effects.list(queueId), [old, tried]);
  const claim = { holder: 'y', now: 8, leaseUntil: 20, limit: 9 };
  assert.deepEqual(await effects.claim(claim), [old]);
  assert.equal(await effects.settle({ id: 'f2' }, 'x', { kind: 'done' }), 'settled');
  assert.equal(await queues.commit(aCommit(queueId, 2, { doneEffects: ['f1'] })), 'committed');
  assert.deepEqual(await effects.list(queueId), []);
}

async function checkLogsAndAlarms({ logs, alarms }: Store): Promise<void> {
  const [key, queueId] = [{ candidateId: 'c1', check: 'unit' }, 'q1' as QueueId];
  await logs.append(key, Buffer.from('?'), 10);
  assert.equal(Buffer.from((await logs.read(key, 0, 99))?.bytes ?? []).toString(), `ok${'!'.repeat(40)}?`);
  const alarm = { id: 'a1', queueId, code: 'FOREIGN_PUSH', text: 'somebody pushed', at: 9 };
  assert.equal(await alarms.raise(alarm), 'known');
  assert.deepEqual(await alarms.list([queueId], 0, 9), [{ ...alarm, endedAt: null }]);
  const mark = { sha: 'sha', version: 2, at: 9 };
  assert.equal(await alarms.setMark(queueId, mark, undefined), 'stale');
  assert.deepEqual(await alarms.findMark(queueId), mark);
}

const STEPS: readonly Migration[] = [
  { name: '001-pets', statements: () => ['create table pets (name TEXT not null)', `insert into pets values ('Rex')`] },
  { name: '002-ages', statements: () => ['alter table pets add column age bigint not null default 1'] },
];
const BROKEN_STEP: Migration = {
  name: '003-broken',
  statements: () => ['alter table pets add column race TEXT', 'this is not SQL'],
};

async function checkSteps(engine: SqlEngine, dialect: SqlDialect): Promise<void> {
  const compiler = new StatementCompiler(dialect);
  const told: string[] = [];
  const onMigrated: OnMigrated = ({ version, name, ms }) => told.push(`${version} ${name} ${ms >= 0}`);
  await migrate(engine, compiler, { migrations: STEPS.slice(0, 1), onMigrated });
  for (const _ of ['first', 'again']) await migrate(engine, compiler, { migrations: STEPS, onMigrated });
  const broken = migrate(engine, compiler, { migrations: [...STEPS, BROKEN_STEP], onMigrated });
  await assert.rejects(broken, /this is not SQL|"this"/);
  // A new store has nothing to migrate.
  assert.deepEqual(told, ['2 002-ages true']);
  const read = (text: string) => engine.read(() => all(compiler.raw(text), {}));
  const applied = await read('select version, name from migrations order by version');
  assert.deepEqual(
    applied.map((row) => ({ ...(row as object) })),
    STEPS.map(({ name }, index) => ({ version: index + 1, name })),
  );
  const pets = await read('select * from pets');
  assert.deepEqual({ ...(pets[0] as object) }, { name: 'Rex', age: 1 });
}

/** Tables and columns as the code names them, and those that only 0.2.0 uses while it is replaced. */
const DESCRIBED = Object.entries({ ...TABLES, servers: { id: 0, address: 0, version: 0, seen_at: 0 } }).flatMap(
  ([table, columns]) => Object.keys(columns).map((column) => `${table}.${column}`),
);

const VERSIONS = MIGRATIONS.map((_, index) => index + 1);

describe('migrations of SQLite', () => {
  for (const version of VERSIONS) {
    test(`a store of version ${version} is whole and usable after it is opened [Y8]`, async (t) => {
      const directory = await createFolder(t);
      const db = new DatabaseSync(join(directory, 'sluice.db'));
      db.exec(`pragma application_id = ${APPLICATION_ID}`);
      for (const statement of statementsOf(sqliteDialect, version)) db.exec(statement);
      db.close();
      await checkRows(await openStore(t, directory));
    });

    test(`a backup of version ${version} is restored`, async (t) => {
      const directory = await createFolder(t);
      const file = join(directory, 'backup');
      const db = new DatabaseSync(file);
      db.exec(`pragma application_id = ${APPLICATION_ID}`);
      for (const statement of statementsOf(sqliteDialect, version)) db.exec(statement);
      db.close();
      const store = await openStore(t, join(directory, 'data'));
      await store.snapshots?.restore(file);
      await checkRows(store);
    });
  }

  test('they make the tables and columns that the code names', async (t) => {
    const directory = await createFolder(t);
    await (await openStore(t, directory)).close();
    const db = new DatabaseSync(join(directory, 'sluice.db'));
    t.after(() => db.close());
    const query = `select t.name || '.' || c.name as name from sqlite_schema t, pragma_table_info(t.name) c
      where t.type = 'table'`;
    const names = db
      .prepare(query)
      .all()
      .map(({ name }) => String(name));
    assert.deepEqual(names.sort(), DESCRIBED.toSorted());
  });

  test('each step is applied once, in order, whole or not at all, and told [D44]', async (t) => {
    const engine = new SqliteEngine(new DatabaseSync(':memory:'));
    t.after(() => engine.close());
    await checkSteps(engine, sqliteDialect);
  });

  test('a newer store is refused [D3]', async (t) => {
    const directory = await createFolder(t);
    await (await openStore(t, directory)).close();
    const db = new DatabaseSync(join(directory, 'sluice.db'));
    db.exec(`insert into migrations values (${MIGRATIONS.length + 1}, 'of tomorrow', 0)`);
    db.close();
    await assert.rejects(openStore(t, directory), isFault('STORE_TOO_NEW', /newer Sluice/));
  });
});

describe('migrations of PostgreSQL', () => {
  for (const version of VERSIONS) {
    test(`a store of version ${version} is whole and usable after it is opened [Y8]`, async (t) => {
      const url = await createEmptyDatabase();
      await query(url, statementsOf(postgresDialect, version));
      const store = await openPostgres(t, url);
      await checkRows(store);
    });
  }

  test('they make the tables and columns that the code names', async () => {
    const url = await createEmptyDatabase();
    await (await openPostgresStore({ url })).close();
    const columns = `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public'`;
    const names = (await query(url, [columns])).map(({ name }) => String(name));
    assert.deepEqual(names.sort(), DESCRIBED.toSorted());
  });

  test('each step is applied once, in order, whole or not at all, and told [D44]', async (t) => {
    const engine = new PostgresEngine(createServer(await createEmptyDatabase()));
    t.after(() => engine.close());
    await checkSteps(engine, postgresDialect);
  });

  test('a newer store is refused [D3]', async () => {
    const url = await createEmptyDatabase();
    await (await openPostgresStore({ url })).close();
    await query(url, [`insert into migrations values (${MIGRATIONS.length + 1}, 'of tomorrow', 0)`]);
    await assert.rejects(openPostgresStore({ url }), isFault('STORE_TOO_NEW', /newer Sluice/));
  });

  test('many servers may open an empty database at once', async (t) => {
    const url = await createEmptyDatabase();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresStore({ url })));
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const keys = new Set(stores.map(({ signingKey }) => Buffer.from(signingKey).toString('hex')));
    assert.equal(keys.size, 1);
  });
});

test('migrations since the first release only add, and drop indexes, so that servers of the version before go on [D37]', () => {
  const adds =
    /^create (table|(unique )?index) |^drop index |^alter table \w+ add column \w+ (?!.*not null(?!.* default))/;
  for (const dialect of [sqliteDialect, postgresDialect]) {
    for (const migration of MIGRATIONS.slice(RELEASED)) {
      for (const text of migrationTexts(migration, dialect)) assert.match(text, adds, migration.name);
    }
  }
});
