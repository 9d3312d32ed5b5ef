import { createBackup as create } from '../../app/upkeep/create-backup.ts';
import { createBackup } from '../../contract/backups.ts';
import { route } from '../core/route.ts';

export const createBackupRoute = route(createBackup, ({ app }, { file }) => create(app, { file }));
