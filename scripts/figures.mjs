// `npm run figures`: how large the house is and how tidy. One line a figure.
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { findFolderCircles, readImports } from './lib/folder-circles.mjs';
import { projectRoot } from './lib/node24.mjs';
import { findRiddles, readComments } from './lib/read-comments.mjs';

process.chdir(projectRoot);
const isTest = (file) => file.endsWith('.test.ts');
const source = globSync('src/**/*.{ts,tsx}').filter((file) => !isTest(file));
const beside = globSync('src/**/*.test.ts');
const tests = globSync('test/**/*.ts');
const code = [...source, ...beside, ...tests, ...globSync('{bench,scripts,examples}/**/*.{ts,mjs}')];

print('source files', source.length);
print('source lines', countLines(source));
print('test files beside the source', beside.length);
print('test lines beside the source', countLines(beside));
print('files in test', tests.length);
print('lines in test', countLines(tests));
print('files at the top of src/app', source.filter((file) => dirname(file) === 'src/app').length);
print('circles between folders', findFolderCircles(readImports(source)).length);
print('comments', code.flatMap((file) => readComments(readText(file), file)).length);
print(
  'comments that begin with What, Whoever or Nobody',
  code.flatMap((file) => findRiddles(readText(file), file)).length,
);
print('longest source file', ...longest(source));
for (const [file, ms] of listSlowest(10)) print('slow test file', `${(ms / 1000).toFixed(1)} s`, file);

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
