import { query, setQuery } from '../core/location.ts';

const DAY_MS = 24 * 3_600_000;
const RANGES = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

/** The days that a page tells of, from its address. */
export function daysShown(usual = 7): number {
  const days = Number(query.value.get('days'));
  return RANGES.some(([value]) => Number(value) === days) ? days : usual;
}

/** The instant at which these days begin, to the hour, so that a page does not read anew with every look at the clock. */
export function beginOf(days: number, now: number): string {
  return new Date(Math.floor((now - days * DAY_MS) / 3_600_000) * 3_600_000).toISOString();
}

export function Range({ days }: { readonly days: number }) {
  return (
    <fieldset class="range">
      <legend class="skip">Time</legend>
      {RANGES.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={days === Number(value)}
          onClick={() => setQuery({ days: value })}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
