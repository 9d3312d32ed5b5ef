const MASK = '***';
/** Shorter pieces occur in any output. */
export const MIN_SECRET_LENGTH = 8;

export interface Masker {
  /** The end may be held back: it could be the beginning of a secret. */
  mask(bytes: Buffer): Buffer;
  /** The bytes that were held back. A new stream may follow. */
  end(): Buffer;
}

/** Enough between two characters of a secret. More, and what is held back would grow with the output. */
const MOST_SPACE = 10_000;

/** Replaces texts in a stream of bytes, also where they are encoded, broken by white space, or come in pieces. */
// SPEC R98
export function createMasker(secrets: readonly string[]): Masker {
  const forms = [...new Set(secrets.flatMap(formsOf).map((form) => form.replaceAll(SPACE, '')))].filter(
    (form) => form !== '',
  );
  const longest = Math.max(0, ...forms.map(({ length }) => length));
  let held = '';
  const take = (given: string, isEnd: boolean): Buffer => {
    const { text, places } = squeeze(given);
    const found = findForms(text, forms);
    let end = isEnd || longest === 0 ? text.length : text.length - beginningAt(text.slice(1 - longest), forms);
    // One that overlaps what waits, waits with it.
    for (const { from, to } of found.toReversed()) if (to > end) end = Math.min(end, from);
    const at = end === text.length ? given.length : (places[end] ?? given.length);
    const cut = given.length - at > longest + MOST_SPACE ? given.length : at;
    held = given.slice(cut);
    return Buffer.from(replaceSpans(given.slice(0, cut), found, places), 'latin1');
  };
  return {
    mask: (bytes) => take(held + bytes.toString('latin1'), false),
    end: () => take(held, true),
  };
}

/** Not those of Latin-1: they are bytes within characters of UTF-8. */
const SPACE = /[ \t\n\v\f\r]/g;

/** The text without white space, and where each of its characters was. */
function squeeze(given: string): { readonly text: string; readonly places: Int32Array } {
  const places = new Int32Array(given.length);
  let count = 0;
  for (let at = 0; at < given.length; at += 1) {
    const code = given.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13)) continue;
    places[count] = at;
    count += 1;
  }
  return { text: given.replaceAll(SPACE, ''), places };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** In order, and those that overlap as one. */
function findForms(text: string, forms: readonly string[]): readonly Span[] {
  const all: Span[] = [];
  for (const form of forms)
    for (let from = text.indexOf(form); from >= 0; from = text.indexOf(form, from + form.length))
      all.push({ from, to: from + form.length });
  const joined: Span[] = [];
  for (const span of all.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = joined.at(-1);
    if (last === undefined || span.from >= last.to) joined.push(span);
    else if (span.to > last.to) joined[joined.length - 1] = { from: last.from, to: span.to };
  }
  return joined;
}

function replaceSpans(given: string, spans: readonly Span[], places: Int32Array): string {
  let [masked, at] = ['', 0];
  for (const { from, to } of spans) {
    const [begin = 0, last = 0] = [places[from], places[to - 1]];
    if (last >= given.length) break;
    masked += given.slice(at, begin) + MASK;
    at = last + 1;
  }
  return masked + given.slice(at);
}

/** The length of the longest end that a form begins with, and goes on. */
function beginningAt(end: string, forms: readonly string[]): number {
  for (let length = end.length; length > 0; length -= 1) {
    const tail = end.slice(-length);
    if (forms.some((form) => length < form.length && form.startsWith(tail))) return length;
  }
  return 0;
}

/** The bytes of a secret and of its lines, as they are and as programs encode them, a character a byte. */
function formsOf(secret: string): readonly string[] {
  const texts = [secret, ...secret.split(/\r?\n/)].filter(({ length }) => length >= MIN_SECRET_LENGTH);
  return texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    const [percents, hex] = [encodeURIComponent(text), bytes.toString('hex')];
    const written = [text, percents, percents.replaceAll(/%../g, lowered), JSON.stringify(text).slice(1, -1)];
    const all = [...written, ...inXml(text)].map((each) => Buffer.from(each).toString('latin1'));
    return [...all, hex, hex.toUpperCase(), ...inBase64(bytes)];
  });
}

function lowered(text: string): string {
  return text.toLowerCase();
}

/** Writers of XML escape one of these sets of characters. Its readers undo it after the masking. */
function inXml(text: string): readonly string[] {
  const quotes = [{}, { '"': '&quot;' }, { '"': '&quot;', "'": '&apos;' }];
  const numbers = ['&#39;', '&#x27;'].flatMap((apostrophe) =>
    ['&quot;', '&#34;'].map((quote) => ({ '"': quote, "'": apostrophe })),
  );
  return [...quotes, ...numbers].flatMap((quoted) =>
    [{}, { '>': '&gt;' }].map((closed) => {
      const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', ...closed, ...quoted };
      return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
    }),
  );
}

/** Bytes before a text shift its base64: each shift has characters that the text alone decides. */
function inBase64(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = shift === 0 ? 0 : shift + 1;
    const sure = encoded.slice(from, Math.floor(((shift + bytes.length) * 8) / 6));
    return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
