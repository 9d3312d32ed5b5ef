/**
 * Escapes foreign text for Markdown. Backslashes stop Markdown and HTML. Forges search the rendered text again for
 * mentions, references, addresses and emoji names, where backslashes are gone: a zero-width space breaks these. Commit
 * hashes stay whole, so that people can copy them; a forge links them to a commit of the same repository.
 */

const NO_WIDTH = '\u200b';

/** Longer texts are cut; their source has all of them. */
const MAX_LENGTH = 500;

/** Foreign text, escaped and in one line. */
// SPEC G46
export function words(text: string, { maxLength = MAX_LENGTH, ours = NOBODY }: WordsOptions = {}): string {
  return tame(text, maxLength)
    .replace(/[\\`*_[\]<>#|~$&]/g, String.raw`\$&`)
    .replace(/^[-+=:/.]/, String.raw`\$&`)
    .replace(/^(\d{1,9})([.)])/, String.raw`$1\$2`)
    .replaceAll('@', `@${NO_WIDTH}`)
    .replace(/\\#(\d{1,9}(?!\d))?/g, (_, digits?: string, at = 0, all = '') =>
      reference(digits, /[\w/.-]$/.test(all.slice(Math.max(0, at - 1), at)) ? NOBODY : ours),
    )
    .replace(/\bgh(?=-\d)/gi, `$&${NO_WIDTH}`)
    .replace(/:(?=\/\/|[\w+\\-]{1,100}:)/g, `:${NO_WIDTH}`)
    .replace(/\b(?:www|mailto|xmpp)(?=[.:])/gi, `$&${NO_WIDTH}`);
}

interface WordsOptions {
  readonly maxLength?: number;
  /** Pull requests that may become references. */
  readonly ours?: ReadonlySet<number>;
}

const NOBODY: ReadonlySet<number> = new Set();

/** An own number stays a reference, unless it follows the name of another repository. */
function reference(digits: string | undefined, ours: ReadonlySet<number>): string {
  return digits !== undefined && ours.has(Number(digits)) ? `#${digits}` : `\\#${NO_WIDTH}${digits ?? ''}`;
}

/** Inline code. Markdown has no meaning inside it, except for the marker of our comments. */
export function code(text: string, maxLength = 200): string {
  const tamed = tame(text, maxLength).replaceAll('<!--', `<${NO_WIDTH}!--`);
  if (tamed === '') return '(no name)';
  const runs = tamed.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map(({ length }) => length)) + 1);
  const pad = /^`|`$/.test(tamed) ? ' ' : '';
  return `${fence}${pad}${tamed}${pad}${fence}`;
}

/** `shown` is Markdown of ours. An address that a browser should not open gives no link. */
// SPEC G142
export function link(shown: string, address: string | undefined): string {
  const href = address === undefined ? undefined : safeAddress(address);
  return href === undefined ? shown : `[${shown}](${href})`;
}

/** A longer address is not that of a page. */
const MAX_ADDRESS = 1_000;

export function safeAddress(address: string): string | undefined {
  if (address.length > MAX_ADDRESS || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isPage = url.protocol === 'https:' || url.protocol === 'http:';
  if (!isPage || url.username !== '' || url.password !== '') return undefined;
  const href = url.href.replace(/[^\w\-.~:/?#!$&*+,;=%]/g, encodeOther);
  return href.length > 2 * MAX_ADDRESS ? undefined : href;
}

function encodeOther(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

// Characters that turn the writing direction, are invisible, or hide text. The joiner of emoji stays.
const UNSEEN = /(?!\u200d)[\p{Cc}\p{Cf}]|\u034f|\u115f|\u1160|\u3164|\uffa0|[\u{e0000}-\u{e0fff}]/gu;
/** More than a few combining marks on one letter would cover other lines. */
const TOWER = /(\p{M}{3})\p{M}+/gu;

/** Plain text in one line, without control and invisible characters. */
export function tame(text: string, maxLength = MAX_LENGTH): string {
  // Bounds the work for very long texts.
  const seen = text
    .slice(0, 4 * maxLength)
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(UNSEEN, '')
    .replace(TOWER, '$1')
    .replace(/ {2,}/g, ' ')
    .trim();
  const isCut = text.length > 4 * maxLength || seen.length > maxLength;
  return isCut ? `${seen.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…` : seen;
}

/** Joins as many lines as fit. If some do not, `rest` is the last line. */
export function joinLines(lines: readonly string[], maxLength: number, rest: string): string {
  let length = 0;
  const room = maxLength - rest.length - 2;
  const kept: string[] = [];
  for (const line of lines) {
    length += line.length + 1;
    if (length > room) return [...kept, rest].join('\n');
    kept.push(line);
  }
  return kept.join('\n');
}
