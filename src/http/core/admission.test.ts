import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { RateLimit } from './admission.ts';

it('a rate limit lets a burst of one second through, then one after another, for each key apart [A9]', () => {
  let now = 1_000_000;
  const limit = new RateLimit(2, { now: () => now });
  assert.deepEqual([limit.spend('a'), limit.spend('a'), limit.spend('a')], [0, 0, 1]);
  assert.equal(limit.spend('b'), 0);
  now += 500;
  assert.deepEqual([limit.spend('a'), limit.spend('a')], [0, 1]);
  now -= 3_600_000;
  assert.equal(limit.spend('a'), 1, 'a clock that goes back gives nothing');
  now += 3_600_000 + 60_000;
  assert.deepEqual([limit.spend('a'), limit.spend('a'), limit.spend('a')], [0, 0, 1]);
});

it('a rate limit forgets keys that may spend a whole burst again [A45]', () => {
  let now = 1_000_000;
  const limit = new RateLimit(1, { now: () => now });
  assert.deepEqual([limit.spend('mine'), limit.spend('mine')], [0, 1]);
  for (let index = 0; index < 60_000; index += 1) {
    now += 1;
    limit.spend(`key ${index}`);
    if (index % 500 === 0) limit.spend('mine');
  }
  assert.equal(limit.spend('mine'), 1, 'one that keeps on is still limited');
});

it('every answer says how many requests are left, and when to try again [A24]', async () => {
  const world = await createInProcess({ rateLimit: 2 });
  const answers = [];
  for (let index = 0; index < 3; index += 1) answers.push(await world.post('/v1/listQueues', {}));
  const shown = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit-policy', 'retry-after'];
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, ...shown.map((name) => headers.get(name))]),
    [
      [200, '2', '1', '1', '2;w=1', null],
      [200, '2', '0', '1', '2;w=1', null],
      [429, '2', '0', '1', '2;w=1', '1'],
    ],
  );
  await world.close();
  const without = await createInProcess();
  assert.equal((await without.post('/v1/listQueues', {})).headers.get('ratelimit-limit'), null);
  await without.close();
});

it('a rate limit below one a second counts in a longer window [A24]', () => {
  const limit = new RateLimit(0.25, { now: () => 1_000_000 });
  assert.deepEqual(
    [limit.spend('a'), limit.windowS, limit.describe('a')],
    [0, 4, { limit: 1, remaining: 0, resetS: 4 }],
  );
  assert.deepEqual([limit.spend('a'), limit.describe('b').remaining], [4, 1]);
});
