import path from 'node:path';
import { isDatabaseUrl, splitPassword } from '../lib/database-url.ts';
import { Fault } from '../lib/fault.ts';
import { local } from './core/command.ts';
import { CliError, EXIT, usageError } from './core/exit.ts';
import { drawStatus } from './core/status-line.ts';
import { say, write } from './core/terminal.ts';

export const MOVE = local({
  text: 'Copy everything of the embedded store into an empty PostgreSQL. No server may use the data folder meanwhile, and the folder stays as it is.',
  isAlone: true,
  takes: {
    '--to <url>': 'The address of the database, postgres://user@host/database. Default: SLUICE_DATABASE_URL.',
  },
  examples: [
    'SLUICE_DATA=/var/lib/sluice PGPASSWORD="$(cat password)" sluice move --to postgres://sluice@db/sluice',
    'SLUICE_DATABASE_URL="$(cat database-url)" sluice move',
  ],
  start: ({ to }) => move(to),
});

// SPEC W62
async function move(to: string | undefined): Promise<void> {
  const url = to ?? process.env['SLUICE_DATABASE_URL']?.trim();
  if (!url) throw usageError('Name the database: --to postgres://user@host/database, or SLUICE_DATABASE_URL.');
  if (!isDatabaseUrl(url)) throw usageError('The address of the database must begin with postgres://.');
  const { address, password } = splitPassword(url, ':PASSWORD');
  if (to !== undefined && password !== undefined) {
    say('Everybody on this machine can read the password in the list of processes. SLUICE_DATABASE_URL avoids that.');
  }
  const dataFolder = path.resolve(process.env['SLUICE_DATA'] || 'data');
  const { moveStore } = await import('../move-store.ts');
  const moved = await moveStore({ dataFolder, url, onProgress: createProgress() }).catch((error: unknown) => {
    if (error instanceof Fault) throw new CliError(EXIT.refused, sentenceOf(error));
    throw error;
  });
  const audits = moved.audits.map(
    ({ organization, records, digest }) =>
      `The audit of ${organization} has ${records} records there, none changed. Digest: ${digest ?? 'none'}\n`,
  );
  write(
    `${moved.rows} rows of ${moved.tables} tables are in ${moved.database} now, counted in both.\n${audits.join('')}` +
      `${path.join(dataFolder, 'sluice.db')} is as it was. The other files of ${dataFolder} stay in use: keys, connections to forges, copies of repositories.\n` +
      `Next: SLUICE_DATA=${dataFolder} SLUICE_DATABASE_URL='${address}' sluice serve\n`,
  );
}

function sentenceOf({ code, detail }: Fault): string {
  return code === 'STORE_LOCKED' ? `${detail} Stop it first.` : detail;
}

const LINE_EVERY_MS = 10_000;

interface TableProgress {
  readonly table: string;
  readonly copied: number;
  readonly total: number;
}

/** Shows how far the copy is: on one line of a terminal, elsewhere as a line now and then. */
function createProgress(): (progress: TableProgress) => void {
  let toldAt = performance.now();
  return ({ table, copied, total }) => {
    const text = `${table}: ${copied} of ${total} rows (${Math.floor((100 * copied) / Math.max(1, total))}%)`;
    if (process.stderr.isTTY) {
      drawStatus(process.stderr, text);
      if (copied >= total) drawStatus(process.stderr);
    } else if (performance.now() - toldAt > LINE_EVERY_MS) {
      toldAt = performance.now();
      say(text);
    }
  };
}
