import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatJson, splitJsonFields } from './json-fields.ts';

describe('--json with fields [W34]', () => {
  for (const [given, expected] of [
    ['pr status 7 --json state,prNumber', 'pr status 7 --json --json-fields=state,prNumber'],
    ['pr status 7 --json state', 'pr status 7 --json --json-fields=state'],
    ['pr status --json=state 7', 'pr status --json --json-fields=state 7'],
    ['queue list --json branch --url http://a', 'queue list --json --json-fields=branch --url http://a'],
    ['--json queue list', '--json queue list'],
    ['--json status', '--json status'],
    ['pr status --json 7', 'pr status --json 7'],
    ['queue show --json local/acme/app main', 'queue show --json local/acme/app main'],
    ['queue list --json', 'queue list --json'],
    ['ci exec -- jest --json a,b --json=c', 'ci exec -- jest --json a,b --json=c'],
  ] as const) {
    it(`reads ${given}`, () => {
      assert.equal(splitJsonFields(given.split(' ')).join(' '), expected);
    });
  }

  it('picks them from the answer, or from each item of its only list', () => {
    const answer = { state: 'MERGED', prNumber: 7, timeline: [{ at: 1 }] };
    assert.deepEqual(JSON.parse(formatJson(answer, 'prNumber,state')), { prNumber: 7, state: 'MERGED' });
    const list = { queues: [{ branch: 'main', mode: 'SINGLE' }, { branch: 'next' }], nextCursor: 'x' };
    const picked = [
      { branch: 'main', mode: 'SINGLE' },
      { branch: 'next', mode: null },
    ];
    assert.deepEqual(JSON.parse(formatJson(list, 'branch,mode')), picked);
    assert.deepEqual(JSON.parse(formatJson({ queues: [] }, 'branch')), []);
    assert.deepEqual(JSON.parse(formatJson(answer, undefined)), answer);
    assert.throws(() => formatJson(answer, 'a b'), /names of fields/);
    assert.deepEqual(JSON.parse(formatJson(answer, 'landed', [{ own: 'state,landed', items: 'at' }])), {
      landed: null,
    });
    assert.throws(
      () => formatJson({ queues: [] }, 'brnch', [{ own: 'queues', items: 'branch' }]),
      /no field brnch\. It has: branch\./,
    );
  });
});
