import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunks } from '../../test/helpers/bundle.ts';
import { readMetaText } from './meta-text.ts';
import { Unreadable } from './unreadable.ts';

const read = async (text: string, size = 7, maxBytes?: number) =>
  JSON.parse(await readMetaText(chunks(Buffer.from(text), size), maxBytes)) as unknown;

describe('the text of meta.json [U10]', () => {
  it('has no lists of tests, wherever they stand', async () => {
    const tests = [{ name: 'a "b" \\ ], }', failure_message: '{"failed_tests": [' }, [1, { x: [] }]];
    const whole = {
      failed_tests: tests,
      org: 'acme',
      envs: { failed_tests: 'kept' },
      quarantined_tests: tests,
      os: 'é',
    };
    const expected = { ...whole, failed_tests: null, quarantined_tests: null };
    for (const indent of [0, 2]) {
      for (const size of [1, 3, 1_000])
        assert.deepEqual(await read(JSON.stringify(whole, null, indent), size), expected);
    }
    assert.deepEqual(await read('{"failed_tests" : 7 }'), { failed_tests: null });
    assert.deepEqual(await read('{"org":"failed_tests","x":":"}'), { org: 'failed_tests', x: ':' });
  });

  it('is otherwise as it came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.object({ maxDepth: 3 }), fc.integer({ min: 1, max: 50 }), async (value, size) => {
        const text = JSON.stringify(value);
        assert.deepEqual(await read(text, size), JSON.parse(text));
      }),
    );
  });

  it('is as long as it likes in what is left out, and refused beyond its limit in what is not', async () => {
    const long = 'x'.repeat(5_000);
    assert.deepEqual(await read(JSON.stringify({ failed_tests: [long, long] }), 100, 1_000), { failed_tests: null });
    await assert.rejects(
      () => read(JSON.stringify({ envs: { long } }), 100, 1_000),
      (error) => error instanceof Unreadable && error.code === 'TOO_BIG',
    );
  });

  it('that is no JSON comes as it is', async () => {
    for (const text of ['', '}}]] "', '{"failed_tests":[', 'null', '"', '\\']) {
      assert.equal(typeof (await readMetaText(chunks(Buffer.from(text), 2))), 'string');
    }
  });
});
