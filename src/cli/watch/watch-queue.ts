import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../core/context.ts';
import { createPatience } from '../core/patience.ts';
import { createLineDisplay, createLiveDisplay, type Display } from './display.ts';
import { type QueueName, type Reading, readQueue } from './read-queue.ts';
import { isMoving, type Snapshot } from './snapshot.ts';

export interface WatchOptions extends QueueName {
  /** Ends the watch when it returns true. */
  readonly until?: ((snapshot: Snapshot) => boolean) | undefined;
  /** Poll interval; undefined: short while the queue moves, else longer. */
  readonly intervalMs?: number | undefined;
  /** Ends the watch from outside. */
  readonly signal?: AbortSignal | undefined;
}

const MOVING_MS = 500;
const IDLE_MS = 2_000;

/** An open view. */
export interface Watch {
  /** Resolves with the kind of end: as asked, or by a signal. Rejects if there is no queue to watch. */
  readonly ended: Promise<'done' | 'stopped'>;
  /** Prints a line that stays, without disturbing the view. */
  tell(text: string): void;
  /** Polls and shows once more, then ends. */
  finish(): Promise<'done' | 'stopped'>;
}

/**
 * Shows a queue until `until` holds or the user stops it: on a terminal as a picture, elsewhere as lines. If the server
 * does not answer the first poll, that is an error; if it becomes unavailable later, the watch waits for it.
 */
export function watchQueue(context: Context, options: WatchOptions): Watch {
  const display = createDisplay(context.isJson);
  const interruption = listenForStop(options.signal);
  // The last poll may take long, so the terminal is restored before.
  interruption.signal.addEventListener('abort', display.close, { once: true });
  const finishing = new AbortController();
  const ended = follow(context, options, display, { stop: interruption.signal, finish: finishing.signal }).finally(
    () => {
      display.close();
      interruption.stopListening();
    },
  );
  // Prevents an unhandled rejection; `finish` reports the error.
  ended.catch(() => {});
  return {
    ended,
    tell: display.tell,
    finish: () => {
      finishing.abort();
      return ended;
    },
  };
}

export function createDisplay(isJson: boolean, now: () => number = Date.now): Display {
  const isLive = process.stdout.isTTY && process.env['TERM'] !== 'dumb' && !isJson;
  return isLive ? createLiveDisplay(process.stdout, now) : createLineDisplay(isJson, now);
}

async function follow(
  context: Context,
  { repo, targetBranch, until, intervalMs }: WatchOptions,
  display: Display,
  { stop, finish }: { readonly stop: AbortSignal; readonly finish: AbortSignal },
): Promise<'done' | 'stopped'> {
  const patience = createPatience({ failed: display.notice, back: () => display.notice(undefined) });
  let isBusy = false;
  context.client.onWait = (text) => {
    isBusy = true;
    display.notice(text);
  };
  const signal = AbortSignal.any([stop, finish]);
  let last: Reading | undefined;
  while (!stop.aborted && process.stdout.writable) {
    const isLastLook = finish.aborted;
    const ask = () => readQueue(context, { repo, targetBranch }, display.wants, last?.memory);
    const reading = last === undefined ? await ask() : await patience.ask(ask);
    if (reading !== undefined && !stop.aborted) {
      if (isBusy) display.notice(undefined);
      isBusy = false;
      display.show(reading);
    }
    if (isLastLook || (reading !== undefined && until?.(reading.snapshot))) return 'done';
    last = reading ?? last;
    const pauseMs = intervalMs ?? (last !== undefined && isMoving(last.snapshot) ? MOVING_MS : IDLE_MS);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return 'stopped';
}

/** Ctrl-C is the usual way to end it, and must restore the terminal. */
export function listenForStop(outer: AbortSignal | undefined): { readonly signal: AbortSignal; stopListening(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.once(name, abort);
  return {
    signal: outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer]),
    stopListening: () => {
      for (const name of signals) process.off(name, abort);
    },
  };
}
