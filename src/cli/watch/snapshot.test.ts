import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EntryRecord, EXAMPLE_LANDED_RECORD } from '../../contract/entry.ts';
import { changesSince, formatChange, inOrder, startOfStay } from './snapshot.ts';

/** Oldest first, a minute apart. */
function aRecord(prNumber: number, states: readonly string[]): EntryRecord {
  const timeline = states.map((state, index) => ({
    at: `2026-09-17T10:0${index}:00.000Z`,
    state,
    reason: 'REASON',
    text: `It is ${state}.`,
  }));
  return { ...EXAMPLE_LANDED_RECORD, prNumber, timeline: timeline.toReversed() } as EntryRecord;
}

describe('changes of a watched queue [W1]', () => {
  it('are lines of the timeline that were not told yet, with what was before', () => {
    const record = aRecord(7, ['NOT_READY', 'PENDING', 'TESTING']);
    assert.deepEqual(changesSince(record, 1).map(formatChange), [
      '2026-09-17T10:01:00.000Z #7 NOT_READY -> PENDING: It is PENDING.',
      '2026-09-17T10:02:00.000Z #7 PENDING -> TESTING: It is TESTING.',
    ]);
    assert.equal(
      changesSince(record, 0).map(formatChange)[0],
      '2026-09-17T10:00:00.000Z #7 new -> NOT_READY: It is NOT_READY.',
    );
    assert.deepEqual(changesSince(record, 3), []);
  });

  it('come in the order of time', () => {
    const changes = [aRecord(7, ['NOT_READY', 'PENDING']), aRecord(8, ['NOT_READY'])].flatMap((each) =>
      changesSince(each, 0),
    );
    assert.deepEqual(
      inOrder(changes).map(({ prNumber, to }) => `${prNumber} ${to}`),
      ['7 NOT_READY', '8 NOT_READY', '7 PENDING'],
    );
  });

  it('of one that is back begin with its present stay, also where that is over already', () => {
    assert.equal(startOfStay(aRecord(7, ['NOT_READY', 'PENDING'])), 0);
    assert.equal(startOfStay(aRecord(7, ['NOT_READY', 'FAILED', 'NOT_READY'])), 2);
    assert.equal(startOfStay(aRecord(7, ['NOT_READY', 'FAILED', 'NOT_READY', 'MERGED'])), 2);
  });

  it('are one line each, whatever they say', () => {
    const [change] = changesSince(aRecord(7, ['NOT_READY']), 0);
    assert.ok(change);
    assert.match(formatChange({ ...change, text: 'a\n\u001b[2Jb' }), /: a \[2Jb$/);
  });
});
