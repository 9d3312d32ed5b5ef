import { SaxesParser } from 'saxes';
import { LITERAL_AMPERSAND, LITERAL_LESS, WRITTEN_ESCAPE } from './clean-text.ts';
import type { IssueList } from './issue-list.ts';
import type { JunitLimits } from './limits.ts';
import { type Attributes, createTagAttributes } from './tag-attributes.ts';

export interface XmlHandler {
  /** No `close` follows if it is empty. */
  open(name: string, attributes: Attributes, line: number, isEmpty: boolean): void;
  /** An end tag that is really in the file. It may close nothing, and elements still open inside get no call. */
  close(name: string, line: number): void;
  text(text: string): void;
  cdata(text: string): void;
}

export interface XmlReader {
  write(text: string): void;
  /** Returns true if the file ended between tags. */
  end(): boolean;
  stop(): void;
  line(): number;
  /** True if cleanName would change nothing in the current tag. */
  isPlain(): boolean;
}

/** The buffers of saxes for an incomplete token. It has no limits of its own; the version is pinned. */
interface Inside {
  text: string;
  name: string;
  piTarget: string;
  pushAttrib(name: string, value: string): void;
  processAttribs(): void;
  readonly tags: unknown[];
}

const BLOCK = 65_536;

/**
 * Errors in nearly every concatenated file, and in files with a space before the declaration. Other code detects the
 * real faults.
 */
const QUIET = /XML declaration|name\/value|^expected|only one root|outside of root|must contain a root|unclosed tag/;
const UNEXPECTED_CLOSE = 'unexpected close tag.';
const UNMATCHED_CLOSE = 'unmatched closing tag: ';

/**
 * Wraps saxes to be lenient and bounded. It feeds saxes blocks of one size, so the cut of incoming pieces never changes
 * a result. After each block it trims the buffers.
 */
// SPEC J9, J20
export function createXmlReader(handler: XmlHandler, issues: IssueList, limits: JunitLimits): XmlReader {
  const parser = new SaxesParser({
    xmlns: false,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
    position: false,
  } as const);
  const inside = parser as unknown as Inside;
  const attributes = createTagAttributes(limits.attributesPerTag);
  let waiting = '';
  let stopped = false;
  let cutShort = false;
  let tagLine = 1;
  let blockIsPlain = true;
  let tagIsPlain = true;
  let lastLine: number | undefined;
  /** The kept start of the token that was cut last. */
  let kept: string | undefined;
  /** A tag that saxes has popped. Only the next event shows whether its own end tag did that. */
  let popped: string | undefined;

  const settle = () => {
    if (popped === undefined) return;
    const name = popped;
    popped = undefined;
    if (!stopped) handler.close(name, parser.line);
  };

  const cut = () => {
    if (inside.text.length > limits.tokenChars) {
      if (inside.name !== '' && !stopped) issues.add('tooLong', tagLine, inside.name);
      // A token that began since the last cut is shorter than a block, so this is the same token as before. Copying its
      // kept start again for each block would cost more than all the rest.
      kept = limits.tokenChars > 2 * BLOCK ? kept : undefined;
      kept ??= inside.text.slice(0, limits.tokenChars);
      inside.text = kept;
    } else kept = undefined;
    if (inside.name.length > 1_000) inside.name = inside.name.slice(0, 1_000);
    if (inside.piTarget.length > 1_000) inside.piTarget = inside.piTarget.slice(0, 1_000);
    // Drops tags that are never closed. The handler has its own stack and does not need that of saxes.
    if (inside.tags.length > 2 * limits.depth) inside.tags.length = 0;
  };

  const feed = (block: string) => {
    const repaired = repairMarkup(block);
    blockIsPlain = repaired === block && !block.includes(WRITTEN_ESCAPE);
    tagIsPlain &&= blockIsPlain;
    parser.write(repaired);
    settle();
    cut();
  };

  // Errors of saxes carry a stack trace each, and a hostile file has millions.
  parser.fail = (message) => {
    if (message === UNEXPECTED_CLOSE) popped = undefined;
    else if (message.startsWith(UNMATCHED_CLOSE)) {
      settle();
      if (!stopped) handler.close(message.slice(UNMATCHED_CLOSE.length, -1), parser.line);
    } else if (message === 'disallowed character.') tagIsPlain = false;
    else if (message === 'unexpected end.') cutShort = true;
    else if (!stopped && !QUIET.test(message)) {
      issues.add('malformed', parser.line, message);
    }
    return parser;
  };
  inside.pushAttrib = (name, value) => {
    if (attributes.add(name, value)) parser.fail(`duplicate attribute: ${name}.`);
    if (attributes.count() === limits.attributesPerTag + 1) {
      issues.add('tooManyAttributes', tagLine, String(limits.attributesPerTag));
    }
  };
  // The attributes are collected elsewhere. saxes would build a hash table for each tag, a sixth of the total time.
  inside.processAttribs = () => undefined;
  parser.on('opentagstart', () => {
    settle();
    tagLine = parser.line;
    tagIsPlain = blockIsPlain;
  });
  parser.on('opentag', (tag) => {
    const read = attributes.take();
    if (!stopped) handler.open(tag.name, read, tagLine, tag.isSelfClosing);
  });
  parser.on('closetag', (tag) => {
    settle();
    if (!tag.isSelfClosing) popped = tag.name;
  });
  parser.on('text', (text) => {
    settle();
    if (!stopped) handler.text(text);
  });
  parser.on('cdata', (text) => {
    settle();
    if (!stopped) handler.cdata(text);
  });
  parser.on('doctype', (text) => {
    if (text.includes(`${LITERAL_LESS}!ENTITY`)) issues.add('entities', parser.line);
  });

  return {
    write(text) {
      if (stopped) return;
      waiting += text;
      let from = 0;
      while (waiting.length - from >= BLOCK && !stopped) {
        const to = from + blockEnd(waiting, from);
        feed(copyOf(waiting, from, to));
        from = to;
      }
      waiting = stopped ? '' : waiting.slice(from);
    },
    end() {
      if (stopped) return false;
      // Drops half a surrogate pair at the very end; saxes throws at it.
      feed(waiting.replace(/[\ud800-\udbff]$/, ''));
      waiting = '';
      // Closing resets saxes to line 1.
      lastLine = parser.line;
      parser.close();
      return !cutShort && !stopped;
    },
    stop() {
      stopped = true;
    },
    isPlain: () => tagIsPlain,
    line: () => lastLine ?? parser.line,
  };
}

