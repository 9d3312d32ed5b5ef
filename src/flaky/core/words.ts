const HOUR = 60;
const DAY = 24 * HOUR;

/** In the largest unit that gives a whole number. */
export function durationWords(minutes: number): string {
  if (minutes % DAY === 0) return counted(minutes / DAY, 'day');
  return minutes % HOUR === 0 ? counted(minutes / HOUR, 'hour') : counted(minutes, 'minute');
}

export function counted(count: number, unit: string): string {
  return `${count} ${count === 1 ? unit : `${unit}s`}`;
}
