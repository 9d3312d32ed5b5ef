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
  let held = '';
  return {
    mask: (bytes) => {
      const text = replaceAll(held + bytes.toString('latin1'), forms);
      const from = text.length - beginningAt(longest === 1 ? '' : text.slice(1 - longest), forms);
      held = text.slice(from);
      return Buffer.from(text.slice(0, from), 'latin1');
    },
    end: () => {
      const rest = Buffer.from(held, 'latin1');
      held = '';
      return rest;
    },
  };
}

function replaceAll(text: string, forms: readonly string[]): string {
  return forms.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

/** The length of the longest end that a form begins with. */
function beginningAt(end: string, forms: readonly string[]): number {
  for (let length = end.length; length > 0; length -= 1) {
    const tail = end.slice(-length);
    if (forms.some((form) => form.startsWith(tail))) return length;
  }
  return 0;
}

/** The bytes of a secret and of its lines, as they are and as programs encode them, a character a byte. */
function formsOf(secret: string): readonly string[] {
  const texts = [secret, ...secret.split(/\r?\n/)].filter(({ length }) => length >= MIN_SECRET_LENGTH);
  return texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    const written = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];
    return [...written.map((each) => Buffer.from(each).toString('latin1')), bytes.toString('hex'), ...inBase64(bytes)];
  });
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
