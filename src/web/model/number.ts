import { formatShort } from './time.ts';

/** A fraction of 1 as people read it: `0 %`, `< 0.1 %`, `3.6 %`, `42 %`. Only what is nothing is 0, and only all is 100. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '< 0.1 %';
  if (percent < 10) return `${percent.toFixed(1)} %`;
  return `${percent < 100 ? Math.min(99, Math.round(percent)) : 100} %`;
}

/** A number with its unit: `0 h`, `3.2 h`, `1,240 h`. */
function formatAmount(value: number, unit: string): string {
  const shown = value < 100 ? Math.round(value * 10) / 10 : Math.round(value);
  return `${shown.toLocaleString('en-US')} ${unit}`;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Hours as such; less than one in smaller units: `14.2 h`, `24 min`, `3 s`. */
export function formatHours(hours: number): string {
  return hours === 0 || hours >= 1 ? formatAmount(hours, 'h') : formatShort(hours * HOUR_MS);
}

/** Minutes as such, also many; less than one in smaller units: `380 min`, `24 s`. */
export function formatMinutes(minutes: number): string {
  return minutes === 0 || minutes >= 1 ? formatAmount(minutes, 'min') : formatShort(minutes * MINUTE_MS);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? formatAmount(bytes / 1_000, 'kB') : formatAmount(bytes / 1_000_000, 'MB');
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
