import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureLines, ownFrame } from './failure-text.ts';

describe('the own frame of a failure', () => {
  const FRAMES: readonly (readonly [string, string, string | undefined])[] = [
    [
      'node',
      'Error: no\n    at node:assert:1:2\n    at ok (/w/node_modules/chai/x.js:9:1)\n    at sum (/w/src/sum.js:3:9)',
      '/w/src/sum.js:3',
    ],
    [
      'pytest',
      'File "/usr/lib/python3/site-packages/x.py", line 4\n  File "tests/test_a.py", line 12, in f',
      'tests/test_a.py:12',
    ],
    ['go', '    cart_test.go:17: got 1', 'cart_test.go:17'],
    ['rust', "thread 'main' panicked at src/lib.rs:5:9:", 'src/lib.rs:5'],
    ['the built-in runner', 'at f (file:///check/tree/src/a.js:7:1)', 'src/a.js:7'],
    ['nothing', 'it is broken at 12:30', undefined],
  ];
  for (const [name, text, frame] of FRAMES)
    it(`is found in the text of ${name} [E92]`, () => assert.equal(ownFrame(text), frame));

  it('is looked for in linear time [E92]', () => {
    for (const evil of [
      'a/'.repeat(100_000),
      'a.'.repeat(100_000),
      `File "${'x'.repeat(200_000)}`,
      ':1'.repeat(99_999),
    ])
      assert.equal(ownFrame(evil), undefined);
  });
});

describe('the lines around the first failure', () => {
  const log = (count: number, failing: number) =>
    Array.from({ length: count }, (_, index) => (index === failing ? 'AssertionError: no' : `line ${index}`)).join(
      '\n',
    );

  it('begin 40 before it, and are 200 [E92]', () => {
    const { text, isCut } = failureLines(log(1_000, 500), 100_000);
    const lines = text.split('\n');
    assert.deepEqual([lines[0], lines[40], lines.length, isCut], ['line 460', 'AssertionError: no', 200, true]);
  });

  it('are the last ones where nothing looks like a failure, and all of a short log [E92]', () => {
    assert.match(failureLines(log(1_000, -1), 100_000).text, /^line 800\n[\s\S]*line 999$/);
    assert.deepEqual(failureLines('one\ntwo', 100), { text: 'one\ntwo', isCut: false, isFailure: false });
    assert.deepEqual(failureLines('', 100), { text: '', isCut: false, isFailure: false });
  });

  it('are never longer than asked, also one endless line [E92]', () => {
    for (const text of [log(1_000, 500), 'x'.repeat(1_000_000), `${'y'.repeat(5_000)}\n`.repeat(300)]) {
      const shown = failureLines(text, 2_000);
      assert.ok(shown.text.length <= 2_000 && shown.text.length > 500);
    }
  });
});
