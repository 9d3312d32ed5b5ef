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
  return { patterns: [...new Set(texts)].map(compile) };
}

function compile(text: string): PathPattern {
  const segments = text.split('/').filter((segment) => segment !== '.');
  // `a/**` are the files in a, and not a file a.
  if (segments.at(-1) === '**') segments.push('*');
  return compilePathPattern(segments.join('/'), { classes: true, hidesDots: true });
}

/** A brace without another one in it, and what stands around it. */
const BRACE = /^(.*?)(?<!\\)\{((?:\\.|[^{}\\])*)\}(.*)$/s;

/** `a{b,c}` as `ab` and `ac`. Stops soon after there are too many. Undefined: a brace is unpaired or has no comma. */
function expandBraces(text: string): readonly string[] | undefined {
  // Equal ones count each: `{a,a}` doubles the work, and stands for one pattern.
  const done: string[] = [];
  const open = [text];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const found = BRACE.exec(next);
    if (found === null) {
      if (/(?<!\\)[{}]/.test(next)) return undefined;
      done.push(next);
    } else {
      const [, before = '', inside = '', after = ''] = found;
      const options = inside.split(/(?<!\\),/);
      if (options.length < 2) return undefined;
      open.push(...options.map((option) => before + option + after));
    }
    if (done.length + open.length > MAX_ALTERNATIVES) return [...done, ...open];
  }
  return done;
}
