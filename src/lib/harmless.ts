import { stripVTControlCharacters } from 'node:util';

// Control characters but tabs and line ends, marks that reorder text, and characters that show nothing.
const HIDDEN = /[[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]--[\t\n]]+/gv;

const SECRETS: readonly RegExp[] = [
  /slc_[\w-]{20,}/g,
  /(?:gh[pousr]_|github_pat_)\w{20,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=:\/\/)[^\s/@:"']*:[^\s/@"']+(?=@)/g,
];

// A bounded number of blanks keeps it linear.
const AUTHORIZATION = /(\bauthorization["']?\s{0,9}[:=]\s{0,9}["']?(?:bearer|basic|token)\s{1,9})[^\s"']+/gi;

/** Text of others, for reading. Known shapes of credentials are removed, and always the given one. */
// SPEC W57
export function makeHarmless(text: string, secret?: string): string {
  const visible = stripVTControlCharacters(text).replace(/\r\n?/g, '\n').replace(HIDDEN, ' ');
  const own = secret === undefined ? visible : visible.replaceAll(secret, REMOVED);
  const known = SECRETS.reduce((so, shape) => so.replace(shape, REMOVED), own);
  return known.replace(AUTHORIZATION, `$1${REMOVED}`);
}

const REMOVED = '[secret removed]';
