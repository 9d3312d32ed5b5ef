import { distanceOf } from '../../lib/nearest.ts';

// SPEC W35
export function nearest(wrong: string, known: Iterable<string>): string[] {
  const text = wrong.toLowerCase();
  const limit = Math.max(2, Math.floor(text.length / 4));
  return [...new Set(known)]
    .map((name) => ({ name, distance: distanceOf(text, name.toLowerCase()) }))
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