/** A real copy. A slice points into its source, and saxes reads it character by character at half the speed. */
function copyOf(text: string, from: number, to: number): string {
  const middle = (from + to) >> 1;
  return [text.slice(from, middle), text.slice(middle, to)].join('');
}

/** A block must not end inside markup that repairMarkup needs to see whole. */
// SPEC J12
function blockEnd(text: string, from: number): number {
  const end = from + BLOCK;
  for (let at = end - LONGEST_MARKUP; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x26 || code === 0x3c) return at - from;
  }
  // Nor between the halves of a surrogate pair.
  if ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800) return BLOCK - 1;
  return BLOCK;
}

// The five entities and the character references that XML allows stay as they are. Any other `&`, and every `<` that
// cannot start a tag, comment, CDATA, declaration or instruction, is literal.
const STRAY =
  /&(?!(?:amp|lt|gt|quot|apos|#(?:9|1[03]|3[2-9]|[4-9]\d|[1-9]\d{2,3}|x(?:9|[aAdD]|[2-9a-fA-F][\da-fA-F]|[1-9a-cA-C][\da-fA-F]{2,3})));)(?:#(\d{1,9}|[xX][\da-fA-F]{1,8});)?|<(?![A-Za-z_:/!?\u00c0-\ud7ff\uf900-\ufdcf]|$)|<!(?!--|\[CDATA\[|DOCTYPE)|<\?(?![A-Za-z_])/g;

/** The longest token that must not be cut before repair: `<![CDATA[`, `&#1114111;`. */
const LONGEST_MARKUP = 16;

/**
 * Replaces characters that would make a strict parser swallow the text after them. Such a parser reads from a bare `&`
 * to the next `;`, however far, never leaves `<!x`, and takes `List<?>` for an instruction. The context (text,
 * attribute, CDATA) does not matter, so none is tracked.
 */
// SPEC J11
function repairMarkup(text: string): string {
  return text.replace(STRAY, replacement);
}

function replacement(match: string, reference: string | undefined): string {
  if (reference !== undefined) return character(reference);
  if (match === '&') return LITERAL_AMPERSAND;
  return LITERAL_LESS + match.slice(1);
}

/** Control characters are decoded here; a later step removes them together with the colour code they begin. */
function character(reference: string): string {
  const hex = /^x/i.test(reference);
  const code = hex ? Number.parseInt(reference.slice(1), 16) : Number.parseInt(reference, 10);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) {
    return '\ufffd';
  }
  const isControl = code < 0x20 && code !== 9 && code !== 10 && code !== 13;
  return isControl ? String.fromCharCode(code) : `&#${code};`;
}
