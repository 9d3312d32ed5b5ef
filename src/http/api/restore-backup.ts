import { restoreBackup as restore } from '../../app/upkeep/restore-backup.ts';
import { restoreBackup } from '../../contract/backups.ts';
import { route } from '../core/route.ts';

export const restoreBackupRoute = route(restoreBackup, ({ app }, { file }) => restore(app, { file }));
