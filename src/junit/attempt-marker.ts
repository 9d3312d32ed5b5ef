import type { AttemptMarker } from './junit-case.ts';
import type { Attributes } from './tag-attributes.ts';

// Totals such as `retries` say how often was tried, not which try this is.
const NAMES: ReadonlySet<string> = new Set([
  'attempt',
  'attemptnumber',
  'attemptindex',
  'retry',
  'retryindex',
  'retrynumber',
  'retryattempt',
  'rerun',
  'rerunindex',
  'runattempt',
]);
const MAX_ATTEMPT = 10_000;

/** Whether `name` (an attribute, or a property perhaps with a prefix: `test.retry-index`) marks a try, and which. */
export function parseAttemptMarker(name: string, value: string): AttemptMarker | null {
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (!NAMES.has(last.toLowerCase().replaceAll(/[-_ ]/g, ''))) return null;
  const text = value.trim();
  if (text === 'true') return { name, value: 1 };
  if (!/^\d{1,5}$/.test(text) || Number(text) > MAX_ATTEMPT) return null;
  return { name, value: Number(text) };
}

export function findAttemptMarker(attributes: Attributes): AttemptMarker | null {
  return (
    marker('attempt', attributes.attempt) ??
    marker('attempt_number', attributes.attempt_number) ??
    marker('retry', attributes.retry) ??
    marker('rerun', attributes.rerun)
  );
}

function marker(name: string, value: string | undefined): AttemptMarker | null {
  return value === undefined ? null : parseAttemptMarker(name, value);
}
