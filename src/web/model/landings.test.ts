import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLandings, type Landing } from './landings.ts';

const landing = (values: Partial<Landing> = {}): Landing => ({
  kind: 'SAME_TREE',
  sha: 'a',
  pushedSha: 'a',
  pushedTree: 't',
  testedTree: 't',
  ...values,
});

describe('landings in a sentence', () => {
  it('say whether all are proven', () => {
    assert.deepEqual(describeLandings([landing(), landing()], true), {
      isGood: true,
      sentence: 'All 2 landings verified: what landed is what was tested.',
    });
    assert.deepEqual(describeLandings([landing({ kind: 'UNPROVEN' })], false), {
      isGood: false,
      sentence: '1 of the newest 1 landing could not be proven.',
    });
    const waived = describeLandings([landing({ waived: [{ check: 'unit' }] })], true);
    assert.match(waived.sentence, /1 with a check that quarantine waived\.$/);
    assert.equal(describeLandings([], true).sentence, 'Nothing landed in this time.');
  });
});
