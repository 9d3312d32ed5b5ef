import path from 'node:path';
import type { Command } from 'commander';
import { createBackup } from '../contract/backups.ts';
import { addExamples } from './core/arguments.ts';
import { withContext } from './core/context.ts';
import { clean } from './core/terminal.ts';

export const BACKUP_FILE_TEXT = "A path on the server's machine, or a bare name in its own folder of backups.";

/** A store of many gigabytes takes longer to copy than any other answer. */
export const BACKUP_TIMEOUT_MS = 290_000;

export function defineBackup(command: Command): void {
  command
    .description('Copy the embedded store to a file, while the server goes on. Nothing is overwritten.')
    .argument('[file]', `${BACKUP_FILE_TEXT} Without it, a name with the time.`)
    .action(
      withContext(async (context, file: string | undefined) => {
        const body = file === undefined ? {} : { file: resolveBackupFile(file) };
        const reply = await context.call(createBackup, body, { timeoutMs: BACKUP_TIMEOUT_MS });
        context.show(reply, () => `${clean(reply.file)} (${formatSize(reply.sizeBytes)})`);
      }),
    );
  addExamples(command, ['sluice backup', 'sluice backup before-upgrade.db', 'sluice backup /var/backups/sluice.db']);
}

/** A bare name is the server's; anything with a folder in it is meant as the shell reads it. */
export function resolveBackupFile(file: string): string {
  return /[\\/]/.test(file) ? path.resolve(file) : file;
}

function formatSize(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
