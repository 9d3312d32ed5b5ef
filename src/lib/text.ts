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
