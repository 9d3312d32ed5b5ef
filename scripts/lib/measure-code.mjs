import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';

/** @typedef {{ file: string, nodes: number, lines: number, functions: Part[], ports: Part[], titles: Part[] }} Measured */
/** @typedef {{ name: string, line: number, size: number }} Part */

/** The files of each part of the house that has a budget. Data and generated files are not among them. */
export const PARTS = {
  'src without the page, bench, scripts and examples': listFiles(
    ['src/**/*.{ts,tsx}', '{bench,scripts,examples}/**/*.{ts,mjs}'],
    (file) => !isTest(file) && !file.startsWith('src/web/'),
  ),
  'the page': listFiles(['src/web/**/*.{ts,tsx}'], (file) => !isTest(file)),
  tests: listFiles(['{src,bench,scripts,examples}/**/*.test.{ts,tsx}', 'test/**/*.{ts,tsx,mjs}'], () => true),
};

/**
 * Nodes of the syntax tree do not depend on the formatter or on comments, as lines do.
 *
 * @param {string} file
 * @returns {Measured}
 */
export function measureFile(file) {
  const text = readFileSync(file, 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const measured = { file, nodes: 0, lines: text.split('\n').length - 1, functions: [], ports: [], titles: [] };
  const visit = (node) => {
    measured.nodes += 1;
    const line = lineAt(node.getStart(tree));
    if (ts.isFunctionLike(node) && node.body !== undefined)
      measured.functions.push({ name: nameOf(node), line, size: lineAt(node.end) - line + 1 });
    else if (ts.isInterfaceDeclaration(node))
      measured.ports.push({ name: node.name.text, line, size: node.members.filter(isMethod).length });
    else if (isTitled(node))
      measured.titles.push({ name: node.arguments[0].getText(tree).slice(1, -1), line, size: 0 });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return measured;
}

function listFiles(patterns, isWanted) {
  return () => patterns.flatMap((pattern) => globSync(pattern)).filter(isWanted);
}

function isTest(file) {
  return /\.test\.tsx?$/.test(file);
}

function nameOf(node) {
  return (node.name ?? node.parent?.name)?.getText() ?? 'a function without a name';
}

function isMethod(member) {
  return (
    ts.isMethodSignature(member) ||
    (ts.isPropertySignature(member) && member.type !== undefined && ts.isFunctionTypeNode(member.type))
  );
}

/** The title of a test or of a group of tests. */
function isTitled(node) {
  return (
    ts.isCallExpression(node) &&
    /^(?:it|test|describe|story)$/.test(node.expression.getText().split('.')[0] ?? '') &&
    node.arguments[0] !== undefined &&
    /^['"`]/.test(node.arguments[0].getText())
  );
}
