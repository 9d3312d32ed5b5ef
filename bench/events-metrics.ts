import { randomUUID } from 'node:crypto';
import { encodeEntry, encodeQueue, encodeTransition } from '../src/app/core/queue-codec.ts';
import { getMergeQueueMetrics } from '../src/app/queue/get-merge-queue-metrics.ts';
import { valuesOf } from '../src/lib/int-map.ts';
import type { QueueId } from '../src/storage/queues.ts';
import type { RepositoryId } from '../src/storage/repositories.ts';
import { createMemoryStore } from '../src/storage/sqlite/create-memory-store.ts';
import type { Store } from '../src/storage/store.ts';
import { aCommit, aRepository, storeOrganization, storeQueue } from '../test/helpers/store-rows.ts';
import { Scenario } from '../test/worlds/engine/scenario.ts';
import { createTestApp } from '../test/worlds/shell/create-app.ts';
import { printFigure, progress } from './lib/figure.ts';

const QUEUES = 200;
const BUSY = 20;
const READS = 20;
const HOUR_MS = 3_600_000;
const DAYS = 24 * HOUR_MS;

/** An hour in which every kind of thing happens: landings, failures, a bisection, restarts and cancellations. */
const BUSY_HOUR = `
  submit A B C D; wait 4m; fail ABCD; wait 3m
  submit E F G H; wait 2m; cancel F; restart G; wait 9m
`;

/** How large the answer of a scrape is with 200 queues, of which 20 are busy, and how long it takes. */
export async function measureMetrics(): Promise<void> {
  const store = await createMemoryStore();
  const organization = await storeOrganization(store);
  const now = Date.now();
  progress(`${QUEUES} queues, ${BUSY} of them busy`);
  for (let index = 0; index < QUEUES; index += 1) {
    const name = `service-with-a-name-${index}`;
    const repository = aRepository({ organizationId: organization.id, host: 'github.com', owner: 'acme', name });
    await store.repositories.save(repository);
    await storePlayed(store, repository.id, now - (index < BUSY ? 0 : 2 * DAYS));
  }
  const app = createTestApp({ store, forges: new Map() });
  const scopes = new Set(['read'] as const);
  const caller = { organization, tokenId: 'token', name: 'prometheus', scopes, repositoryIds: null };
  const read = async () => String(await getMergeQueueMetrics(app, caller, { repo: undefined, hasAlarms: true }));
  const text = await read();
  const began = performance.now();
  for (let count = 0; count < READS; count += 1) await read();
  const ms = (performance.now() - began) / READS;
  printFigure({ name: 'metrics of 200 queues, 20 busy', value: text.length / 1_000_000, unit: 'MB', goal: 1 });
  printFigure({ name: 'lines of an idle queue', value: linesOf(text, QUEUES - 1), unit: 'lines', goal: 25 });
  printFigure({ name: 'lines of a busy queue', value: linesOf(text, 0), unit: 'lines', goal: 150 });
  printFigure({ name: 'a scrape of 200 queues, 20 busy', value: ms, unit: 'ms', goal: 100 });
  await store.close();
}

function linesOf(text: string, index: number): number {
  return text.split('\n').filter((line) => line.includes(`service-with-a-name-${index}"`)).length;
}

/** A queue whose last events were at `until`: a busy one has entries left, an old one has been empty for days. */
async function storePlayed(store: Store, repositoryId: RepositoryId, until: number) {
  const told = new Scenario({ batch: true, batchingMinSize: 4, concurrency: 3 });
  told.play(BUSY_HOUR);
  const isBusy = until > Date.now() - HOUR_MS;
  if (!isBusy) told.play('cancel A B C D E G H');
  const shift = until - told.now;
  const id = randomUUID() as QueueId;
  const row = await storeQueue(store, { id, repositoryId, branch: 'main', body: encodeQueue(told.queue) });
  const place = { queueId: id, branch: 'main', version: 2 };
  const transitions = told.transitions.map((each, ordinal) =>
    encodeTransition({ ...each, at: each.at + shift }, { ...place, ordinal }),
  );
  const entries = [...valuesOf(told.queue.entries)].map((entry) => encodeEntry(entry, id, 2));
  await store.queues.commit(aCommit(row.id, 1, { body: row.body, transitions, entries }));
}
