import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PullData } from './api/data.ts';
import { createConflictMemory } from './conflicts.ts';

it('a pull request that stays unmergeable for the same commits has a conflict [G163]', () => {
  let now = 0;
  const conflicts = createConflictMemory({ now: () => now, after: () => () => undefined });
  const judge = (mergeable: boolean, head = 'h1', base = 'b1', ref = 'main') =>
    conflicts.judge(
      { id: 'r' } as never,
      { number: 1, mergeable, head: { sha: head }, base: { sha: base, ref } } as PullData,
    );
  assert.equal(judge(false), 'unknown');
  now += 10_000;
  assert.equal(judge(false), 'unknown');
  now += 10_000;
  assert.equal(judge(false), 'conflict');
  assert.equal(judge(false, 'h2'), 'unknown', 'another head is computed anew');
  now += 30_000;
  assert.equal(judge(false, 'h2', 'b2'), 'unknown', 'another base too');
  assert.equal(judge(true, 'h2', 'b2'), 'none');
  assert.equal(judge(false, 'h2', 'b2'), 'none', 'after it was mergeable, it begins again');
  now += 10_000;
  assert.equal(judge(false, 'h2', 'b3'), 'none', 'a landing is no reason to wait');
  assert.equal(judge(false, 'h2', 'b3', 'other'), 'unknown', 'another branch is');
  now += 20_000;
  assert.equal(judge(false, 'h2', 'b3'), 'conflict');
});
