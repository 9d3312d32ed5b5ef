// `npm run figures`: how large the house is and how tidy. One line a figure.
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { findFolderCircles, readImports } from './lib/folder-circles.mjs';
import { measureFile, PARTS } from './lib/measure-code.mjs';
import { projectRoot } from './lib/node24.mjs';
import { findRiddles, readComments } from './lib/read-comments.mjs';

process.chdir(projectRoot);
const isTest = (file) => file.endsWith('.test.ts');
const source = globSync('src/**/*.{ts,tsx}').filter((file) => !isTest(file));
const code = [
  ...source,
  ...globSync('src/**/*.test.ts'),
  ...globSync('test/**/*.ts'),
  ...globSync('{bench,scripts,examples}/**/*.{ts,mjs}'),
];

for (const [part, list] of Object.entries(PARTS)) {
  const measured = list().map(measureFile);
  print(part, sizeOf(measured));
  for (const [room, files] of roomsOf(measured)) print(`  ${room}`, sizeOf(files));
}
print('files at the top of src/app', source.filter((file) => dirname(file) === 'src/app').length);
print('circles between folders', findFolderCircles(readImports(source)).length);
print('comments', code.flatMap((file) => readComments(readText(file), file)).length);
print(
  'comments that begin with What, Whoever or Nobody',
  code.flatMap((file) => findRiddles(readText(file), file)).length,
);
print('longest source file', ...longest(source));
for (const [file, ms] of listSlowest(10)) print('slow test file', `${(ms / 1000).toFixed(1)} s`, file);

function sizeOf(files) {
  const sum = (key) => files.reduce((total, file) => total + file[key], 0);
  return `${sum('nodes')} nodes, ${sum('lines')} lines, ${files.length} files`;
}

/** The largest first. A room is a folder of src, or one beside it. */
function roomsOf(measured) {
  const rooms = Map.groupBy(measured, ({ file }) =>
    file
      .split('/')
      .slice(0, file.startsWith('src/') ? 2 : 1)
      .join('/'),
  );
  const nodes = (files) => files.reduce((total, file) => total + file.nodes, 0);
  return [...rooms].sort(([, a], [, b]) => nodes(b) - nodes(a));
}

function print(name, ...values) {
  process.stdout.write(`${name}: ${values.join(' ')}\n`);
}

function readText(file) {
  return readFileSync(file, 'utf8');
}

function countLines(files) {
  return files.reduce((sum, file) => sum + readText(file).split('\n').length - 1, 0);
}

function longest(files) {
  const [first] = files.map((file) => [countLines([file]), file]).sort(([a], [b]) => b - a);
  return [first[0], basename(first[1])];
}

/** `npm test` keeps the time of every file. */
function listSlowest(count) {
  try {
    const times = Object.entries(JSON.parse(readText('.cache/test-times.json')));
    return times.sort(([, a], [, b]) => b - a).slice(0, count);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return [];
  }
}
