import { stripVTControlCharacters } from 'node:util';

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const COLOUR = /(\u001b\[[\d;]*m)/;

/** Cuts a text that is wider, and ends it in a mark. Colours take no cell, and are closed behind the cut. */
export function cut(text: string, width: number): string {
  if (shownWidth(text) <= width) return text;
  let kept = '';
  let room = width - 1;
  for (const [index, piece] of text.split(COLOUR).entries()) {
    if (index % 2 === 1) kept += piece;
    else if (room >= 0) {
      for (const { segment } of segments(piece)) {
        room -= segmentWidth(segment);
        kept += room < 0 ? '…' : segment;
        if (room < 0) break;
      }
    }
  }
  return kept;
}

let segmenter: Intl.Segmenter | undefined;

/** The segmenter takes milliseconds to make, and most texts need none. */
function segments(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

export function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII, the common case, needs no segments
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments(text)) width += segmentWidth(segment);
  return width;
}

// Characters that terminals draw two cells wide: emoji, and the scripts and forms of East Asia.
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]/u;

function segmentWidth(segment: string): number {
  return WIDE.test(segment) ? 2 : 1;
}

/** The text in lines of at most `width` cells, broken between words; a longer word is broken anywhere. */
export function wrap(text: string, width: number): string[] {
  return wrapWords(
    text.split(' ').flatMap((word) => breakWord(word, width)),
    width,
  );
}

// SPEC W29
export function wrapWords(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && shownWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

function breakWord(word: string, width: number): string[] {
  if (shownWidth(word) <= width) return [word];
  const parts = [''];
  for (const { segment } of segments(word)) {
    if (widthOf(`${parts.at(-1)}${segment}`) > width) parts.push('');
    parts[parts.length - 1] += segment;
  }
  return parts;
}

/** Without the colours, which take no cell. */
export function shownWidth(text: string): number {
  return widthOf(stripVTControlCharacters(text));
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - shownWidth(text)));
}
