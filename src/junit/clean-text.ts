import { cutBytes } from '../lib/text.ts';

/** Stand for a literal `&` and `<`. They are noncharacters, so no report contains them. */
export const LITERAL_AMPERSAND = '\ufdd0';
export const LITERAL_LESS = '\ufdd1';
/** pytest's spelling of the escape character. */
export const WRITTEN_ESCAPE = '#x1B';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const ILLEGAL = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/g;
// Everything that cleanName changes begins with one of these.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const MAY_NEED_CLEANING = /[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufdd0\ufdd1\ufffe\uffff]|#x1B/;
// CSI with its parameters, OSC up to its terminator, other two-character escapes.
const ANSI =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /(?:\x1b|#x1B)\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]/g;
const ANSI_OF_8_BITS = /\x9b[0-?]{0,64}[ -/]{0,8}[@-~]/g;

/** Trims, removes colours and control characters, and cuts between characters to `maxBytes` of UTF-8. */
// SPEC J7
export function cleanText(text: string, maxBytes: number): string {
  const plain = text.replace(ANSI, '').replace(ANSI_OF_8_BITS, '').replace(CONTROL, '');
  return trimPlain(restoreMarkup(plain), maxBytes);
}

/**
 * The same for names. It removes only characters that XML forbids, as the reference uploader does: test ids are made of
 * names.
 */
export function cleanName(text: string, maxBytes: number): string {
  return trimPlain(restoreMarkup(text.replace(ANSI, '').replace(ILLEGAL, '')), maxBytes);
}

/** False for nearly every name, even in files with other repairs. */
export function mayNeedCleaning(name: string): boolean {
  return MAY_NEED_CLEANING.test(name);
}

/** Trims and cuts text that needs no cleaning. */
export function trimPlain(text: string, maxBytes: number): string {
  const needsTrim = !isInk(text.charCodeAt(0)) || !isInk(text.charCodeAt(text.length - 1));
  return cutBytes(needsTrim ? trimBlanks(text) : text, maxBytes);
}

/** True if markup characters were written unescaped. */
export function hasLiteralMarkup(text: string): boolean {
  return text.includes(LITERAL_AMPERSAND) || text.includes(LITERAL_LESS);
}

/** Certainly no white space: all of that is below or above this range. */
function isInk(code: number): boolean {
  return code > 0x20 && code < 0x80;
}

/** White space by Unicode. JavaScript's trim also removes a byte order mark; the reference uploader does not. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return BLANKS.includes(code) || (code >= 0x2000 && code <= 0x200a);
}

const BLANKS = [0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000];

function restoreMarkup(text: string): string {
  return text.replaceAll(LITERAL_AMPERSAND, '&').replaceAll(LITERAL_LESS, '<').toWellFormed();
}
