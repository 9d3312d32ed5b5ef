import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { bindPublicRead } from '../../app/access/public-read.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';

it('a stranger reads public repositories at most 20 times a second from one address [A45]', async () => {
  const store = createMemoryStore();
  const { app, scope } = await createInProcess({ store });
  const name = { text: 'acme/local/acme/app', organization: 'acme', repo: scope.repo };
  const world = await createInProcess({ store, publicRead: await bindPublicRead(app, [name]) });
  const read = async (remoteAddress: string) => {
    const headers = { 'x-organization': 'acme', 'x-forwarded-for': '198.51.100.1' };
    const sent = { method: 'POST', url: '/web/v1/listQueues', headers, payload: {}, remoteAddress } as const;
    return world.server.inject(sent);
  };
  for (let index = 0; index < 20; index += 1) assert.equal((await read('192.0.2.1')).statusCode, 200);
  const refused = await read('192.0.2.1');
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [429, '1']);
  assert.match(refused.body, /come from your address\. Try again in 1 s, or sign in/);
  assert.equal((await read('192.0.2.2')).statusCode, 200);
  world.clock.set(world.clock.now() + 1_000);
  assert.equal((await read('192.0.2.1')).statusCode, 200);
  await world.close();
});
