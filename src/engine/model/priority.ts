export interface Priority {
  /** From 0 (first) to 255. */
  readonly value: number;
  readonly name: string;
  /** The submission named no priority. */
  readonly isDefault: boolean;
}

export const PRIORITY_NAMES: ReadonlyMap<string, number> = new Map([
  ['urgent', 0],
  ['high', 10],
  ['medium', 100],
  ['low', 200],
]);

/**
 * The levels that waiting can raise an entry to, lowest first. Waiting never makes an entry urgent, because urgent
 * entries interrupt others.
 */
const LEVELS: readonly number[] = [200, 100, 10];

/** The value that counts after a priority was raised by this many levels. */
export function raisedValue(value: number, raised: number): number {
  const above = LEVELS.filter((level) => level < value);
  return raised === 0 ? value : (above[Math.min(raised, above.length) - 1] ?? value);
}

export function levelsAbove(value: number): number {
  return LEVELS.filter((level) => level < value).length;
}

export const DEFAULT_PRIORITY: Priority = { value: 100, name: 'medium', isDefault: true };

export const HIGH: Priority = { value: 10, name: 'high', isDefault: false };

export const LOWEST_PRIORITY_VALUE = 255;

/** Accepts a name in any case, or a number from 0 to 255 (also as text). Undefined for anything else. */
// SPEC E5
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

/** Priorities are below 2^8 and ordinals below 2^44, so both fit into one exact number. */
const PRIORITY_WEIGHT = 2 ** 44;

interface Ordered {
  readonly priority: Priority;
  readonly raised: number;
  readonly admission: { readonly ordinal: number } | undefined;
  readonly submission: number;
}

// SPEC O2
export function orderKey({ priority, raised, admission, submission }: Ordered): number {
  return raisedValue(priority.value, raised) * PRIORITY_WEIGHT + (admission?.ordinal ?? submission);
}
