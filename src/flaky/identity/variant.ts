const MAX_VARIANT_BYTES = 64;

/** Cuts a variant as the uploader does: 64 bytes of UTF-8, never within a character. */
export function cutVariant(variant: string | null | undefined): string {
  return cutBytes(variant ?? '', MAX_VARIANT_BYTES);
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
