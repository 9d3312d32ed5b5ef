import { restoreBackup as restore } from '../../app/restore-backup.ts';
import { restoreBackup } from '../contract/backups.ts';
import { route } from '../route.ts';

export const restoreBackupRoute = route(restoreBackup, async ({ app, auth }, { file }) => {
  const outcome = await restore(app, { file });
  auth.forget();
  return outcome;
});
