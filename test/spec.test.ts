// Every rule of SPEC.md has a test that cites it, and no test cites a rule that is not there.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RULE = /^\| ([A-Z]\d+) \|/gm;
const CITATION = /\[([A-Z]\d+)\]/g;

it('rules and tests name each other', () => {
  const rules = new Set([...readFileSync(`${ROOT}/SPEC.md`, 'utf8').matchAll(RULE)].map((match) => match[1] as string));
  const tests = globSync('{src,test}/**/*.ts', { cwd: ROOT }).filter((file) => /\.test\.ts$|^test\//.test(file));
  const cited = new Set<string>();
  for (const file of tests) {
    for (const match of readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(CITATION)) cited.add(match[1] as string);
  }
  assert.deepEqual(
    [...rules].filter((rule) => !cited.has(rule)),
    [],
    'rules without a test',
  );
  assert.deepEqual(
    [...cited].filter((rule) => !rules.has(rule)),
    [],
    'citations of no rule',
  );
});
