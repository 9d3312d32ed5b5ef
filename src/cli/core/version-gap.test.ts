import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeVersionGap } from './client.ts';

describe('a server of another version', () => {
  for (const [server, own, expected] of [
    ['1.2.3', '1.2.3', undefined],
    ['1.10.0', '1.9.9', /Update this command/],
    ['1.9.9', '1.10.0', /version 1\.9\.9, this command 1\.10\.0\. Update the server/],
    ['2.0.0-beta.1', '1.0.0', /Update this command/],
    ['unknown', '1.0.0', undefined],
    ['1.2.9', '1.2.3', undefined],
  ] as const) {
    it(`${server} and ${own}`, () => {
      const text = describeVersionGap(server, own);
      if (expected === undefined) assert.equal(text, undefined);
      else assert.match(text ?? '', expected);
    });
  }
});
