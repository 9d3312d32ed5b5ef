const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its two largest units: `45 s`, `12 min`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} min`;
  if (length < DAY) return both(length, [HOUR, 'h'], [MINUTE, 'min']);
  return both(length, [DAY, 'd'], [HOUR, 'h']);
}

function both(length: number, [large, name]: [number, string], [small, smallName]: [number, string]): string {
  const rest = Math.floor((length % large) / small);
  return `${Math.floor(length / large)} ${name}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** An instant as people say it: `just now`, `12 min ago`, `in 5 min`. */
export function formatRelative(at: number, now: number): string {
  const distance = now - at;
  if (Math.abs(distance) < 5 * SECOND) return 'just now';
  const text = formatDuration(Math.abs(distance));
  return distance > 0 ? `${text} ago` : `in ${text}`;
}

/** The clock time, with the day unless it is today. */
export function formatClock(at: number, now: number, zone?: string): string {
  const options = zone === undefined ? {} : { timeZone: zone };
  const day = (instant: number) => new Date(instant).toLocaleDateString('en-CA', options);
  const time = new Date(at).toLocaleTimeString('en-GB', { timeStyle: 'medium', ...options });
  if (day(at) === day(now)) return time;
  const date = new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...options });
  return `${date} ${time}`;
}

/** Everything about an instant, for those who hover. */
export function formatExact(at: number): string {
  const local = new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
  return `${local} (${new Date(at).toISOString()})`;
}

/** The length of a test or a step, which is often below a second: `12 ms`, `1.4 s`, `3 min`. */
export function formatShort(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  return ms < 10 * SECOND ? `${(ms / SECOND).toFixed(1)} s` : formatDuration(ms);
}
