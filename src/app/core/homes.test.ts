import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { systemClock } from '../../lib/clock.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { Homes } from './homes.ts';

const QUEUES = Array.from({ length: 40 }, (_, index) => `queue-${index}`);

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('servers agree on the home of each queue, spread queues, and take over those of a server that leaves [D30]', async (t) => {
  const store = createMemoryStore().servers;
  const [a, b, old] = ['a', 'b', 'old'].map((id) => {
    const version = id === 'old' ? '1.0.0' : '2.0.0';
    const homes = new Homes({ id, version, store, clock: systemClock, log: silentLog });
    t.after(() => homes.stop());
    return homes;
  }) as [Homes, Homes, Homes];
  assert.ok(QUEUES.every((queue) => a.findOther(queue) === undefined));
  for (const [name, homes] of Object.entries({ a, b, old })) homes.start(`http://${name}`);
  const homeOf = (from: Homes, own: string) => QUEUES.map((queue) => from.findOther(queue)?.id ?? own);
  await until(() => homeOf(a, 'a').includes('b') && homeOf(b, 'b').includes('a'));
  assert.deepEqual(homeOf(a, 'a'), homeOf(b, 'b'));
  // A server of another version stays by itself.
  assert.deepEqual(new Set(homeOf(a, 'a')), new Set(['a', 'b']));
  assert.deepEqual(new Set(homeOf(old, 'old')), new Set(['old']));
  await b.stop();
  await until(() => !homeOf(a, 'a').includes('b'));
});

test('a server that loses the database is alone', async (t) => {
  const { servers } = createMemoryStore();
  let isLost = false;
  const store = {
    ...servers,
    beat: (...of: Parameters<typeof servers.beat>) => (isLost ? lost() : servers.beat(...of)),
  };
  const homes = new Homes({ id: 'a', version: '1', store, clock: systemClock, log: silentLog });
  t.after(() => homes.stop());
  await servers.beat({ id: 'b', address: 'http://b', version: '1' }, 0);
  homes.start('http://a');
  const knowsOther = () => QUEUES.some((queue) => homes.findOther(queue) !== undefined);
  await until(knowsOther);
  isLost = true;
  await until(() => !knowsOther());
});

function lost(): Promise<never> {
  return Promise.reject(new Error('the database is gone'));
}
