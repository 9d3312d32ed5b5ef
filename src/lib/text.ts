/** Makes text harmless in HTML, in attributes too. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Turns `windowHours` into `window_hours`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** First segments of the server's own paths, as patterns. An organization with such a name could not have pages. */
export const RESERVED_SLUGS = [
  'v[0-9]+',
  'trunk',
  'docs',
  'webhooks',
  'uploads',
  'healthz',
  'readyz',
  'openapi.json',
  ...['login', 'web', 'assets', 'metrics'],
];

export const SLUG_PATTERN = '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$';
export const SLUG_SENTENCE = 'must be 1 to 63 lower-case letters, digits and inner hyphens';

/** The problem of a name that is part of addresses, as the end of a sentence; undefined if there is none. */
export function checkSlug(slug: string): string | undefined {
  if (!new RegExp(SLUG_PATTERN).test(slug)) return SLUG_SENTENCE;
  return new RegExp(`^(?:${RESERVED_SLUGS.join('|')})$`).test(slug) ? 'is reserved for the server itself' : undefined;
}

/** The longest prefix of `text` that has at most `maxBytes` bytes of UTF-8 and ends with a whole character. */
export function cutBytes(text: string, maxBytes: number): string {
  // One UTF-16 unit takes at most three bytes, so most texts are short enough without counting.
  if (text.length * 3 <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Length(character.codePointAt(0) as number);
    if (bytes > maxBytes) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

/** A word of a command line, quoted where a shell would read it otherwise. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
