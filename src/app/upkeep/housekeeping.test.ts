import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import { createHousekeeping } from './housekeeping.ts';

const DAY_MS = 24 * 3_600_000;

it('the output of checks is kept for 14 days [R35]', async (context) => {
  const world = await HostedWorld.create();
  const { app } = world;
  const { clock } = world.world;
  const housekeeping = createHousekeeping(app);
  context.after(async () => {
    await housekeeping.stop();
    await world.stop();
  });
  const key = { candidateId: 'a-candidate', check: 'ci' };
  await app.store.logs.append(key, Buffer.from('done'), clock.now());
  housekeeping.start();
  await clock.pass(14 * DAY_MS);
  assert.notEqual(await app.store.logs.read(key, 0, 10), undefined);
  await clock.pass(DAY_MS + 60_000);
  assert.equal(await app.store.logs.read(key, 0, 10), undefined);
});
