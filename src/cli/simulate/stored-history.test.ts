import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Past } from '../../../test/helpers/past-queue.ts';
import { aRepository, storeQueue, storeRepository } from '../../../test/helpers/store-rows.ts';
import { FAILING_ONCE } from '../../../test/worlds/failing-once.ts';
import { encodeQueue } from '../../app/core/queue-codec.ts';
import { QueueHost } from '../../app/core/queue-host.ts';
import { createQueue } from '../../engine/model/queue.ts';
import { systemClock } from '../../lib/clock.ts';
import { MINUTE_MS } from '../../policy/workload.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';
import { readHistory } from './stored-history.ts';

const NOON = Date.UTC(2026, 8, 17, 12);

describe('the stored history of a queue', () => {
  let directory = '';
  const place = { kind: 'history', repo: 'git.example/acme/app', branch: 'main', days: 7 } as const;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-policy-'));
    const store = await openSqliteStore({ directory });
    const { organizationId } = await storeRepository(store);
    const repository = await store.repositories.save(aRepository({ organizationId, name: 'app' }));
    const body = encodeQueue(createQueue('main', { ...FAILING_ONCE, concurrency: 1 }, 'RUNNING'));
    const queue = await storeQueue(store, { repositoryId: repository.id, branch: 'main', body });
    await live(new Past(new QueueHost(store, systemClock), queue.id, NOON));
    await store.close();
  });

  after(() => rm(directory, { recursive: true }));

  /** 1 lands, 2 is broken, 3 fails and then lands unchanged, 4 is cancelled. */
  async function live(past: Past): Promise<void> {
    await past.tell(0, () => ({ kind: 'target_observed', head: 'head', since: 0, isDescendant: true }));
    await past.submit(0, 1);
    await past.submit(2, 2);
    await past.submit(3, 3);
    await past.submit(4, 4);
    await past.tell(5, () => ({ kind: 'pull_request_cancelled', prNumber: 4 }));
    await past.finish(10, 'SUCCESS');
    await past.finish(30, 'FAILURE');
    await past.finish(36, 'FAILURE');
    await past.submit(40, 3);
    await past.finish(50, 'SUCCESS');
  }

  it('becomes a workload: when they came, how long CI took, and who was to blame', async () => {
    const { changes, settings, notes, source } = await readHistory({ ...place, data: directory });
    assert.equal(source, 'git.example/acme/app main');
    assert.deepEqual(
      changes.map(({ number, submittedAt, durationMs, isBroken }) => ({
        number,
        at: (submittedAt - NOON) / MINUTE_MS,
        takes: durationMs / MINUTE_MS,
        isBroken,
      })),
      [
        { number: 1, at: 0, takes: 10, isBroken: false },
        { number: 2, at: 2, takes: 20, isBroken: true },
        { number: 3, at: 3, takes: 6, isBroken: false },
      ],
    );
    assert.equal(settings.concurrency, 1);
    assert.match(notes[1] ?? '', /left out: 1 /);
  });

  it('says what became of them', async () => {
    const { asItWas } = await readHistory({ ...place, data: directory });
    assert.deepEqual([...asItWas.landedAt], [[1, NOON + 10 * MINUTE_MS]]);
    assert.deepEqual([...asItWas.removedAt.keys()], [2, 3]);
    assert.equal(asItWas.runs, 3);
  });

  it('is read from a copy, and a folder in use is said to be', async () => {
    const store = await openSqliteStore({ directory });
    await assert.rejects(readHistory({ ...place, data: directory }), /A server is using .*sluice backup/);
    await store.snapshots?.backup(join(directory, 'copy.db'));
    await store.close();
    const files = await readdir(directory);
    const { changes } = await readHistory({ ...place, data: join(directory, 'copy.db') });
    assert.equal(changes.length, 3);
    assert.deepEqual(await readdir(directory), files);
  });

  it('is asked for by names that are there', async () => {
    const ask = (changed: object) => readHistory({ ...place, data: directory, ...changed });
    await assert.rejects(ask({ repo: 'git.example/acme/none' }), /Choose a repository .*git\.example\/acme\/app/);
    await assert.rejects(ask({ branch: 'next' }), /has no queue for next\. There are: main\./);
    await assert.rejects(ask({ data: join(directory, 'nothing') }), /neither a data folder nor a backup/);
  });
});
