import ts from 'typescript-6';

/**
 * The comments of a source file, each as one text; lines of `//` that follow each other are one comment.
 *
 * @param {string} source
 * @param {string} name of the file, whose end says whether it has elements
 * @returns {{ line: number, text: string }[]}
 */
export function readComments(source, name) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, false);
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  const found = [];
  for (const range of listRanges(file, source)) {
    const comment = { line: lineOf(range.pos), end: lineOf(range.end), isLine: range.kind === LINE };
    const text = clean(source.slice(range.pos, range.end));
    const last = found.at(-1);
    if (comment.isLine && last?.isLine && last.end + 1 === comment.line) {
      last.end = comment.end;
      last.text += ` ${text}`;
    } else found.push({ ...comment, text });
  }
  return found.map(({ line, text }) => ({ line, text }));
}

/**
 * The comments of a source file that have a riddle for their subject.
 *
 * @param {string} source
 * @param {string} name
 */
export function findRiddles(source, name) {
  // Parsing takes long, and few files have such a word after a mark of comments at all.
  if (!/(?:\/\/|\*)\W*(?:What|Whatever|Whoever|Nobody)\b/.test(source)) return [];
  return readComments(source, name).filter(({ text }) => /^\W*(?:What|Whatever|Whoever|Nobody)\b/.test(text));
}

const LINE = ts.SyntaxKind.SingleLineCommentTrivia;

/** Every comment stands before or after a token: the tokens are visited in order, and each comment is taken once. */
function listRanges(file, source) {
  const ranges = new Map();
  const take = (found) => {
    for (const range of found ?? []) ranges.set(range.pos, range);
  };
  const visit = (node) => {
    take(ts.getLeadingCommentRanges(source, node.pos));
    take(ts.getTrailingCommentRanges(source, node.end));
    // The end of a block or a list may have comments before it that belong to no node.
    if (node.end > 0) take(ts.getLeadingCommentRanges(source, lastTokenStart(node)));
    ts.forEachChild(node, visit, (nodes) => {
      take(ts.getLeadingCommentRanges(source, nodes.end));
      take(ts.getTrailingCommentRanges(source, nodes.end));
      for (const each of nodes) visit(each);
    });
  };
  visit(file);
  take(ts.getLeadingCommentRanges(source, file.endOfFileToken.pos));
  return [...ranges.values()].sort((a, b) => a.pos - b.pos);
}

function lastTokenStart(node) {
  return Math.max(node.pos, node.end - 1);
}

function clean(text) {
  return text
    .replace(/^\/\*+|\*+\/$|^\/\//g, '')
    .replace(/\n\s*\*/g, '\n')
    .replace(/\s+/g, ' ')
    .trim();
}
