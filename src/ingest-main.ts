/** The process that takes in uploads. It has its own store connection and talks to the server by messages. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createIngestLoop, type IngestLoop } from './ingest/ingest-loop.ts';
import {
  createPlaceAsking,
  createProcessLog,
  type FromProcess,
  type ProcessData,
  type ToProcess,
} from './ingest/process-messages.ts';
import { systemClock } from './lib/clock.ts';
import { lockIngest } from './storage/sqlite/folder.ts';
import type { Store } from './storage/store.ts';

/** The process works on one upload at a time, so few connections are enough. */
const POOL_SIZE = 3;
const ALIVE_MS = 1_000;

/** A thread does it, because the main one may be inside a long statement while the next server begins. */
// SPEC U90
const WATCHER = `
  const end = () => process.kill(process.pid, 'SIGKILL');
  const pipe = new (require('node:net').Socket)({ fd: 0, readable: true, writable: false });
  pipe.on('end', end).on('error', end).on('close', end).resume();
  require('node:worker_threads').parentPort.postMessage('watching');
`;
const watcher = new Worker(WATCHER, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
watcher.unref();
// A terminal or systemd signals every process of the group. The server says when this one ends.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// A server that is gone reads nothing: the pipe ends this process.
const say = (message: FromProcess) => void process.send?.(message, undefined, undefined, () => undefined);

// Messages that come before there is a loop wait for it.
const early: ToProcess[] = [];
let listen = (message: ToProcess): unknown => early.push(message);
process.on('message', (message) => void listen(message as ToProcess));
await Promise.all([once(process, 'message'), once(watcher, 'message')]);
const [begin] = early.splice(0, 1);
if (begin?.kind !== 'begin') throw new Error('the first message begins the work');
const { data } = begin;
const lock = lockIngest(data.dataFolder);
// From here on the next server waits for this process. One whose server was killed before has lost its parent.
if (process.ppid !== data.serverPid) process.exit(1);
const store = await openStore(data);
const log = createProcessLog(data.logLevel, say);
const places = createPlaceAsking(say, systemClock);
let steps = 0;
const loop = createIngestLoop(store, systemClock, log, {
  ...data,
  findPlace: places.find,
  onStep: () => {
    steps += 1;
  },
  onIdle: () => say({ kind: 'idle' }),
  onRetained: (nextAt) => say({ kind: 'retained', nextAt }),
  onWorkingOn: (uploadId) => say({ kind: 'working_on', uploadId }),
});
loop.onCheckResults((result) => say({ kind: 'stored', result }));
listen = createListener(loop);
for (const message of early) listen(message);
const alive = setInterval(() => say({ kind: 'alive', steps, residentBytes: process.memoryUsage.rss() }), ALIVE_MS);
loop.start();
say({ kind: 'ready' });

function createListener(of: IngestLoop): (message: ToProcess) => void {
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
      case 'begin':
        return;
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
  clearInterval(alive);
  await store.close();
  lock.release();
  // With the channel, the last thing ends that keeps the process alive.
  process.disconnect();
}

/** The server has locked the folder and migrated the schema. */
async function openStore({ dataFolder, databaseUrl }: ProcessData): Promise<Store> {
  if (databaseUrl === undefined) {
    const { openSqliteIngestStore } = await import('./storage/sqlite/open-sqlite-store.ts');
    return openSqliteIngestStore({ directory: dataFolder });
  }
  const { openPostgresStore } = await import('./storage/postgres/open-postgres-store.ts');
  return openPostgresStore({ url: databaseUrl, poolSize: POOL_SIZE, isMigrated: true });
}
