import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from './required-sources.ts';

const PARSING = 'START_TEST_RUN_CONFIG_PARSING_FAILURE';
const VERSION = 'START_TEST_RUN_CONFIG_BAD_VERSION';
const STATUSES = 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES';

function read(content: string | Buffer) {
  const { file, fileProblem } = parseConfiguration(Buffer.from(content));
  return fileProblem ?? file;
}

test('names are read, each once', () => {
  assert.deepEqual(read('merge:\n  required_statuses:\n    - Build\n    - "Test: all"\n    - Build\n'), [
    'Build',
    'Test: all',
  ]);
  assert.deepEqual(read('version: "0.1"\nmerge: {required_statuses: []}\n'), []);
  assert.deepEqual(read('\ufeffversion: 0.1\nmerge: {required_statuses: [&x Build, *x]}\nlint: {enabled: []}\n'), [
    'Build',
  ]);
});

test('a check may name the app that must report it [G65]', () => {
  const text = 'merge: {required_statuses: [lint, {name: unit, app: github-actions, why: x}, {name: lint, app: a}]}\n';
  assert.deepEqual(read(text), ['lint', { name: 'unit', app: 'github-actions' }]);
  for (const odd of ['{name: unit}', '{app: a}', '{name: unit, app: A B}', '{name: "", app: a}', '[unit]'])
    assert.equal(read(`merge: {required_statuses: [${odd}]}\n`), STATUSES, odd);
});

test('a file without the key names no checks', () => {
  for (const text of ['', '# nothing\n', 'merge:\n', 'version: 0.1\nmerge: {}\n', '{}'])
    assert.equal(read(text), undefined);
});

test('a file that is no YAML, or too large, is refused at once', () => {
  const bomb = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]\n`).join('');
  const texts = [
    'merge: {required_statuses: [\n',
    'a: b: c\n',
    'just text\n',
    '- a\n- list\n',
    'a: 1\n---\na: 2\n',
    '7',
  ];
  for (const text of [...texts, `a0: &a0 [x]\n${bomb}`, `x: ${'['.repeat(60_000)}`, `# ${'x'.repeat(65_536)}\n`]) {
    const before = process.cpuUsage();
    assert.equal(read(text), PARSING, text.slice(0, 60));
    // CPU time of this process, since other processes on the machine slow the clock time.
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 2_000_000, text.slice(0, 60));
  }
  assert.equal(read(Buffer.from([0x61, 0x3a, 0x20, 0xff])), PARSING);
});

test('another version, or something else than names, is told apart', () => {
  for (const text of ['version: 0.2\n', 'version: [0.1]\nmerge: 7\n', 'version: null\n', 'version: 1\n'])
    assert.equal(read(text), VERSION);
  const values = ['Build', '', '[1]', '[""]', '[null]', '[[Build]]', '{a: b}', `[${'x'.repeat(300)}]`];
  for (const value of values) assert.equal(read(`merge: {required_statuses: ${value}}\n`), STATUSES, value);
  assert.equal(read('merge: 7\n'), STATUSES);
});

test('keys that mean something to JavaScript are only keys', () => {
  assert.equal(read('__proto__: {merge: {required_statuses: [x]}}\n'), undefined);
  assert.equal(read('merge: {__proto__: {required_statuses: [x]}}\n'), undefined);
});
