import { matchesStarred } from '../../lib/starred.ts';

/**
 * Branch patterns of monitors: `*` matches any run of characters, `/` included, `?` matches exactly one; the rest is
 * literal.
 */

export const MAX_BRANCH_PATTERNS = 10;
export const MAX_BRANCH_PATTERN_LENGTH = 255;

// SPEC F5
export function matchesAnyBranch(patterns: readonly string[], branch: string): boolean {
  return patterns.some((pattern) => pattern === '*' || matchesBranch(pattern, branch));
}

export function matchesBranch(pattern: string, branch: string): boolean {
  // Spread by code points: `?` must match an emoji, which is two UTF-16 units.
  return matchesStarred([...pattern], [...branch], {
    isStar: (wanted) => wanted === '*',
    matches: (wanted, character) => wanted === '?' || wanted === character,
  });
}
