import path from 'node:path';
import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import { addExamples } from './core/arguments.ts';
import { withContext } from './core/context.ts';
import { clean } from './core/terminal.ts';

const BACKUP_FILE_TEXT = "A path on the server's machine, or a bare name in its own folder of backups.";

/** A store of many gigabytes takes longer to copy than any other call. */
const BACKUP_TIMEOUT_MS = 290_000;

export function defineBackup(command: Command): void {
  command
    .description('Copy the embedded store to a file, while the server goes on. Nothing is overwritten.')
    .argument('[file]', `${BACKUP_FILE_TEXT} Without it, a name with the time.`)
    .action(
      withContext(async (context, file: string | undefined) => {
        const body = file === undefined ? {} : { file: resolveBackupFile(file) };
        const reply = await context.call('createBackup', body, { timeoutMs: BACKUP_TIMEOUT_MS });
        context.show(reply, () => `${clean(reply.file)} (${formatSize(reply.sizeBytes)})`);
      }),
    );
  addExamples(command, ['sluice backup', 'sluice backup before-upgrade.db', 'sluice backup /var/backups/sluice.db']);
}

/** The server resolves a bare name; a path with a folder is relative to the shell's working directory. */
function resolveBackupFile(file: string): string {
  return /[\\/]/.test(file) ? path.resolve(file) : file;
}

function formatSize(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}

export function defineRestore(command: Command): void {
  command
    .description('Replace everything in the embedded store by a backup, tokens too. All of it, or nothing changes.')
    .argument('<file>', BACKUP_FILE_TEXT)
    .option('--yes', 'Do not ask. Needed where there is no terminal to ask at.')
    .action(
      withContext(async (context, file: string, options: { yes?: true }) => {
        const wanted = resolveBackupFile(file);
        if (!options.yes) {
          await confirm({
            warning: 'A restore replaces everything, tokens too.',
            question: `Replace everything that ${context.client.url} keeps by ${wanted}?`,
          });
        }
        const reply = await context.call('restoreBackup', { file: wanted }, { timeoutMs: BACKUP_TIMEOUT_MS });
        context.show(reply, () => `Everything is as in ${wanted} now. Tokens are those of the backup.`);
      }),
    );
  addExamples(command, ['sluice restore before-upgrade.db', 'sluice restore /var/backups/sluice.db --yes']);
}
