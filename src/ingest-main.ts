/** The thread that processes uploads. It has its own store connection and talks to the main thread by messages. */
import { parentPort, workerData } from 'node:worker_threads';
import { createIngestLoop, type IngestLoop } from './ingest/ingest-loop.ts';
import {
  createPlaceAsking,
  createThreadLog,
  type FromThread,
  type ThreadData,
  type ToThread,
} from './ingest/thread-messages.ts';
import { systemClock } from './lib/clock.ts';
import type { Store } from './storage/store.ts';

/** The thread processes one upload at a time, so few connections are enough. */
const POOL_SIZE = 3;

const data = workerData as ThreadData;
const port = parentPort;
if (port === null) throw new Error('this file is the entry of a thread');
const say = (message: FromThread) => port.postMessage(message);

const store = await openStore(data);
const log = createThreadLog(data.logLevel, say);
const places = createPlaceAsking(say, systemClock);
const loop = createIngestLoop(store, systemClock, log, {
  ...data,
  crashes: new Map(data.crashes),
  findPlace: places.find,
  onWorkingOn: (uploadId) => say({ kind: 'working_on', uploadId }),
});
loop.onCheckResults((result) => say({ kind: 'stored', result }));
port.on('message', createListener(loop));
loop.start();
say({ kind: 'ready' });

function createListener(of: IngestLoop): (message: ToThread) => void {
  let resume: (() => void) | undefined;
  const pauseWrites = () =>
    of.withWritesPaused(
      () =>
        new Promise<void>((resolve) => {
          resume = resolve;
          say({ kind: 'paused' });
        }),
    );
  return (message) => {
    switch (message.kind) {
      case 'wake':
        return of.wake();
      case 'still':
        void pauseWrites();
        return;
      case 'resume':
        resume?.();
        resume = undefined;
        return of.wake();
      case 'place':
        return places.answer(message.no, message.place);
      case 'stop':
        resume?.();
        void end();
    }
  };
}

async function end(): Promise<void> {
  await loop.stop();
  await store.close();
  // The port is the last thing that keeps the thread alive.
  port?.close();
}

/** The main thread has locked the folder and migrated the schema. */
async function openStore({ dataFolder, databaseUrl, writeTurn }: ThreadData): Promise<Store> {
  if (databaseUrl === undefined) {
    const { openSqliteIngestStore } = await import('./storage/sqlite/open-sqlite-store.ts');
    return openSqliteIngestStore({ directory: dataFolder, writeTurn });
  }
  const { openPostgresStore } = await import('./storage/postgres/open-postgres-store.ts');
  return openPostgresStore({ url: databaseUrl, poolSize: POOL_SIZE, isMigrated: true });
}
