import { matchesStarred } from './starred.ts';

// Globs over paths, for CODEOWNERS and for test reports. No regular expressions: users write the patterns, and matching one must never take
// more than (length of the pattern) x (length of the path) steps.

/** One element of a segment: a literal character, any one (`?`), any number (`*`), or one of a class (`[a-z]`). */
type Piece =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };

/** A segment is the text between slashes; `globstar` is `**`, any number of segments. */
export type Segment = 'globstar' | NamedSegment;
export type NamedSegment = { readonly literal: string } | { readonly pieces: readonly Piece[] };

export interface PathPattern {
  readonly segments: readonly Segment[];
  /** As in a shell: only a dot matches the dot that a name begins with. */
  readonly hidesDots: boolean;
}

export interface PatternSyntax {
  /** GitLab supports `[a-z]`. On GitHub brackets are literal, as in the routes of some frameworks. */
  readonly classes: boolean;
  readonly hidesDots?: boolean;
}

/** Bounds the total work of many patterns on many paths. */
export interface Steps {
  count: number;
}

/** `pattern` has no leading slash. A backslash escapes the next character. */
export function compilePathPattern(pattern: string, syntax: PatternSyntax): PathPattern {
  const segments: Segment[] = [];
  for (const text of pattern.split('/')) {
    const segment = text === '**' ? 'globstar' : compileSegment(text, syntax);
    if (segment !== 'globstar' || segments.at(-1) !== 'globstar') segments.push(segment);
  }
  return { segments, hidesDots: syntax.hidesDots === true };
}

export function matchesPath(pattern: PathPattern, path: readonly string[], steps: Steps): boolean {
  const { segments, hidesDots } = pattern;
  return matchesStarred(segments, path, {
    isStar: (segment) => segment === 'globstar',
    matches: (segment, text) => segment !== 'globstar' && matchesSegment(pattern, segment, { text, steps }),
    ...(hidesDots ? { mayPass: (text) => !text.startsWith('.') } : {}),
    onStep: () => count(steps),
  });
}

/** Whether a path in this folder can match. Folders beyond a `**` are not compared. */
export function mayMatchIn(pattern: PathPattern, folder: readonly string[], steps: Steps): boolean {
  const { segments } = pattern;
  const open = segments.indexOf('globstar');
  if (open < 0 && segments.length <= folder.length) return false;
  return folder
    .slice(0, open < 0 ? segments.length : open)
    .every((text, index) => matchesSegment(pattern, segments[index] as NamedSegment, { text, steps }));
}

/** The text before the only star and the text behind it. Undefined: the segment has another shape. */
export function starredAffixes(segment: NamedSegment): { before: string; behind: string } | undefined {
  if ('literal' in segment) return undefined;
  const literals = segment.pieces.map((piece) => (piece.kind === 'literal' ? piece.character : undefined));
  const star = literals.indexOf(undefined);
  if (segment.pieces[star]?.kind !== 'star' || literals.slice(star + 1).includes(undefined)) return undefined;
  return { before: literals.slice(0, star).join(''), behind: literals.slice(star + 1).join('') };
}

/** Compares a name with a segment. A dot is a character as any other. */
export function matchesName(segment: NamedSegment, text: string): boolean {
  return matchesSegment({ segments: [], hidesDots: false }, segment, { text, steps: { count: 0 } });
}

function count(steps: Steps): void {
  steps.count += 1;
}

function compileSegment(text: string, { classes }: PatternSyntax): Segment {
  const pieces: Piece[] = [];
  const characters = [...text];
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] as string;
    const found = classes && character === '[' ? parseClass(characters, i) : undefined;
    if (found !== undefined) {
      pieces.push(found.piece);
      i = found.end;
    } else if (character === '\\' && i + 1 < characters.length) {
      i += 1;
      pieces.push({ kind: 'literal', character: characters[i] as string });
    } else if (character === '*') {
      if (pieces.at(-1)?.kind !== 'star') pieces.push({ kind: 'star' });
    } else {
      pieces.push(character === '?' ? { kind: 'any' } : { kind: 'literal', character });
    }
  }
  const literals = pieces.map((piece) => (piece.kind === 'literal' ? piece.character : undefined));
  return literals.includes(undefined) ? { pieces } : { literal: literals.join('') };
}

function parseClass(characters: readonly string[], start: number): { piece: Piece; end: number } | undefined {
  const negated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const end = characters.indexOf(']', first + 1);
  if (end < 0) return undefined;
  const ranges: [string, string][] = [];
  for (let i = first; i < end; i += 1) {
    const from = characters[i] as string;
    const isRange = characters[i + 1] === '-' && i + 2 < end;
    ranges.push([from, isRange ? (characters[i + 2] as string) : from]);
    if (isRange) i += 2;
  }
  return { piece: { kind: 'class', negated, ranges }, end };
}

function matchesSegment(
  { hidesDots }: PathPattern,
  segment: NamedSegment,
  { text, steps }: { readonly text: string; readonly steps: Steps },
): boolean {
  count(steps);
  if ('literal' in segment) return segment.literal === text;
  if (hidesDots && text.startsWith('.') && segment.pieces[0]?.kind !== 'literal') return false;
  return matchesStarred(segment.pieces, [...text], {
    isStar: ({ kind }) => kind === 'star',
    matches: matchesOne,
    onStep: () => count(steps),
  });
}

function matchesOne(piece: Piece, character: string): boolean {
  if (piece.kind === 'literal') return piece.character === character;
  if (piece.kind === 'class') {
    return piece.ranges.some(([from, to]) => from <= character && character <= to) !== piece.negated;
  }
  return piece.kind === 'any';
}
