import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from './context.ts';
import type { AnswerOf, BodyOf } from './operations.ts';
import { readAgain } from './poll.ts';

interface Foretold {
  readonly forecast?: { readonly isBeingMade?: boolean; readonly text: string };
}

/** The first forecast of a queue takes about this long. */
const MAKING_MS = 700;

// SPEC W50
export async function readForetold<Name extends 'pollQueue' | 'pollPullRequest'>(
  context: Context,
  name: Name,
  body: BodyOf<Name>,
): Promise<AnswerOf<Name>> {
  const read = (asked: BodyOf<Name>) => context.call(name, asked);
  const reply = await read(body);
  if (reply.forecast?.isBeingMade !== true || context.isJson) return reply;
  await pause(MAKING_MS);
  return readAgain(read, body, reply);
}

/** Undefined if there is nothing to tell yet. */
export function tellForecast({ forecast }: Foretold): string | undefined {
  return forecast === undefined || forecast.isBeingMade === true ? undefined : forecast.text;
}
