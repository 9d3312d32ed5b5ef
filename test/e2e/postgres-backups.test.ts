// `sluice backup` on PostgreSQL: the server runs the pg_dump of its machine.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createDatabase, INSTALLED_POSTGRES, query, startOwnPostgres } from '../helpers/postgres.ts';
import { makeFolder, startServer, until } from './harness.ts';
import { runSluice } from './run-sluice.ts';
import { createQueue, describeQueue } from './test-queue.ts';

const PASSWORD = 'secret/of the=database';
const TOKEN = 'the-administrator-of-all';

/** A folder for PATH in which pg_dump is this script. */
async function makeProgram(script: string): Promise<string> {
  const folder = await makeFolder();
  await writeFile(join(folder, 'pg_dump'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'pg_dump'), 0o755);
  return `${folder}${delimiter}${process.env['PATH']}`;
}

describe('backups of PostgreSQL', () => {
  const skip = INSTALLED_POSTGRES === undefined && 'no PostgreSQL with pg_dump is installed (Debian: postgresql)';
  test('a dump is whole, its password is no argument, its age is told, and a server goes on with it [D20] [D23] [M10]', {
    skip,
  }, async (t) => {
    const bin = join(INSTALLED_POSTGRES as string, 'bin');
    const postgres = await startOwnPostgres(INSTALLED_POSTGRES);
    const url = (await postgres.createDatabase()).replace('postgres@', `postgres:${encodeURIComponent(PASSWORD)}@`);
    const [seen, kept] = [join(await makeFolder(), 'seen'), await makeFolder()];
    const PATH = await makeProgram(`printf '%s\\n' "$@" "password=$PGPASSWORD" >> ${seen}; exec ${bin}/pg_dump "$@"`);
    const environment = { PATH, SLUICE_DATABASE_URL: url, SLUICE_ADMIN_TOKEN: TOKEN };
    const scheduled = { SLUICE_BACKUP_EVERY: '1h', SLUICE_BACKUP_DIR: kept };
    const server = await startServer({ ...environment, ...scheduled });
    t.after(() => server.stop());
    const queue = await createQueue(server.api, { requiredStatuses: [] });
    t.after(() => queue.close());
    const landed = await queue.submitOne();
    await queue.untilEntry(landed, ({ state }) => state === 'MERGED');
    await until('the scheduled backup is there', 60_000, async () => {
      return (await readdir(kept)).some((name) => /^sluice-[\dTZ.-]+\.dump$/.test(name)) || undefined;
    });
    const file = join(kept, 'by-a-person.dump');
    const made = await runSluice(['backup', file], server.env).ended;
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, /by-a-person\.dump \(\d+ (?:bytes|kB|MB)\)/);
    const again = await runSluice(['backup', file], server.env).ended;
    assert.match(again.err, /there is already a file of this name/);
    const metrics = (await server.api.send('metrics')).text;
    assert.match(metrics, /^mq_backup_age_seconds\{\} \d/m);
    assert.match(metrics, /^mq_backup_failures_total\{\} 0$/m);
    const lines = (await readFile(seen, 'utf8')).trim().split('\n');
    assert.ok(lines.includes(`password=${PASSWORD}`) && lines.includes('--format=custom'), lines.join('\n'));
    const others = lines.filter((line) => !line.startsWith('password='));
    assert.ok(!others.some((line) => line.includes('secret')), 'the password is no argument');

    const other = await postgres.createDatabase();
    await promisify(execFile)(join(bin, 'pg_restore'), ['--no-owner', '--dbname', other, file]);
    const after = await startServer({ ...environment, SLUICE_DATABASE_URL: other });
    t.after(() => after.stop());
    assert.equal((await describeQueue(queue, after.api).get(landed)).state, 'MERGED');
    assert.doesNotMatch((await after.api.send('metrics')).text, /mq_backup/);
  });

  test('a pg_dump that is older than the database, or missing, is named with what to install [D23]', async (t) => {
    const url = await createDatabase();
    const start = async (PATH: string) => {
      const server = await startServer({ PATH, SLUICE_DATABASE_URL: url, SLUICE_ADMIN_TOKEN: TOKEN });
      t.after(() => server.stop());
      return (await server.api.refused('400 VALIDATION_FAILED', 'createBackup', {})).detail;
    };
    const [{ version = '' } = {}] = (await query(url, ["select split_part(version(), ' ', 2) as version"])) as {
      version: string;
    }[];
    const sentence = await start(await makeProgram("echo 'pg_dump (PostgreSQL) 9.6.24'"));
    const major = Number.parseInt(version, 10);
    assert.equal(
      sentence,
      `pg_dump 9.6.24 of the server's machine cannot read PostgreSQL ${version}. Install the client programs of version ${major} or newer.`,
    );
    const { stdout: git } = await promisify(execFile)('sh', ['-c', 'command -v git']);
    const bare = await makeFolder();
    await symlink(git.trim(), join(bare, 'git'));
    assert.match(await start(bare), /^pg_dump is not installed on the server's machine\. /);
  });
});
