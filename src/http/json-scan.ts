import type { LongList } from '../contract/operation.ts';
import { HttpProblem } from './core/problem.ts';

const MAX_DEPTH = 64;
/** The parser builds all values at once and blocks the server meanwhile: 20 MiB can contain ten million of them. */
const MAX_VALUES = 100_000;
/** Keys cost most, because each is hashed. No operation needs as many outside its long list. */
const MAX_KEYS = 20_000;
/** All strings, keys, numbers and literals together. No operation needs more outside its long list. */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;
/** The limit of a long list is 100,000 items. One more is parsed, so that validation can refuse it. */
const MAX_ITEMS = 100_001;
/** No string of any operation is longer, so that patterns need not run on longer ones. */
export const MAX_TEXT_LENGTH = 65_536;
/** `\u0041` is the longest form of a character: a string of more bytes is too long in any case. */
const MAX_TEXT_BYTES = 6 * MAX_TEXT_LENGTH;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BLANK = 0x20;

const MANY_BLANKS = 1_024;

/** Offsets in the body. */
export interface Cut {
  readonly start: number;
  readonly end: number;
}

/** The chunk that exceeds a limit is the last one kept. Invalid JSON is accepted: the parser refuses it later. */
// SPEC H13
export class JsonScan {
  /** Colons outside texts and the cut. */
  keys = 0;
  hasEscapes = false;
  /** Ranges that are not parsed: items of the long list past the limit, and long runs of blanks. */
  readonly cuts: Cut[] = [];

  readonly #longList: LongList | undefined;
  /** Whether each open level is an object. Level 0 is around the body. */
  readonly #isObject = [false];
  #level = 0;
  #values = 0;
  #expectsValue = true;
  #isInText = false;
  #isEscaped = false;
  #isInWord = false;
  #textBytes = 0;
  #contentBytes = 0;
  /** Keys outside the items of the long list. */
  #keysApart = 0;
  /** The number of bytes in earlier pieces. */
  #seen = 0;
  /** The beginning of a string at the top level, which may be the key of the long list. */
  #key = '';
  #isLongListNext = false;
  /** 2 while the long list is open, which happens only once. */
  #longLevel: 0 | 2 | undefined = undefined;
  #items = 0;
  #fieldsLeft = 0;
  #cutStart = -1;

  constructor(longList?: LongList) {
    this.#longList = longList;
  }

