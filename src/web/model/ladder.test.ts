import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ladderOf, neighboursOf } from './ladder.ts';

const on = (...numbers: readonly number[]) => numbers.map((prNumber) => ({ prNumber, isMerged: false }));
const member = (prNumber: number, state: string, dependsOn = on()) => ({
  ...{ prNumber, prTitle: `Change ${prNumber}`, state, dependsOn },
});
const told = (entry: Parameters<typeof ladderOf>[0], read: Parameters<typeof ladderOf>[1]) =>
  ladderOf(entry, read).map(({ prNumber, state = '-', isPresent }) => `${prNumber}${isPresent ? '*' : ''} ${state}`);

describe('the ladder of a stack', () => {
  it('goes from the top to the bottom, and marks the one that is shown', () => {
    const entry = { ...member(7, 'TESTING', on(5)), dependents: [9] };
    assert.deepEqual(neighboursOf(entry), [5, 9]);
    assert.deepEqual(told(entry, [member(5, 'TESTING'), member(9, 'PENDING', on(7))]), [
      '9 PENDING',
      '7* TESTING',
      '5 TESTING',
    ]);
  });

  it('has those on one side in the order in which they are built on each other, else the newest first', () => {
    const entry = { ...member(7, 'PENDING', on(4, 6, 5)), dependents: [8, 9] };
    const read = [member(4, 'PENDING', on(6)), member(6, 'PENDING'), member(8, 'PENDING', on(7, 9))];
    assert.deepEqual(
      ladderOf(entry, read).map(({ prNumber }) => prNumber),
      [8, 9, 7, 5, 4, 6],
    );
  });

  it('calls a member in the target branch merged, even if its last stay in the queue ended otherwise', () => {
    const entry = member(7, 'PENDING', [{ prNumber: 5, isMerged: true }]);
    assert.deepEqual(told(entry, [member(5, 'CANCELLED')]), ['7* PENDING', '5 MERGED']);
  });

  it('is there before its members are read, and ends where they name each other', () => {
    const entry = { ...member(7, 'NOT_READY', on(5, 6)) };
    assert.deepEqual(told(entry, []), ['7* NOT_READY', '6 -', '5 -']);
    const circle = [member(5, 'NOT_READY', on(6)), member(6, 'NOT_READY', on(5))];
    assert.equal(ladderOf(entry, circle).length, 3);
  });
});
