import { matchesStarred } from '../../lib/starred.ts';

/** Where a monitor looks: `*` stands for any run of characters, `/` included, `?` for exactly one; the rest is literal. */

export const MAX_BRANCH_PATTERNS = 10;
export const MAX_BRANCH_PATTERN_LENGTH = 255;

export function matchesAnyBranch(patterns: readonly string[], branch: string): boolean {
  return patterns.some((pattern) => pattern === '*' || matchesBranch(pattern, branch));
}

export function matchesBranch(pattern: string, branch: string): boolean {
  // By characters of people, of which one may be two of JavaScript.
  return matchesStarred([...pattern], [...branch], {
    isStar: (wanted) => wanted === '*',
    matches: (wanted, character) => wanted === '?' || wanted === character,
  });
}
