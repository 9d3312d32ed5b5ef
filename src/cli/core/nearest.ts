/** The known names that a misspelt one may mean, the nearest first, three at most. */
// SPEC W35
export function nearest(wrong: string, known: Iterable<string>): string[] {
  const text = wrong.toLowerCase();
  const limit = Math.max(2, Math.floor(text.length / 4));
  return [...new Set(known)]
    .map((name) => ({ name, distance: distanceOf(text, name.toLowerCase(), limit) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** ` Did you mean a or b?`; empty without a near name. */
export function proposal(wrong: string, known: Iterable<string>): string {
  const names = nearest(wrong, known);
  return names.length === 0 ? '' : ` Did you mean ${names.join(' or ')}?`;
}

/** The number of letters to insert, delete, replace or swap with a neighbour; more than `limit` if that is too many. */
function distanceOf(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      const replaced = (row[j - 1] as number) + (isSame ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1, swapped));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
