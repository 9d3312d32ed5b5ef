/** The name that was probably meant: the one with the fewest differences, if they are few for its length. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const limit = Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3));
    const distance = distanceOf(wanted, name.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name;
}

const MAX_LENGTH = 200;

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
export function distanceOf(a: string, b: string): number {
  if (a.length > MAX_LENGTH || b.length > MAX_LENGTH) return a === b ? 0 : Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      const changed = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      row.push(Math.min(changed, swapped));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
