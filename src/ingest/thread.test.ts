import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { IngestWorld, junitOf } from '../../test/worlds/shell/ingest-world.ts';
import { UNKNOWN_PLACE } from '../flaky/upload-place.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { openSqliteStore } from '../storage/sqlite/open-sqlite-store.ts';
import { createTurnMemory } from '../storage/sqlite/write-turn.ts';
import { createIngestThread, type IngestThread } from './thread.ts';

const ENTRY = new URL('../ingest-main.ts', import.meta.url);

async function aThread(test: TestContext, log: Log = silentLog, entry = ENTRY) {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'sluice-thread-'));
  const writeTurn = createTurnMemory();
  const store = await openSqliteStore({ directory: dataFolder, writeTurn });
  const world = await IngestWorld.create(store);
  world.now = Date.now();
  const thread = createIngestThread({
    firstStartMs: 0,
    findPlace: async () => UNKNOWN_PLACE,
    entry,
    data: {
      dataFolder,
      databaseUrl: undefined,
      writeTurn,
      holder: 'one',
      testBranchPrefix: 'sluice',
      logLevel: 'debug',
      uploadKeepDays: 7,
      uploadKeepBytes: 1_000_000_000,
      maxNewTests: 250_000,
      maxRepositoryTests: 2_000_000,
    },
    clock: systemClock,
    log,
  });
  test.after(async () => {
    await thread.stop();
    await store.close();
    await rm(dataFolder, { recursive: true });
  });
  return { thread, world };
}

describe('the thread that processes uploads', () => {
  it('processes what was accepted, says so, and logs through the log of the main thread', async (test) => {
    const lines: string[] = [];
    const { thread, world } = await aThread(test, { ...silentLog, debug: (_facts, text) => lines.push(text) });
    const stored = nextCheck(thread);
    thread.start();
    const { id } = await world.accept(junitOf({ one: 'pass' }), { candidateId: 'c-1', check: 'unit' });
    thread.wake();
    assert.deepEqual(await stored, { repositoryId: world.repository.id, candidateId: 'c-1', check: 'unit' });
    assert.equal((await world.find(id)).status, 'PROCESSED');
    assert.equal(await world.runs('one'), 1);
    await until(() => lines.includes('upload processed'));
  });

  it('touches nothing while somebody wants it still', async (test) => {
    const { thread, world } = await aThread(test);
    thread.start();
    const { id } = await thread.withWritesPaused(async () => {
      const accepted = await world.accept(junitOf({ one: 'pass' }), { candidateId: 'c-1', check: 'unit' });
      thread.wake();
      const one = thread.withWritesPaused(async () => (await world.find(accepted.id)).status);
      assert.equal(await one, 'ACCEPTED');
      return accepted;
    });
    await nextCheck(thread);
    assert.equal((await world.find(id)).status, 'PROCESSED');
  });

  it('is started again when it dies, with the upload in mind that it died of', async (test) => {
    const lines: { readonly upload?: string }[] = [];
    const broken = new URL(`data:text/javascript,${encodeURIComponent(DYING)}`);
    const { thread } = await aThread(test, { ...silentLog, error: (facts) => lines.push(facts) }, broken);
    thread.start();
    await until(() => lines.filter(({ upload }) => upload === 'u-1').length >= 2);
    assert.ok(lines.some((facts) => 'err' in facts && String(facts.err).includes('seen 1')));
  });
});

/** A thread that crashes on its first upload. */
const DYING = `
  import { parentPort, workerData } from 'node:worker_threads';
  parentPort.postMessage({ kind: 'working_on', uploadId: 'u-1' });
  setImmediate(() => { throw new Error('seen ' + (workerData.crashes[0]?.[1] ?? 0)); });
`;

function nextCheck(thread: IngestThread): Promise<unknown> {
  return new Promise((resolve) => {
    const stop = thread.onCheckResults((result) => {
      stop();
      resolve(result);
    });
  });
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, 'it did not happen in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
