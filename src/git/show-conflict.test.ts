import assert from 'node:assert/strict';
import { it } from 'node:test';
import { hunksOf } from './show-conflict.ts';

it('hunks of a conflict have the lines around them [E94]', () => {
  const text = ['a', 'b', 'c', 'd', '<<<<<<< x', 'one', '=======', 'two', '>>>>>>> y', 'e', 'f', 'g', 'h'].join('\n');
  const hunk = '@@ line 5 @@\nb\nc\nd\n<<<<<<< x\none\n=======\ntwo\n>>>>>>> y\ne\nf\ng\n';
  assert.equal(hunksOf(text, 1_000), hunk);
  assert.equal(hunksOf('<<<<<<< x\nno end\n', 1_000), '');
});

it('hunks of a file of marks are found in linear time, as many as are shown [E94]', () => {
  assert.ok(hunksOf('<<<<<<< \n>>>>>>> \n'.repeat(200_000), 5_000).length < 6_000);
  assert.equal(hunksOf('<<<<<<< \n'.repeat(400_000), 5_000), '');
});
