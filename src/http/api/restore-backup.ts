import { restoreBackup as restore } from '../../app/restore-backup.ts';
import { restoreBackup } from '../contract/backups.ts';
import { route } from '../route.ts';

export const restoreBackupRoute = route(restoreBackup, ({ app }, { file }) => restore(app, { file }));
