import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import type { QueueRow } from '../../src/storage/queues.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Violations } from './verdict.ts';

const MAX_ALARMS = 10;

export type StorePlace =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** No effect of a queue is left, and no alarm is open. The servers must have stopped. */
export async function checkStore(violations: Violations, place: StorePlace): Promise<void> {
  const store = place.kind === 'sqlite' ? await openSqliteStore(place) : await openPostgresStore(place);
  try {
    for (const queue of await listQueues(store)) {
      for (const effect of await store.effects.list(queue.id)) {
        const { kind, body, attempts, lastError } = effect;
        violations.add(`${queue.branch}: ${kind} is left: ${body}, ${attempts} attempts, ${lastError ?? 'no error'}`);
      }
      const alarms = await store.alarms.list([queue.id], 0, MAX_ALARMS);
      for (const { code, text } of alarms) violations.add(`${queue.branch} raised ${code}: ${text}`);
    }
  } finally {
    await store.close();
  }
}

async function listQueues({ repositories, queues }: Store): Promise<readonly QueueRow[]> {
  const found: QueueRow[] = [];
  for (const { id } of await repositories.listAll()) found.push(...(await queues.listByRepository(id)));
  return found;
}
