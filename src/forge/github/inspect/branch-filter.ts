/** Filters of branches as workflows have them: `*` stays within a part of the name, `**` does not, `!` takes out. */

interface Token {
  readonly fits: (char: string) => boolean;
  /** May be left out. */
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
}

/** The last pattern that fits decides; a list that only takes out lets nothing in. */
export function isIncluded(patterns: readonly string[], branch: string): boolean {
  let isIn = false;
  for (const pattern of patterns) {
    const isTaken = pattern.startsWith('!');
    if (fits(isTaken ? pattern.slice(1) : pattern, branch)) isIn = !isTaken;
  }
  return isIn;
}

/** Follows all ways at once, so that no pattern takes long. */
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
  // A set is walked through what is added to it meanwhile too.
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
