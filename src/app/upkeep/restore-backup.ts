import type { App } from '../core/app.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { noSnapshots, resolveBackup } from './create-backup.ts';

export async function restoreBackup(
  app: App,
  input: { readonly file: string },
): Promise<Record<string, never> | Refusal> {
  const { snapshots } = app.store;
  if (snapshots === undefined) return noSnapshots();
  const file = resolveBackup(app, input.file);
  if (isRefusal(file)) return file;
  await app.queues.withWritesPaused(() => app.ingest.withWritesPaused(() => snapshots.restore(file)));
  app.directory.forget();
  app.auth.forget();
  app.log.warn({ file }, 'backup restored');
  return {};
}
