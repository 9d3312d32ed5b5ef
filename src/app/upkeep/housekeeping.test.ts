import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import { actEvent, SLUICE } from '../core/feed-event.ts';
import { createHousekeeping } from './housekeeping.ts';

const DAY_MS = 24 * 3_600_000;

it('the output of checks is kept for 14 days, and events as long as asked, but for the audit [R35] [X5]', async (context) => {
  const world = await HostedWorld.create();
  const { app } = world;
  const { clock } = world.world;
  const housekeeping = createHousekeeping(app, { eventDays: 10 });
  context.after(async () => {
    await housekeeping.stop();
    await world.stop();
  });
  const key = { candidateId: 'a-candidate', check: 'ci' };
  await app.store.logs.append(key, Buffer.from('done'), clock.now());
  const organizationId = randomUUID() as OrganizationId;
  const act = (type: string) =>
    actEvent(clock.now(), { type, actor: SLUICE, text: 'It happened.', data: {} }, { organizationId });
  await app.store.feed.add([act('upload.processed'), act('token.created')]);
  await app.feed.sequence();
  const list = () => app.store.feed.list({ organizationId, repositoryIds: null, order: 'ASC', limit: 9 });
  housekeeping.start();
  await clock.pass(9 * DAY_MS);
  assert.equal((await list()).length, 2);
  await clock.pass(5 * DAY_MS);
  assert.deepEqual(pluck(await list(), 'type'), ['token.created']);
  assert.notEqual(await app.store.logs.read(key, 0, 10), undefined);
  await clock.pass(DAY_MS + 60_000);
  assert.equal(await app.store.logs.read(key, 0, 10), undefined);
});
