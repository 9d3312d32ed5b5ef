import { LITERAL_AMPERSAND, LITERAL_LESS } from './clean-text.ts';

// The five entities and references to characters XML allows are left alone. Everything else that starts with `&`, and every
// `<` that can start neither tag, comment, CDATA, declaration nor instruction, is meant literally.
const STRAY =
  /&(?!(?:amp|lt|gt|quot|apos|#(?:9|1[03]|3[2-9]|[4-9]\d|[1-9]\d{2,3}|x(?:9|[aAdD]|[2-9a-fA-F][\da-fA-F]|[1-9a-cA-C][\da-fA-F]{2,3})));)(?:#(\d{1,9}|[xX][\da-fA-F]{1,8});)?|<(?![A-Za-z_:/!?\u00c0-\ud7ff\uf900-\ufdcf]|$)|<!(?!--|\[CDATA\[|DOCTYPE)|<\?(?![A-Za-z_])/g;

/** The longest thing that must not be cut in two before it is looked at: `<![CDATA[`, `&#1114111;`. */
export const LONGEST_MARKUP = 16;

/**
 * Makes characters literal that would make a strict parser swallow what follows them: it reads from a bare `&` to the next
 * `;`, however far, never leaves `<!x`, and takes `List<?>` for an instruction. Where it stands (text, attribute, CDATA) does not matter, so none is tracked.
 */
export function repairMarkup(text: string): string {
  return text.replace(STRAY, replacement);
}

function replacement(match: string, reference: string | undefined): string {
  if (reference !== undefined) return character(reference);
  if (match === '&') return LITERAL_AMPERSAND;
  return LITERAL_LESS + match.slice(1);
}

/** Control characters become themselves: they are removed later together with the colour code they begin. */
function character(reference: string): string {
  const hex = /^x/i.test(reference);
  const code = hex ? Number.parseInt(reference.slice(1), 16) : Number.parseInt(reference, 10);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) {
    return '\ufffd';
  }
  const isControl = code < 0x20 && code !== 9 && code !== 10 && code !== 13;
  return isControl ? String.fromCharCode(code) : `&#${code};`;
}
