/** Branch filters of workflows: `*` does not match a slash, `**` does, `!` excludes. */

interface Token {
  readonly fits: (char: string) => boolean;
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
}

/** The last matching pattern decides. A list of exclusions alone matches nothing. */
export function isIncluded(patterns: readonly string[], branch: string): boolean {
  let isIn = false;
  for (const pattern of patterns) {
    const isTaken = pattern.startsWith('!');
    if (fits(isTaken ? pattern.slice(1) : pattern, branch)) isIn = !isTaken;
  }
  return isIn;
}

/** Tracks all alternatives at once, so no pattern causes exponential backtracking. */
function fits(pattern: string, text: string): boolean {
  const tokens = tokenise(pattern);
  let at = withSkips(tokens, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const index of at) {
      const token = tokens[index];
      if (token === undefined || !token.fits(char)) continue;
      next.add(index + 1);
      if (token.isRepeated) next.add(index);
    }
    at = withSkips(tokens, next);
  }
  return at.has(tokens.length);
}

function withSkips(tokens: readonly Token[], from: ReadonlySet<number>): ReadonlySet<number> {
  const reached = new Set(from);
  // Iterating a Set also visits elements that are added during the loop.
  for (const index of reached) if (tokens[index]?.isOptional) reached.add(index + 1);
  return reached;
}

const ANY: Token = { fits: () => true, isOptional: true, isRepeated: true };
const WITHIN: Token = { fits: (char) => char !== '/', isOptional: true, isRepeated: true };

function tokenise(pattern: string): Token[] {
  const tokens: Token[] = [];
  const parts = pattern.match(/\*\*|\\.|\[[^\]]*\]|[\s\S]/g) ?? [];
  for (const part of parts) {
    const last = tokens.at(-1);
    if (part === '**') tokens.push(ANY);
    else if (part === '*') tokens.push(WITHIN);
    else if (part === '?' && last !== undefined) tokens.splice(-1, 1, { ...last, isOptional: true });
    else if (part === '+' && last !== undefined) tokens.splice(-1, 1, { ...last, isRepeated: true });
    else tokens.push({ fits: charTest(part), isOptional: false, isRepeated: false });
  }
  return tokens;
}

function charTest(part: string): (char: string) => boolean {
  if (part.length > 2 && part.startsWith('[')) {
    const ranges = part.slice(1, -1).match(/.-.|./g) ?? [];
    return (char) => ranges.some((range) => char >= (range[0] ?? '') && char <= (range.at(-1) ?? ''));
  }
  const wanted = part.length === 2 ? part[1] : part;
  return (char) => char === wanted;
}
