// A title is a claim about the product: a sentence about the thing under test.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const { measureFile, PARTS } = await import(new URL('../scripts/lib/measure-code.mjs', import.meta.url).href);

/** These words hide the subject or the fact of a claim. */
const RIDDLE = /\b(?:nobody|whoever|whatever|what (?:is|was))\b/i;

/** Folders whose titles still have such words. This list only gets shorter. */
const NOT_YET = ['src/cli/', 'src/engine/', 'src/ingest/', 'src/storage/', 'test/contract/', 'test/scenario/'];

it('the title of every test names its subject and a fact', () => {
  const found: string[] = [];
  for (const file of PARTS.tests()) {
    // Parsing takes long, and few files have such a word.
    if (!RIDDLE.test(readFileSync(file, 'utf8'))) continue;
    for (const { name, line } of measureFile(file).titles) if (RIDDLE.test(name)) found.push(`${file}:${line} ${name}`);
  }
  assert.deepEqual(
    found.filter((title) => !NOT_YET.some((folder) => title.startsWith(folder))),
    [],
    'Read the test, and rename it to a sentence about the thing under test, without nobody, whoever or "what is".',
  );
  assert.deepEqual(
    NOT_YET.filter((folder) => !found.some((title) => title.startsWith(folder))),
    [],
    'No title in these folders has such a word any more: take them out of NOT_YET.',
  );
});
