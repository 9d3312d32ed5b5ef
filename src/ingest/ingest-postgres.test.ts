import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../test/e2e/harness.ts';
import { createDatabase } from '../../test/helpers/postgres.ts';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { IngestWorld, junitOf } from '../../test/worlds/shell/ingest-world.ts';
import { systemClock } from '../lib/clock.ts';
import { openPostgresStore } from '../storage/postgres/open-postgres-store.ts';
import type { Store } from '../storage/store.ts';
import { createIngestLoop } from './ingest-loop.ts';

const UPLOADS = 40;

describe('two servers that process uploads on one PostgreSQL', () => {
  const stores: Store[] = [];
  before(async () => {
    const url = await createDatabase();
    stores.push(await openPostgresStore({ url }));
    stores.push(await openPostgresStore({ url, poolSize: 3, isMigrated: true }));
  });
  after(async () => {
    for (const store of stores) await store.close();
  });

  it('process every upload once [U29] [U32]', async () => {
    const [one, other] = stores as [Store, Store];
    const worlds = [await IngestWorld.create(one), await IngestWorld.create(one)];
    const loops = [one, other].map((store, index) =>
      createIngestLoop(store, systemClock, silentLog, { holder: `server ${index}`, turnMs: 0 }),
    );
    for (const loop of loops) loop.start();
    const ids: string[] = [];
    for (let index = 0; index < UPLOADS; index += 1) {
      const world = worlds[index % 2] as IngestWorld;
      world.now = Date.now();
      const report = { stable: 'pass', shaky: index % 4 < 2 ? 'fail' : 'pass' };
      const sha = String(Math.floor(index / 4)).padStart(40, '0');
      ids.push((await world.accept(junitOf(report), { sha }, {})).id);
      for (const loop of loops) loop.wake();
      // Now and then the other server takes over in the middle, with an old memory of the repository.
      if (index % 7 === 0) for (const { repository } of worlds) await one.uploadWork.release('server 0', repository.id);
    }
    await until('all are processed', 60_000, async () => {
      const found = await Promise.all(ids.map((id) => one.uploads.find(id)));
      return found.every((upload) => upload?.status === 'PROCESSED') ? true : undefined;
    });
    for (const loop of loops) await loop.stop();
    for (const world of worlds) {
      assert.equal(await world.runs('stable'), UPLOADS / 2);
      assert.equal(await world.runs('shaky'), UPLOADS / 2);
      assert.equal((await world.test('stable')).status, 'HEALTHY');
      assert.equal((await world.test('shaky')).status, 'FLAKY');
    }
  });
});