  feed(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#isInText) {
        at = this.#passText(piece, at);
        continue;
      }
      const byte = piece[at] as number;
      if (byte > COMMA && byte !== COLON && byte < OPEN_BRACKET) at = this.#passWord(piece, at);
      else if (byte === COMMA) this.#comma(at);
      else if (byte === QUOTE) this.#openText();
      else if (byte === COLON) this.#colon();
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close(at);
      else if (byte > BLANK) at = this.#passWord(piece, at);
      else at = this.#passBlanks(piece, at);
    }
    this.#seen += piece.length;
  }

  #openText(): void {
    this.#isInWord = false;
    this.#isInText = true;
    this.#textBytes = 0;
    this.#key = '';
    if (this.#expectsValue) this.#count();
  }

  /** Skips to the end of the string or of the piece. Returns the last position. */
  #passText(piece: Uint8Array, start: number): number {
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    while (at < piece.length) {
      const byte = piece[at] as number;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        this.hasEscapes = true;
        at++;
      }
      at++;
    }
    this.#isEscaped = at > piece.length;
    this.#isInText = at >= piece.length;
    const end = Math.min(at, piece.length);
    this.#textBytes += end - start;
    if (this.#textBytes > MAX_TEXT_BYTES) throw textTooLong();
    this.#countContent(end - start);
    if (this.#level === 1 && !this.#expectsValue) this.#readKey(piece, start, end);
    return end;
  }

  #readKey(piece: Uint8Array, start: number, end: number): void {
    if (this.#longList === undefined || this.#textBytes > this.#longList.key.length) this.#key = '';
    else this.#key += Buffer.from(piece.buffer, piece.byteOffset + start, end - start).toString('latin1');
  }

  /** Skips a number, true, false or null, or invalid bytes. */
  #passWord(piece: Uint8Array, start: number): number {
    if (!this.#isInWord) this.#count();
    this.#isInWord = true;
    let at = start + 1;
    while (at < piece.length && isOfWord(piece[at] as number)) at++;
    this.#countContent(at - start);
    return at - 1;
  }

  /** One blank of many stays: it may stand between two values, which is invalid JSON. */
  #passBlanks(piece: Uint8Array, start: number): number {
    this.#isInWord = false;
    let at = start + 1;
    while (at < piece.length && isBlank(piece[at] as number)) at++;
    if (at - start > MANY_BLANKS && this.#cutStart === -1) {
      this.cuts.push({ start: this.#seen + start + 1, end: this.#seen + at });
    }
    return at - 1;
  }

  #colon(): void {
    this.#isInWord = false;
    this.#expectsValue = true;
    if (this.#cutStart === -1) this.#countKey();
    this.#isLongListNext = this.#level === 1 && this.#longLevel === undefined && this.#key === this.#longList?.key;
  }

  #comma(at: number): void {
    this.#isInWord = false;
    this.#expectsValue = !this.#isObject[this.#level];
    this.#isLongListNext = false;
    if (this.#level !== this.#longLevel || this.#cutStart !== -1) return;
    this.#items += 1;
    if (this.#items === MAX_ITEMS) this.#cutStart = this.#seen + at;
  }

  #open(isObject: boolean): void {
    this.#isInWord = false;
    this.#count();
    this.#level += 1;
    if (this.#level > MAX_DEPTH) throw malformed(`The body is nested more than ${MAX_DEPTH} levels deep.`);
    if (this.#isLongListNext && !isObject) this.#longLevel = 2;
    this.#isLongListNext = false;
    if (this.#longLevel === 2 && this.#level === 3) this.#fieldsLeft = this.#longList?.fields ?? 0;
    this.#isObject[this.#level] = isObject;
    this.#expectsValue = !isObject;
  }

  #close(at: number): void {
    this.#isInWord = false;
    if (this.#longLevel === 2 && this.#level === 2) {
      if (this.#cutStart !== -1) this.cuts.push({ start: this.#cutStart, end: this.#seen + at });
      this.#cutStart = -1;
      this.#longLevel = 0;
    }
    this.#level = Math.max(0, this.#level - 1);
    this.#expectsValue = false;
  }

  #count(): void {
    if (this.#longLevel === 2) {
      if (this.#cutStart !== -1 || this.#level === 2) return;
      if (this.#level === 3 && this.#fieldsLeft > 0) {
        this.#fieldsLeft -= 1;
        return;
      }
    }
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw tooMany(`${MAX_VALUES} values`);
  }

  #countKey(): void {
    this.keys += 1;
    if (this.#longLevel === 2 && this.#isField()) return;
    this.#keysApart += 1;
    if (this.#keysApart > MAX_KEYS) throw tooMany(`${MAX_KEYS} fields`);
  }

  #countContent(bytes: number): void {
    if (this.#longLevel === 2 && (this.#cutStart !== -1 || this.#level === 2 || this.#isField())) return;
    this.#contentBytes += bytes;
    if (this.#contentBytes > MAX_CONTENT_BYTES)
      throw tooMany(`${MAX_CONTENT_BYTES / 1024 / 1024} MiB of texts and numbers`);
  }

  // SPEC H30
  #isField(): boolean {
    return this.#level === 3 && (this.#longList?.fields ?? 0) > 0;
  }
}

function isBlank(byte: number): boolean {
  return byte === BLANK || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isOfWord(byte: number): boolean {
  if (byte <= BLANK || byte === COMMA || byte === COLON || byte === QUOTE) return false;
  return byte !== OPEN_BRACE && byte !== CLOSE_BRACE && byte !== OPEN_BRACKET && byte !== CLOSE_BRACKET;
}

function tooMany(what: string): HttpProblem {
  return new HttpProblem('BODY_TOO_LARGE', `The body has more than ${what}. Send less at once.`);
}

export function textTooLong(): HttpProblem {
  const detail = `The body has a text longer than ${MAX_TEXT_LENGTH} characters.`;
  return new HttpProblem('VALIDATION_FAILED', detail, [{ path: '', message: 'has a text that is too long' }]);
}

export function malformed(detail: string): HttpProblem {
  return new HttpProblem('MALFORMED_JSON', detail);
}
