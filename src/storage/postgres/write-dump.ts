import { type SpawnOptions, spawn } from 'node:child_process';
import { writeBackupFile } from '../../lib/backup-file.ts';
import { splitPassword } from '../../lib/database-url.ts';
import { Fault } from '../../lib/fault.ts';
import { toStoreError } from './errors.ts';
import type { Server } from './pool.ts';

const PROGRAM = 'pg_dump';
/** The end of what it says is enough for the log. */
const MAX_SAID = 2_000;

// SPEC D23
export async function writeDump(
  server: Server,
  { url, file, signal }: { readonly url: string; readonly file: string; readonly signal: AbortSignal | undefined },
): Promise<{ readonly sizeBytes: number }> {
  await checkVersions(server);
  // Everybody on the machine can read arguments, and only the server's user its environment.
  const { address, password } = splitPassword(url, '');
  const options = {
    env: { ...publicEnvironment(), ...(password === undefined ? {} : { PGPASSWORD: password }) },
    ...(signal === undefined ? {} : { signal }),
  };
  return writeBackupFile(file, async (partial) => {
    const args = ['--format=custom', '--no-password', `--file=${partial}`, `--dbname=${address}`];
    const { code, said } = await run(args, options);
    if (code === 0) return;
    const sentence = `The backup ${file} was not written: ${PROGRAM} ended with ${code ?? 'a signal'}. It said: ${said}`;
    throw new Fault('STORE_UNAVAILABLE', sentence, { told: `${PROGRAM} failed. The log of the server has its words.` });
  });
}

/** An older program refuses a newer database. */
async function checkVersions({ connect, name }: Server): Promise<void> {
  const { said } = await run(['--version'], { env: publicEnvironment() });
  const asked = connect().then((client) => client.query('SHOW server_version').finally(() => client.release()));
  const { rows } = await asked.catch((error: unknown) => {
    throw toStoreError(name, error);
  });
  const of = (text: unknown) => /\d+(?:\.\d+)*/.exec(String(text))?.[0] ?? '0';
  const [program, database] = [of(said), of(rows[0]?.server_version)];
  if (Number.parseInt(program, 10) >= Number.parseInt(database, 10)) return;
  throw new Fault(
    'BACKUP_UNUSABLE',
    `${PROGRAM} ${program} of the server's machine cannot read PostgreSQL ${database}. Install the client programs of version ${Number.parseInt(database, 10)} or newer.`,
  );
}

/** Without secrets of Sluice. Of several hosts, the one that takes writes. */
function publicEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_'));
  return { PGAPPNAME: 'sluice', PGTARGETSESSIONATTRS: 'read-write', ...Object.fromEntries(own), LC_ALL: 'C' };
}

async function run(args: readonly string[], options: SpawnOptions): Promise<{ code: number | null; said: string }> {
  const child = spawn(PROGRAM, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-MAX_SAID);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(FAULTS[error.code ?? '']?.() ?? error));
    child.once('close', (code) => resolve({ code, said: said.trim() }));
  });
}

const FAULTS: Readonly<Record<string, () => Fault>> = {
  ENOENT: () =>
    new Fault(
      'BACKUP_UNUSABLE',
      `${PROGRAM} is not installed on the server's machine. Install the client programs of PostgreSQL there, or back the database up by other means.`,
    ),
  ABORT_ERR: () => new Fault('SHUTTING_DOWN', 'The server stops, and the backup was not finished.'),
};
