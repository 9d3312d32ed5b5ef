import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../core/context.ts';
import { createPatience } from '../core/patience.ts';
import type { Place } from '../core/place.ts';
import { createView, type Look, type View } from './views.ts';

export interface WatchOptions {
  readonly untilEmpty?: true;
  /** Poll interval; undefined: short while the queue moves, else longer. */
  readonly intervalMs?: number | undefined;
  /** Ends the watch from outside. */
  readonly signal?: AbortSignal | undefined;
}

const MOVING_MS = 500;
const IDLE_MS = 2_000;

export interface Watch {
  /** Resolves with the kind of end: as asked, or by a signal. Rejects if there is no queue to watch. */
  readonly ended: Promise<'done' | 'stopped'>;
  /** Prints a line that stays, without disturbing the view. */
  tell(text: string): void;
  /** Polls and shows once more, then ends. */
  finish(): Promise<'done' | 'stopped'>;
}

/** On a terminal a picture, elsewhere lines. Only the first poll may fail: later the watch waits for the server. */
export function watchQueue(context: Context, place: Place, options: WatchOptions): Watch {
  const view = createView(context, place);
  const interruption = listenForStop(options.signal);
  // The last poll may take long, so the terminal is restored before.
  interruption.signal.addEventListener('abort', view.close, { once: true });
  const finishing = new AbortController();
  const ended = follow(context, view, options, { stop: interruption.signal, finish: finishing.signal }).finally(() => {
    view.close();
    interruption.stopListening();
  });
  // Prevents an unhandled rejection; `finish` reports the error.
  ended.catch(() => {});
  return {
    ended,
    tell: view.tell,
    finish: () => {
      finishing.abort();
      return ended;
    },
  };
}

async function follow(
  context: Context,
  view: View,
  { untilEmpty, intervalMs }: WatchOptions,
  { stop, finish }: { readonly stop: AbortSignal; readonly finish: AbortSignal },
): Promise<'done' | 'stopped'> {
  const patience = createPatience({ failed: view.notice, back: () => view.notice(undefined) });
  let isBusy = false;
  context.client.onWait = (text) => {
    isBusy = true;
    view.notice(text);
  };
  const signal = AbortSignal.any([stop, finish]);
  let last: Look | undefined;
  while (!stop.aborted && process.stdout.writable) {
    const isLastLook = finish.aborted;
    const look = last === undefined ? await view.look() : await patience.ask(view.look);
    if (look !== undefined && isBusy) {
      view.notice(undefined);
      isBusy = false;
    }
    if (isLastLook || (untilEmpty && look?.isEmpty)) return 'done';
    last = look ?? last;
    await delay(intervalMs ?? (last?.isMoving ? MOVING_MS : IDLE_MS), undefined, { signal }).catch(() => {});
  }
  return 'stopped';
}

/** Ctrl-C is the usual way to end it, and must restore the terminal. */
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
