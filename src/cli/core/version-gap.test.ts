import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeVersionGap, judgeVersions } from './version-gap.ts';

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

describe('whether a command and a server work together [W58]', () => {
  for (const [server, own, worksTogether, expected] of [
    ['1.2.3', '1.2.3', true, /^Both have the same version\.$/],
    ['1.2.9', '1.2.3', true, /older than the server\. They work together/],
    ['1.2.3', '1.2.9', true, /newer than the server\. They work together/],
    ['1.10.0', '1.9.9', true, /older than the server\. They work together/],
    ['1.9.9', '1.10.0', false, /newer than the server\. They may not work together\. Update the server\./],
    ['2.0.0', '1.10.0', false, /older than the server\. They may not work together\. Update this command\./],
    ['0.2.0', '0.1.0', false, /Update this command/],
    ['0.2.1', '0.2.0', true, /They work together/],
    ['0.10.0-beta.1', '0.9.0', false, /Update this command/],
    ['unknown', '1.0.0', false, /does not say/],
  ] as const) {
    it(`${server} and ${own}`, () => {
      const verdict = judgeVersions(server, own);
      assert.equal(verdict.worksTogether, worksTogether);
      assert.match(verdict.sentence, expected);
    });
  }
});
