import type { Command } from 'commander';
import { restoreBackup } from '../contract/backups.ts';
import { BACKUP_FILE_TEXT, BACKUP_TIMEOUT_MS, resolveBackupFile } from './backup.ts';
import { confirm } from './confirm.ts';
import { addExamples } from './core/arguments.ts';
import { withContext } from './core/context.ts';

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
        const reply = await context.call(restoreBackup, { file: wanted }, { timeoutMs: BACKUP_TIMEOUT_MS });
        context.show(reply, () => `Everything is as in ${wanted} now. Tokens are those of the backup.`);
      }),
    );
  addExamples(command, ['sluice restore before-upgrade.db', 'sluice restore /var/backups/sluice.db --yes']);
}
