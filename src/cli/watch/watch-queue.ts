import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../core/context.ts';
import { createPatience } from '../core/patience.ts';
import { createLineDisplay, createLiveDisplay, type Display } from './display.ts';
import { type QueueName, type Reading, readQueue } from './read-queue.ts';
import { isMoving, type Snapshot } from './snapshot.ts';

export interface WatchOptions extends QueueName {
  /** Ends the watching where it is so. */
  readonly until?: ((snapshot: Snapshot) => boolean) | undefined;
  /** Between two looks; undefined: short while something moves, else longer. */
  readonly intervalMs?: number | undefined;
  /** Ends the watching from outside. */
  readonly signal?: AbortSignal | undefined;
}

const MOVING_MS = 500;
const IDLE_MS = 2_000;

/** A view that is open. */
export interface Watch {
  /** How it came to its end: as asked, or by a signal. Rejects where there is nothing to watch. */
  readonly ended: Promise<'done' | 'stopped'>;
  /** Prints a line that stays, without disturbing the view. */
  tell(text: string): void;
  /** Looks once more, shows that, and ends. */
  finish(): Promise<'done' | 'stopped'>;
}

/**
 * Shows a queue until it is as asked, or somebody stops it: on a terminal as a picture, elsewhere as lines. A server that
 * does not answer at first is an error; one that goes away later is waited for.
 */
export function watchQueue(context: Context, options: WatchOptions): Watch {
  const display = createDisplay(context.isJson);
  const interruption = listenForStop(options.signal);
  // The answer to the last question may take long: the terminal is given back before.
  interruption.signal.addEventListener('abort', display.close, { once: true });
  const finishing = new AbortController();
  const ended = follow(context, options, display, { stop: interruption.signal, finish: finishing.signal }).finally(
    () => {
      display.close();
      interruption.stopListening();
    },
  );
  // Who finishes it hears of an error then.
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

function createDisplay(isJson: boolean): Display {
  const isLive = process.stdout.isTTY && process.env['TERM'] !== 'dumb' && !isJson;
  return isLive ? createLiveDisplay(process.stdout) : createLineDisplay(isJson);
}

async function follow(
  context: Context,
  { repo, targetBranch, until, intervalMs }: WatchOptions,
  display: Display,
  { stop, finish }: { readonly stop: AbortSignal; readonly finish: AbortSignal },
): Promise<'done' | 'stopped'> {
  const patience = createPatience({ failed: display.notice, back: () => display.notice(undefined) });
  const signal = AbortSignal.any([stop, finish]);
  let last: Reading | undefined;
  while (!stop.aborted && process.stdout.writable) {
    const isLastLook = finish.aborted;
    const ask = () => readQueue(context, { repo, targetBranch }, display.wants, last?.memory);
    const reading = last === undefined ? await ask() : await patience.ask(ask);
    if (reading !== undefined && !stop.aborted) display.show(reading);
    if (isLastLook || (reading !== undefined && until?.(reading.snapshot))) return 'done';
    last = reading ?? last;
    const pauseMs = intervalMs ?? (last !== undefined && isMoving(last.snapshot) ? MOVING_MS : IDLE_MS);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return 'stopped';
}

/** Ctrl-C is the usual way to end it, and must leave the terminal as it was. */
function listenForStop(outer: AbortSignal | undefined): { readonly signal: AbortSignal; stopListening(): void } {
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
