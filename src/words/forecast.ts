import type { Queue } from '../engine/model/queue.ts';
import type { Instant } from '../lib/clock.ts';
import { timeOf } from './phrases.ts';

export interface ForecastTimes {
  readonly landsAtP50: Instant | undefined;
  readonly landsAtP95: Instant | undefined;
  readonly chanceToLand: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Below this chance the sentence says so. */
const LIKELY = 0.9;

// SPEC Z4
export function forecastText({ landsAtP50, landsAtP95, chanceToLand }: ForecastTimes, now: Instant): string {
  const chance = `${Math.max(1, Math.floor(chanceToLand * 100))}%`;
  if (landsAtP50 === undefined || landsAtP95 === undefined) return `It will hardly land (chance: ${chance}).`;
  const [soon, late] = [spanOf(landsAtP50 - now), spanOf(landsAtP95 - now)];
  const within = late.unit === soon.unit && soon.count !== '1' ? late.count : late.text;
  const bounds = late.text === soon.text ? '' : ` (95%: within ${within})`;
  const odds = chanceToLand >= LIKELY ? '' : ` Chance to land: ${chance}.`;
  return `Lands in about ${soon.text}${bounds}.${odds}`;
}

interface Span {
  readonly count: string;
  readonly unit: string;
  readonly text: string;
}

/** Two digits say enough: 24 minutes, 1.5 hours, 3 days. */
function spanOf(ms: number): Span {
  if (ms < 1.5 * MINUTE_MS) return spanWith(1, 'minute');
  if (ms < 100 * MINUTE_MS) return spanWith(Math.round(ms / MINUTE_MS), 'minute');
  if (ms < 10 * HOUR_MS) return spanWith(Math.round((ms / HOUR_MS) * 2) / 2, 'hour');
  if (ms < 48 * HOUR_MS) return spanWith(Math.round(ms / HOUR_MS), 'hour');
  return spanWith(Math.round(ms / (24 * HOUR_MS)), 'day');
}

function spanWith(count: number, unit: string): Span {
  return { count: `${count}`, unit, text: `${count} ${unit}${count === 1 ? '' : 's'}` };
}

export function tooFewRunsText(runs: number, enough: number): string {
  return `Not enough runs yet to say when it lands: ${runs} of ${enough}.`;
}

export const NOT_READY_TEXT = 'It is not ready, so nothing can be said about when it lands.';

export const BEING_MADE_TEXT = 'The forecast is being made.';

export function forecastFailedText(retriesAt: Instant, now: Instant): string {
  return `The forecast failed; the server's log says why. It is tried again at ${timeOf(retriesAt, now)}.`;
}

/** Why nothing can be said about a queue; undefined if it works. */
// SPEC Z7
export function unforeseeableText({ parked, state, stateChange, hold, head }: Queue): string | undefined {
  if (parked !== undefined) return 'The queue is parked, and nobody knows until when.';
  if (state === 'PAUSED' && stateChange?.until === undefined)
    return 'The queue is paused, and nobody knows until when.';
  if (hold !== undefined) return 'The queue waits for a repair of the branch, and nobody knows until when.';
  return head === undefined ? 'The target branch was not read yet.' : undefined;
}
