/**
 * Everything that is not ours is written into Markdown through here: titles, names of checks, tests and branches, what a
 * forge or a person said. Nothing of it becomes Markdown, HTML, a mention, a reference, a link, a picture or a command.
 * Backslashes do against Markdown and HTML. Forges look for mentions, references, addresses and names of emoji again in
 * the finished text, where the backslashes are gone: these are broken by a space without width. Hashes of commits stay
 * whole: people copy them, and what a forge makes of one leads to that commit of the same repository and calls nobody.
 */

const NO_WIDTH = '\u200b';

/** Texts of others end here; whoever wants all of it finds it at its source. */
const MAX_LENGTH = 500;

/** Written by somebody else, or with words of somebody else in it: shown as it is, in one line. */
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

export interface WordsOptions {
  readonly maxLength?: number;
  /** Numbers of pull requests that are meant as such. */
  readonly ours?: ReadonlySet<number>;
}

const NOBODY: ReadonlySet<number> = new Set();

/** A number of ours stays a reference, unless it is another repository's; any other is only text. */
function reference(digits: string | undefined, ours: ReadonlySet<number>): string {
  return digits !== undefined && ours.has(Number(digits)) ? `#${digits}` : `\\#${NO_WIDTH}${digits ?? ''}`;
}

/** A name as it is, in letters of one width. Nothing in it means anything to Markdown, but the marker of our comments. */
export function code(text: string, maxLength = 200): string {
  const tamed = tame(text, maxLength).replaceAll('<!--', `<${NO_WIDTH}!--`);
  if (tamed === '') return '(no name)';
  const runs = tamed.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map(({ length }) => length)) + 1);
  const pad = /^`|`$/.test(tamed) ? ' ' : '';
  return `${fence}${pad}${tamed}${pad}${fence}`;
}

/** `shown` is Markdown of ours. Where the address is none that a browser should follow, there is no link. */
export function link(shown: string, address: string | undefined): string {
  const href = address === undefined ? undefined : safeAddress(address);
  return href === undefined ? shown : `[${shown}](${href})`;
}

/** Longer ones are no addresses of pages. */
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

// Marks that turn the direction of writing, that nobody sees, or that hold hidden text. The joiner of emoji stays.
const UNSEEN = /(?!\u200d)[\p{Cc}\p{Cf}]|\u034f|\u115f|\u1160|\u3164|\uffa0|[\u{e0000}-\u{e0fff}]/gu;
/** A letter may have a few marks above and below it, and not a tower of them. */
const TOWER = /(\p{M}{3})\p{M}+/gu;

/** Plain text in one line, with nothing in it that shows as something else than it is. */
export function tame(text: string, maxLength = MAX_LENGTH): string {
  // Whatever is cut off need not be looked at.
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

/** As many lines as fit; where some do not, the last says so. */
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
