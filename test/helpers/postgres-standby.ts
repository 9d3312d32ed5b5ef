import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { otherUser, query, type TestPostgres } from './postgres.ts';

export interface Standby {
  /** The URL of a database on it. */
  urlOf(database: string): string;
  promote(): Promise<void>;
  /** Ends the server that it follows, as a power cut does. */
  killPrimary(): void;
}

/** A replica of a PostgreSQL, made as pg_basebackup makes one, that follows it. */
export async function startStandby(t: TestContext, { url }: Pick<TestPostgres, 'url'>): Promise<Standby> {
  const primary = new URL(url).searchParams.get('host') as string;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-standby-'));
  const data = join(folder, 'data');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_backup_start('standby', true)");
  const unwanted = /\/(postmaster\.(pid|opts)|pg_wal\/.+|pg_replslot\/.+)$/;
  cpSync(join(primary, 'data'), data, { recursive: true, filter: (source) => !unwanted.test(source) });
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
  await client.end();
  writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile);
  writeFileSync(join(data, 'standby.signal'), '');
  const settings = `\nprimary_conninfo = 'host=${primary} user=postgres'\nhot_standby = on\n`;
  writeFileSync(join(data, 'postgresql.auto.conf'), settings, { flag: 'a' });
  if (otherUser.uid !== undefined) await run('chown', ['-R', `${otherUser.uid}:${otherUser.gid}`, folder]);
  await run('chmod', ['700', data]);
  const binary = join(primary, 'native/bin/postgres');
  const options = ['-c', 'listen_addresses=', '-c', 'max_connections=200'];
  const child = spawn(binary, ['-D', data, '-k', folder, ...options], { ...otherUser, cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGQUIT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const urlOf = (database: string) => `postgres://postgres@localhost/${database}?host=${folder}`;
  while ((await query(urlOf('postgres'), ['SELECT 1']).catch(() => 'not yet')) === 'not yet') {
    if (child.exitCode !== null) throw new Error('the standby did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    urlOf,
    promote: async () => void (await query(urlOf('postgres'), ['SELECT pg_promote()'])),
    killPrimary: () => {
      const [pid] = readFileSync(join(primary, 'data/postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGQUIT');
    },
  };
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const [code] = (await once(spawn(command, args, { stdio: 'ignore' }), 'exit')) as [number];
  if (code !== 0) throw new Error(`${command} failed with ${code}`);
}
