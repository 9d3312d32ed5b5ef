import { createBackup } from '../../app/upkeep/create-backup.ts';
import { restoreBackup } from '../../app/upkeep/restore-backup.ts';
import * as backupsContract from '../../contract/backups.ts';
import * as serverContract from '../../contract/server.ts';
import { readVersion } from '../../lib/version.ts';
import { type Route, route } from '../core/route.ts';

export const SERVER_ROUTES: readonly Route[] = [
  route(serverContract.getServer, async ({ app }) => {
    const { protection, sentence, runsUntrusted } = app.checkRunner.safety;
    return { version: readVersion(), runner: { protection, sentence, runsUntrusted } };
  }),
  route(backupsContract.createBackup, ({ app }, { file }) => createBackup(app, { file })),
  route(backupsContract.restoreBackup, ({ app }, { file }) => restoreBackup(app, { file })),
];
