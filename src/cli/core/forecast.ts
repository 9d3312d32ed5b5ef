import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from './context.ts';

interface Foretold {
  readonly forecast?: { readonly isBeingMade?: boolean; readonly text: string };
}

/** The first forecast of a queue takes about this long. */
const MAKING_MS = 700;

/** Reads once more if the forecast is being made. A person waits for it, and a script does not. */
// SPEC W50
export async function readForetold<T extends Foretold>(context: Context, read: () => Promise<T>): Promise<T> {
  const reply = await read();
  if (reply.forecast?.isBeingMade !== true || context.isJson) return reply;
  await pause(MAKING_MS);
  return read();
}

/** Undefined if there is nothing to tell yet. */
export function tellForecast({ forecast }: Foretold): string | undefined {
  return forecast === undefined || forecast.isBeingMade === true ? undefined : forecast.text;
}
