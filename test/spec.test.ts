// SPEC.md, the code and the tests name each other: a rule leads to the function that implements it and to its tests.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RULE = /^\| ([A-Z]\d+) \| (.*) \|$/gm;
/** In a test: `it('... [E4]')`. */
const PROOF = /\[([A-Z]\d+)\]/g;
/** In the code, on a line of its own: `// SPEC E4, E7`. */
const CITATION = /^\s*\/\/ SPEC (.*)$/gm;

const MAX_WORDS = 60;
/** A rule that more functions implement is more than one rule. */
const MAX_CITATIONS = 3;

/** Rules without a function to cite, each with the reason. */
const WITHOUT_CODE: Readonly<Record<string, string>> = {
  G75: 'it is about files in docs/workflows',
};

const files = globSync('{src,test}/**/*.ts', { cwd: ROOT }).filter((file) => file !== 'test/spec.test.ts');
const isTest = (file: string) => /\.test\.ts$|^test\//.test(file);
const read = (file: string) => readFileSync(`${ROOT}/${file}`, 'utf8');

const rules = [...read('SPEC.md').matchAll(RULE)].map(([, number = '', text = '']) => ({ number, text }));
const numbers = rules.map(({ number }) => number);
const proven = files.filter(isTest).flatMap((file) => [...read(file).matchAll(PROOF)].map(([, number = '']) => number));
const cited = files
  .filter((file) => !isTest(file))
  .flatMap((file) => [...read(file).matchAll(CITATION)].flatMap(([, list = '']) => list.split(', ')));

function without(found: Iterable<string>): (number: string) => boolean {
  const known = new Set(found);
  return (number) => !known.has(number);
}

it('every rule has a number of its own and at most 60 words', () => {
  const repeated = numbers.filter((number, index) => numbers.indexOf(number) !== index);
  assert.deepEqual(repeated, []);
  const long = rules.filter(({ text }) => text.split(/\s+/).length > MAX_WORDS);
  assert.deepEqual(long, []);
});

it('every rule has a test that cites it', () => {
  assert.deepEqual(numbers.filter(without(proven)), []);
});

it('every rule is cited at the function that implements it', () => {
  assert.deepEqual(numbers.filter(without(cited)).filter(without(Object.keys(WITHOUT_CODE))), []);
});

it('every citation names a rule', () => {
  assert.deepEqual([...proven, ...cited, ...Object.keys(WITHOUT_CODE)].filter(without(numbers)), []);
});

it('few functions implement a rule', () => {
  const counts = Map.groupBy(cited, (number) => number);
  assert.deepEqual(
    numbers.filter((number) => (counts.get(number)?.length ?? 0) > MAX_CITATIONS),
    [],
  );
});
