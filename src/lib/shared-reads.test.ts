import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { SharedReads } from './shared-reads.ts';

test('callers share a read that begins after they asked, and never one that began before', async () => {
  const reads = new SharedReads<string, number>(systemClock);
  const begun: PromiseWithResolvers<number>[] = [];
  const read = () => {
    const turn = Promise.withResolvers<number>();
    begun.push(turn);
    return turn.promise;
  };
  const first = reads.get('a', read);
  const [second, third] = [reads.get('a', read), reads.get('a', read)];
  const other = reads.get('b', read);
  assert.equal(begun.length, 2);
  begun[0]?.resolve(1);
  begun[1]?.reject(new Error('broken'));
  assert.equal(await first, 1);
  await assert.rejects(other, /broken/);
  while (begun.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
  begun[2]?.resolve(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
  assert.equal(begun.length, 3);
  const later = reads.get('b', read);
  begun[3]?.resolve(3);
  assert.equal(await later, 3);
});
