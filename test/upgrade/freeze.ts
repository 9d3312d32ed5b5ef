// `npm run freeze`: makes the data that the next version must open, in test/fixtures/upgrade/<version>. With
// SLUICE_DATABASE_URL, an empty database of the same PostgreSQL as the pg_dump of this machine, the dump of that.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readVersion } from '../../src/lib/version.ts';
import { makeFolder, startServer } from '../e2e/harness.ts';
import { ADMIN_TOKEN, makeHistory, readFacts } from './story.ts';

const { SLUICE_DATABASE_URL: url } = process.env;
const folder = fileURLToPath(new URL(`../fixtures/upgrade/${readVersion()}`, import.meta.url));
const name = url === undefined ? 'sqlite' : 'postgres';
mkdirSync(folder, { recursive: true });

const dataFolder = await makeFolder();
const database = url === undefined ? undefined : { SLUICE_DATABASE_URL: url };
const server = await startServer({ SLUICE_DATA: dataFolder, SLUICE_ADMIN_TOKEN: ADMIN_TOKEN, ...database });
await makeHistory(server, join(folder, `${name}.bundle`));
const facts = await readFacts(server.api);
if (url === undefined) await server.api.ok('createBackup', { file: 'frozen.db' });
await server.stop();
writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(facts, null, 1)}\n`);
const packed = gzipSync(url === undefined ? readFileSync(join(dataFolder, 'backups', 'frozen.db')) : dump(url), {
  level: 9,
});
writeFileSync(join(folder, url === undefined ? 'sluice.db.gz' : 'postgres.sql.gz'), packed);
process.stdout.write(`${folder}: ${name}, ${packed.length} bytes\n`);

/** As statements that any client sends, without commands of psql. */
function dump(database: string): string {
  const args = ['--inserts', '--no-owner', '--no-privileges', database];
  return execFileSync('pg_dump', args, { encoding: 'utf8' }).replaceAll(/^\\.*\n/gm, '');
}
