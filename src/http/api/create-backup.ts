import { createBackup as create } from '../../app/create-backup.ts';
import { createBackup } from '../contract/backups.ts';
import { route } from '../route.ts';

export const createBackupRoute = route(createBackup, ({ app }, { file }) => create(app, { file }));
