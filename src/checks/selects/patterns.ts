/** Patterns of test frameworks. Each matches at least the tests that it is made of: a name in a report may lack characters. */

/** One of these, as a regular expression. */
export function anyOf(patterns: readonly string[]): string {
  return [...new Set(patterns)].join('|');
}

export function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** A sign between suites that reporters show, and names have not. */
const SEPARATOR = / [>›] /;

/** White space is trimmed and replaced in reports, and half of a character is replaced. */
export function jsPattern(name: string): string {
  const parts = name.split(SEPARATOR).map((part) => {
    const words = part.split(/\s+/).map((word) => escapeRegExp(word).replaceAll('\ufffd', '[^]'));
    return words.join(String.raw`\s+`);
  });
  return parts.join(String.raw`\s+(?:[>›]\s+)?`);
}

/** Each level of subtests has a pattern of its own. A test that has asked subtests runs with them, and with no other. */
export function goPattern(names: readonly string[]): string {
  const isAbove = (name: string) => names.some((other) => other.startsWith(`${name}/`));
  return anyOf(names.filter((name) => !isAbove(name)).map(levels));
}

function levels(name: string): string {
  return name
    .split('/')
    .map((level) => `^${escapeRegExp(level)}$`)
    .join('/');
}

/** A word of `-k`, in all versions of pytest since 6.0. */
const WORDS = /[\p{L}\p{Nd}_:+.[\]-]+/gu;
const RESERVED = new Set(['and', 'or', 'not']);

/** `-k` finds words anywhere in the names of a test, its class and its module. */
export function pytestExpression(classname: string, name: string): string | undefined {
  return allOf([...moduleWords(classname), ...wordsOf(name)]);
}

export function pytestModule(classname: string): string | undefined {
  return allOf(moduleWords(classname));
}

/** Folders are left out: not every version has their names. Modules begin with a small letter, most classes do not. */
function moduleWords(classname: string): readonly string[] {
  const parts = classname.split('.');
  const module = parts.findLastIndex((part) => /^\p{Ll}/u.test(part));
  return parts.slice(module).flatMap(wordsOf);
}

/** Without what stands for a character that XML does not have. */
function wordsOf(text: string): readonly string[] {
  const words = text.replaceAll(/#x[\dA-F]+/g, ' ').match(WORDS) ?? [];
  return words.filter((word) => !RESERVED.has(word.toLowerCase()));
}

function allOf(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : `(${[...new Set(words)].join(' and ')})`;
}

/** A pattern of paths that matches this path alone. Without the dot, one that begins with "-" would be an option. */
export function globOf(path: string): string {
  return `./${path.replaceAll(/[*?[\]{}()!@+\\]/g, '[$&]')}`;
}
