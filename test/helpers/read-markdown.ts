// Reads the output of src/app/pr-page/markdown.ts as strictly as any renderer, and returns the shown text.

/** Characters with a meaning in Markdown or HTML at any position. */
const MEANINGFUL = new Set('\\`*_[]<>#|~$&');

/** The shown text, or the part of it that is more than text. `ours` are intended references. */
export function readWords(
  markdown: string,
  ours: ReadonlySet<number> = new Set(),
): { shown: string } | { danger: string } {
  let shown = '';
  for (let index = 0; index < markdown.length; index += 1) {
    const character = markdown[index] as string;
    if (character === '\\') {
      index += 1;
      shown += markdown[index];
      continue;
    }
    const reference = /^#(\d+)/.exec(markdown.slice(index, index + 20));
    if (reference !== null && ours.has(Number(reference[1]))) {
      shown += reference[0];
      index += reference[0].length - 1;
      continue;
    }
    if (MEANINGFUL.has(character)) return { danger: `${character} means something` };
    shown += character;
  }
  const danger = findDanger(shown, ours) ?? findBeginning(markdown);
  return danger === undefined ? { shown } : { danger };
}

const LIVE: readonly (readonly [RegExp, string])[] = [
  [/@[a-z0-9]/i, 'a mention'],
  [/\bgh-\d/i, 'a reference'],
  [/[a-z]:\/\//i, 'an address'],
  [/:[\w+-]+:/, 'an emoji'],
  [/\bwww\./i, 'an address'],
  [/\b(?:mailto|xmpp):/i, 'an address'],
  [/[\r\n\u2028\u2029]/, 'another line'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  [/[\u0000-\u001f\u007f-\u009f]/, 'a control character'],
  [/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/, 'another direction'],
  [/[\u{e0000}-\u{e007f}]/u, 'hidden text'],
];

/** Forges search the rendered text again. */
function findDanger(shown: string, ours: ReadonlySet<number>): string | undefined {
  for (const [, digits] of shown.matchAll(/#(\d+)/g)) if (!ours.has(Number(digits))) return 'a reference';
  return LIVE.find(([pattern]) => pattern.test(shown))?.[1];
}

/** Characters with a meaning only at the beginning of a line or list item. */
function findBeginning(markdown: string): string | undefined {
  if (/^[-+=:./]/.test(markdown)) return 'a beginning that means something';
  return /^\d{1,9}[.)]/.test(markdown) ? 'a list' : undefined;
}

/** The content of inline code. Undefined where the text is not exactly one span of code. */
export function readCode(markdown: string): string | undefined {
  const [, fence] = /^(`+)/.exec(markdown) ?? [];
  if (fence === undefined) return undefined;
  // The first run of the same length ends it.
  const end = [...markdown.slice(fence.length).matchAll(/`+/g)].find(([run]) => run.length === fence.length);
  if (end === undefined || end.index + 2 * fence.length !== markdown.length) return undefined;
  const inner = markdown.slice(fence.length, -fence.length);
  return /^ .*[^ ].* $/s.test(inner) ? inner.slice(1, -1) : inner;
}
