import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../core/context.ts';
import { contextAt } from './past-context.ts';
import { type QueueName, type Reading, readQueue } from './read-queue.ts';
import { createDisplay, listenForStop } from './watch-queue.ts';

export interface Replay extends QueueName {
  readonly from: string;
  /** Undefined: now. */
  readonly until: string | undefined;
  /** How many seconds of then are one second of now. */
  readonly speed: number;
}

const PAGE = 200;
/** The picture says how long things take: it is drawn again this often between two changes. */
const TICK_MS = 500;

/** Shows a queue as it was, one change after the other. */
// SPEC Y12
export async function replayQueue(context: Context, replay: Replay): Promise<'done' | 'stopped'> {
  let now = Date.parse(replay.from);
  const display = createDisplay(context.isJson, () => now);
  const { signal, stopListening } = listenForStop(undefined);
  signal.addEventListener('abort', display.close, { once: true });
  let last: Reading | undefined;
  const look = async () => {
    const then = contextAt(context, new Date(now).toISOString());
    last = await readQueue(then, replay, display.wants, last?.memory, now);
    if (!signal.aborted) display.show(last);
  };
  try {
    await look();
    for await (const at of momentsOf(context, replay)) {
      while (now < at && !signal.aborted) {
        const step = Math.min(at - now, TICK_MS * replay.speed);
        await delay(step / replay.speed, undefined, { signal }).catch(() => {});
        now += step;
        if (now < at && display.wants.waits && last !== undefined) display.show(last);
      }
      if (signal.aborted) return 'stopped';
      await look();
    }
    return signal.aborted ? 'stopped' : 'done';
  } finally {
    display.close();
    stopListening();
  }
}

/** After the begin, which is shown in any case. */
async function* momentsOf(context: Context, { repo, targetBranch, from, until }: Replay): AsyncGenerator<number> {
  let cursor: string | undefined;
  do {
    const page = await context.call('listQueueMoments', {
      ...{ repo, targetBranch, after: from, limit: PAGE },
      ...(until === undefined ? {} : { before: until }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { at } of page.moments) if (Date.parse(at) > Date.parse(from)) yield Date.parse(at);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
