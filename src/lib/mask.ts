const MASK = '***';
/** Shorter pieces occur in any output. */
export const MIN_SECRET_LENGTH = 8;

export interface Masker {
  /** The end may be held back: it could be the beginning of a secret. */
  mask(bytes: Buffer): Buffer;
  /** The bytes that were held back. A new stream may follow. */
  end(): Buffer;
}

/** Replaces texts in a stream of bytes, also where they are encoded or come in pieces. */
// SPEC R98
export function createMasker(secrets: readonly string[]): Masker {
  const forms = [...new Set(secrets.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
  const longest = forms[0]?.length ?? 1;
  const longer = forms.flatMap((form) => {
    const least = Math.min(
      ...forms.filter((other) => form !== other && form.startsWith(other)).map(({ length }) => length),
    );
    return least < form.length ? { form, least } : [];
  });
  const any = forms.map((form) => ({ form, least: 1 }));
  const endOf = (text: string) => (longest === 1 ? '' : text.slice(1 - longest));
  let held = '';
  return {
    mask: (bytes) => {
      const given = held + bytes.toString('latin1');
      // A form that may go on as a longer one waits for what follows.
      const sure = given.length - beginningAt(endOf(given), longer);
      const text = replaceAll(given.slice(0, sure), forms);
      const from = sure < given.length ? text.length : text.length - beginningAt(endOf(text), any);
      held = text.slice(from) + given.slice(sure);
      return Buffer.from(text.slice(0, from), 'latin1');
    },
    end: () => {
      const rest = Buffer.from(replaceAll(held, forms), 'latin1');
      held = '';
      return rest;
    },
  };
}

function replaceAll(text: string, forms: readonly string[]): string {
  return forms.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

interface Beginning {
  readonly form: string;
  /** Shorter ends do not count. */
  readonly least: number;
}

/** The length of the longest end that a form begins with. */
function beginningAt(end: string, forms: readonly Beginning[]): number {
  for (let length = end.length; length > 0; length -= 1) {
    const tail = end.slice(-length);
    if (forms.some(({ form, least }) => length >= least && length < form.length && form.startsWith(tail)))
      return length;
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
    const lines = shift === 0 ? LINE_WIDTHS.flatMap((width) => linesOf(sure, width)) : [];
    return [sure, sure.replaceAll('+', '-').replaceAll('/', '_'), ...lines];
  });
}

/** Of PEM and OpenSSL, and of base64. */
const LINE_WIDTHS = [64, 76];

function linesOf(text: string, width: number): readonly string[] {
  const count = Math.ceil(text.length / width);
  const lines = Array.from({ length: count }, (_, index) => text.slice(index * width, (index + 1) * width));
  return lines.filter(({ length }) => length >= MIN_SECRET_LENGTH);
}
