import { compilePathPattern, type PathPattern } from './path-pattern.ts';

/** A pattern of paths as people write it: `*`, `?`, `[a-z]`, `**` for any folders, `{a,b}`. */
export interface Glob {
  /** Without braces: one of them must match. */
  readonly patterns: readonly PathPattern[];
}

/** They bound the work for one path: length of the pattern x length of the path, for each alternative. */
const MAX_LENGTH = 250;
const MAX_STARS = 10;
const MAX_ALTERNATIVES = 50;

/** The glob, or the end of a sentence that says why there is none. */
// SPEC R47
export function parseGlob(text: string): Glob | string {
  if (text.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  const plain = text.replaceAll(/\\./gs, '');
  if ((plain.match(/\*+/g)?.length ?? 0) > MAX_STARS) return `has more than ${MAX_STARS} stars`;
  if (plain.startsWith('!')) return 'begins with "!", which is not supported: name what is wanted';
  if (/[+@!?*]\(/.test(plain)) return 'has parentheses after one of + @ ! ? *, which is not supported: write {a,b}';
  if (plain.includes('[:')) return 'has "[:", which is not supported: write a range, such as [a-z]';
  const texts = expandBraces(text);
  if (texts === undefined) return 'has a brace that is not part of {a,b}: write \\{ for the character';
  if (texts.length > MAX_ALTERNATIVES) return `stands for more than ${MAX_ALTERNATIVES} patterns`;
  return { patterns: texts.map(compile) };
}

function compile(text: string): PathPattern {
  const segments = text.split('/').filter((segment) => segment !== '.');
  // `a/**` are the files in a, and not a file a.
  if (segments.at(-1) === '**') segments.push('*');
  return compilePathPattern(segments.join('/'), { classes: true, hidesDots: true });
}

/** `a{b,c}` as `ab` and `ac`. Stops soon after there are too many. Undefined: a brace is unpaired or has no comma. */
function expandBraces(text: string): readonly string[] | undefined {
  let done = [''];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '}') return undefined;
    else if (text[at] === '{') {
      const options = readOptions(text, at);
      const expanded = options?.parts.map(expandBraces);
      if (options === undefined || expanded === undefined || expanded.includes(undefined)) return undefined;
      const before = text.slice(from, at);
      const choices = expanded.flatMap((each) => each ?? []);
      done = done.flatMap((each) => choices.map((choice) => each + before + choice));
      if (done.length > MAX_ALTERNATIVES) return done;
      at = options.end;
      from = at + 1;
    }
  }
  return done.map((each) => each + text.slice(from));
}

/** The texts between the commas of the brace at `open`. Undefined if it has no comma or no end. */
function readOptions(
  text: string,
  open: number,
): { readonly parts: readonly string[]; readonly end: number } | undefined {
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '{') depth += 1;
    else if (depth === 1 && (text[at] === ',' || text[at] === '}')) {
      parts.push(text.slice(from, at));
      from = at + 1;
      if (text[at] === '}') return parts.length > 1 ? { parts, end: at } : undefined;
    } else if (text[at] === '}') depth -= 1;
  }
  return undefined;
}
