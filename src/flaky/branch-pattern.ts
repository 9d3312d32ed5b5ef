/** Where a monitor looks: `*` stands for any run of characters, `/` included, `?` for exactly one; the rest is literal. */

export const MAX_BRANCH_PATTERNS = 10;
export const MAX_BRANCH_PATTERN_LENGTH = 255;

export function matchesAnyBranch(patterns: readonly string[], branch: string): boolean {
  return patterns.some((pattern) => pattern === '*' || matchesBranch(pattern, branch));
}

/**
 * Goes back only to the last `*`: what an earlier one took never has to be tried again, so hostile patterns cost at
 * most length times length.
 */
export function matchesBranch(pattern: string, branch: string): boolean {
  let at = 0;
  let read = 0;
  let star = -1;
  let retryFrom = 0;
  while (at < branch.length) {
    const wanted = pattern[read];
    if (wanted === '*') {
      star = read;
      retryFrom = at;
      read += 1;
    } else if (wanted === '?') {
      at += characterLength(branch, at);
      read += 1;
    } else if (wanted !== undefined && wanted === branch[at]) {
      at += 1;
      read += 1;
    } else if (star >= 0) {
      retryFrom += characterLength(branch, retryFrom);
      at = retryFrom;
      read = star + 1;
    } else return false;
  }
  while (pattern[read] === '*') read += 1;
  return read === pattern.length;
}

/** One character of a person may be two of JavaScript. */
function characterLength(text: string, index: number): number {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}
