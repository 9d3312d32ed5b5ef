/** The values of one key in each item; with several keys, a row of values for each item. */
export function pluck<T extends object, K extends keyof T>(items: Iterable<T> | undefined, key: K): T[K][];
export function pluck<T extends object, K extends keyof T>(items: Iterable<T> | undefined, ...keys: K[]): T[K][][];
export function pluck<T extends object>(items: Iterable<T> | undefined, ...keys: (keyof T)[]): unknown[] {
  const row = (item: T) => keys.map((key) => item[key]);
  return Array.from(items ?? [], (item) => (keys.length === 1 ? row(item)[0] : row(item)));
}
