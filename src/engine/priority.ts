export interface Priority {
  /** 0 (first) to 255. */
  readonly value: number;
  readonly name: string;
  /** Nobody asked for it: the default was taken. */
  readonly isDefault: boolean;
}

export const PRIORITY_NAMES: ReadonlyMap<string, number> = new Map([
  ['urgent', 0],
  ['high', 10],
  ['medium', 100],
  ['low', 200],
]);

/** What waiting can raise a priority to, lowest first. Urgent interrupts others: nothing becomes that by itself. */
const LEVELS: readonly number[] = [200, 100, 10];

/** The value that a priority counts with after it was raised by so many levels. */
export function raisedValue(value: number, raised: number): number {
  const above = LEVELS.filter((level) => level < value);
  return raised === 0 ? value : (above[Math.min(raised, above.length) - 1] ?? value);
}

/** How many levels there are above a priority. */
export function levelsAbove(value: number): number {
  return LEVELS.filter((level) => level < value).length;
}

export const DEFAULT_PRIORITY: Priority = { value: 100, name: 'medium', isDefault: true };

export const LOWEST_PRIORITY_VALUE = 255;

/** A name in either case, or a number from 0 to 255 (also as text). Undefined for anything else. */
export function parsePriority(given: string | number): Priority | undefined {
  const byName = typeof given === 'string' ? PRIORITY_NAMES.get(given.toLowerCase()) : undefined;
  const value = byName ?? (typeof given === 'string' ? parseDigits(given) : given);
  if (value === undefined || !Number.isInteger(value) || value < 0 || value > LOWEST_PRIORITY_VALUE) return undefined;
  return { value, name: nameOf(value), isDefault: false };
}

function parseDigits(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}

function nameOf(value: number): string {
  for (const [name, named] of PRIORITY_NAMES) if (named === value) return name;
  return String(value);
}
