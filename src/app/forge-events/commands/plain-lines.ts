/**
 * A line that Markdown renderers may read in two ways does not count: a missed command is easily written again, one run
 * by accident is hard to undo. It takes one pass over a text of any length.
 */
// SPEC G50
export function* plainLines(text: string): Generator<string> {
  let fence: Fence | undefined;
  let hidden: RegExp | undefined;
  let wasQuote = false;
  let paragraph: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (fence !== undefined) {
      if (!hasLeft(line, fence) && !isEndOf(line, fence)) continue;
      const isEnd = isEndOf(line, fence);
      fence = undefined;
      if (isEnd) continue;
    }
    if (hidden !== undefined) {
      if (hidden.test(line)) hidden = undefined;
      continue;
    }
    const isBlank = line.trim() === '';
    const isQuote = /^ {0,3}>/.test(line.slice(leadOf(line).length));
    const opened = fenceOf(line);
    hidden = opened === undefined ? hiddenFrom(line) : undefined;
    // Without a blank line between, the line after a quote belongs to it.
    const isPlain = !isBlank && !isQuote && !wasQuote && opened === undefined && hidden === undefined;
    wasQuote = isQuote || (wasQuote && !isBlank);
    if (isPlain && !INDENTED.test(line)) {
      paragraph.push(line);
      continue;
    }
    yield* outsideOfCode(paragraph);
    paragraph = [];
    fence = opened;
  }
  yield* outsideOfCode(paragraph);
}

const INDENTED = /^(?: {4}| {0,3}\t)/;

interface Fence {
  readonly mark: string;
  /** The indentation of the list item that has the fence: the item ends at a line that is indented less. */
  readonly indent: number;
}

function fenceOf(line: string): Fence | undefined {
  const lead = leadOf(line);
  const [, mark, info = ''] = /^ {0,12}(`{3,}|~{3,})(.*)$/.exec(line.slice(lead.length)) ?? [];
  if (mark === undefined || (mark.startsWith('`') && info.includes('`'))) return undefined;
  return { mark, indent: lead.length };
}

/** The list markers at the beginning of the line. */
function leadOf(line: string): string {
  return /^((?: {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4})*)/.exec(line)?.[1] ?? '';
}

function isEndOf(line: string, { mark }: Fence): boolean {
  const rest = line.trim();
  return rest.length >= mark.length && rest === (mark[0] as string).repeat(rest.length);
}

function hasLeft(line: string, { indent }: Fence): boolean {
  return indent > 0 && line.trim() !== '' && line.length - line.trimStart().length < Math.min(indent, 2);
}

/** For a comment, or a tag without Markdown inside, that begins in this line and does not end in it: how it ends. */
function hiddenFrom(line: string): RegExp | undefined {
  if (!line.includes('<')) return undefined;
  const lower = line.toLowerCase();
  for (const { begin, end, ends } of HIDDEN) {
    const at = lower.lastIndexOf(begin);
    if (at >= 0 && lower.indexOf(end, at + begin.length) < 0) return ends;
  }
  return /<[a-z/][^<>]*$/.test(lower) ? TAG_ENDS : undefined;
}

/** The inside of a tag is not shown. A blank line ends a tag. */
const TAG_ENDS = />|^\s*$/;

const HIDDEN = [
  { begin: '<!--', end: '-->', ends: /-->/ },
  ...['pre', 'code', 'script', 'style', 'textarea', 'template'].map((tag) => ({
    begin: `<${tag}`,
    end: `</${tag}`,
    ends: new RegExp(`</${tag}`, 'i'),
  })),
  { begin: '<![cdata[', end: ']]>', ends: /\]\]>/ },
  { begin: '<?', end: '?>', ends: /\?>/ },
];

/** Code between backticks may span lines of a paragraph: lines that begin inside it do not count. */
function* outsideOfCode(paragraph: readonly string[]): Generator<string> {
  const left = new Map<number, number>();
  const runs = paragraph.flatMap((line, index) =>
    [...line.matchAll(/\\.|`+/g)].filter(([run]) => run.startsWith('`')).map(([run]) => ({ size: run.length, index })),
  );
  for (const { size } of runs) left.set(size, (left.get(size) ?? 0) + 1);
  let next = 0;
  let open: number | undefined;
  for (const [index, line] of paragraph.entries()) {
    if (open === undefined) yield line;
    for (let run = runs[next]; run?.index === index; run = runs[next]) {
      next += 1;
      const more = (left.get(run.size) ?? 1) - 1;
      left.set(run.size, more);
      if (open === run.size) open = undefined;
      else if (open === undefined && more > 0) open = run.size;
    }
  }
}
