import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ladderOf } from './ladder.ts';

it('the ladder of a stack goes from the top to the bottom, and calls those in the target branch merged', () => {
  const dependsOn = [
    { prNumber: 4, isMerged: true },
    { prNumber: 5, isMerged: false },
    { prNumber: 6, isMerged: false },
  ];
  const entry = { prNumber: 7, state: 'TESTING', dependsOn, dependents: [8, 9] };
  const told = (read: Parameters<typeof ladderOf>[1]) =>
    ladderOf(entry, read).map(({ prNumber, state = '-' }) => `${prNumber} ${state}`);
  assert.deepEqual(told([]), ['9 -', '8 -', '7 TESTING', '6 -', '5 -', '4 MERGED']);
  const read = [
    { prNumber: 9, state: 'PENDING' },
    { prNumber: 5, state: 'TESTING' },
    { prNumber: 4, state: 'CANCELLED' },
  ];
  assert.deepEqual(told(read), ['9 PENDING', '8 -', '7 TESTING', '6 -', '5 TESTING', '4 MERGED']);
  assert.deepEqual(ladderOf({ prNumber: 7 }, []), [{ prNumber: 7 }]);
});
