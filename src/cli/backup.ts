import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { succeeds } from '../lib/succeeds.ts';
import { row } from './core/command.ts';
import { confirm } from './core/confirm.ts';
import type { Context } from './core/context.ts';
import { CliError } from './core/exit.ts';
import { drawStatus, type StatusStream } from './core/status-line.ts';
import { clean, formatSize } from './core/terminal.ts';

const BACKUP_FILE_TEXT = "A path on the server's machine, or a bare name in its own folder of backups.";

/** A store of many gigabytes takes longer to copy than any other call. */
const BACKUP_TIMEOUT_MS = 290_000;

export const BACKUP = row({
  text: 'Copy the store to a file, while the server goes on. Nothing is overwritten. On PostgreSQL, the server runs pg_dump.',
  takes: { '[file]': `${BACKUP_FILE_TEXT} Default: a name with the time.` },
  examples: ['sluice backup', 'sluice backup before-upgrade.db', 'sluice backup /var/backups/sluice.db'],
  run: async (context, { file }) => {
    const body = file === undefined ? {} : { file: resolveBackupFile(file) };
    const backup = context.act('createBackup', body, { timeoutMs: BACKUP_TIMEOUT_MS });
    const ask = async () => (await context.call('getServer', {})).backup;
    const reply = await (context.isJson ? backup : showProgress(backup, ask));
    context.show(reply, () => `${clean(reply.file)} (${formatSize(reply.sizeBytes)})`);
  },
});

const PROGRESS_EVERY_MS = 300;

interface CopyProgress {
  readonly copiedPages: number;
  readonly totalPages: number;
}

// SPEC W30
export async function showProgress<T>(
  work: Promise<T>,
  ask: () => Promise<CopyProgress | undefined>,
  stream: StatusStream = process.stderr,
): Promise<T> {
  if (!stream.isTTY) return work;
  const ended = succeeds(work).then(() => true);
  while (!(await Promise.race([ended, pause(PROGRESS_EVERY_MS, false)]))) {
    const progress = await ask().catch(() => undefined);
    if (progress !== undefined) drawStatus(stream, formatProgress(progress));
  }
  drawStatus(stream);
  return work;
}

function formatProgress({ copiedPages, totalPages }: CopyProgress): string {
  const percent = totalPages === 0 ? 0 : Math.floor((100 * copiedPages) / totalPages);
  return `${copiedPages} of ${totalPages} pages (${percent}%)`;
}

/** The server resolves a bare name; a path with a folder is relative to the shell's working directory. */
function resolveBackupFile(file: string): string {
  return /[\\/]/.test(file) ? path.resolve(file) : file;
}

// SPEC W31
async function describeTokens(context: Context, tokenFile: string | null): Promise<readonly string[]> {
  const { source } = context.token();
  const isUsable = await context.call('getServer', {}).then(
    () => true,
    (error: unknown) => !(error instanceof CliError && error.status === 401),
  );
  const used = isUsable
    ? `The token from ${source} counts.`
    : `The token from ${source} does not count any more, because the backup does not have it.`;
  const isSaid = tokenFile === null || (isUsable && path.resolve(source) === tokenFile);
  const file = isSaid ? [] : [`The token in ${tokenFile} on the server's machine administers the server.`];
  return ['The tokens of the backup count now.', used, ...file];
}

export const RESTORE = row({
  text: 'Replace everything in the embedded store by a backup, tokens too. All of it, or nothing changes.',
  takes: { '<file>': BACKUP_FILE_TEXT, '--yes': 'Do not ask. Required without a terminal.' },
  examples: ['sluice restore before-upgrade.db', 'sluice restore /var/backups/sluice.db --yes'],
  run: async (context, given) => {
    const file = resolveBackupFile(given.file);
    if (!given.yes) {
      await confirm({
        warning: 'A restore replaces everything, tokens too.',
        question: `Replace everything that ${context.client.url} keeps by ${file}?`,
      });
    }
    const reply = await context.act('restoreBackup', { file }, { timeoutMs: BACKUP_TIMEOUT_MS });
    const lines = [`Everything is as in ${file} now.`, ...(await describeTokens(context, reply.tokenFile))];
    context.show(reply, () => lines.map(clean).join('\n'));
  },
});
