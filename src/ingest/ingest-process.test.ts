import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { IngestWorld, junitOf } from '../../test/worlds/shell/ingest-world.ts';
import { UNKNOWN_PLACE } from '../flaky/upload-place.ts';
import { systemClock, type Timing } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { openSqliteStore } from '../storage/sqlite/open-sqlite-store.ts';
import { createIngestProcess, type IngestProcess, type ProcessLimits } from './ingest-process.ts';

const ENTRY = new URL('../ingest-main.ts', import.meta.url);

interface Options {
  readonly log?: Log;
  readonly entry?: URL;
  readonly limits?: Partial<ProcessLimits>;
  readonly clock?: Timing;
}

async function aProcess(test: TestContext, options: Options = {}) {
  const { log = silentLog, entry = ENTRY, limits = {}, clock = systemClock } = options;
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'sluice-ingest-'));
  const store = await openSqliteStore({ directory: dataFolder });
  const world = await IngestWorld.create(store);
  world.now = Date.now();
  const ingest = createIngestProcess({
    firstStartMs: 0,
    findPlace: async () => UNKNOWN_PLACE,
    entry,
    store,
    limits,
    data: {
      dataFolder,
      databaseUrl: undefined,
      holder: 'one',
      testBranchPrefix: 'sluice',
      logLevel: 'debug',
      uploadKeepDays: 7,
      uploadKeepBytes: 1_000_000_000,
      maxNewTests: 250_000,
      maxRepositoryTests: 2_000_000,
    },
    clock,
    log,
  });
  test.after(async () => {
    await ingest.stop();
    await store.close();
    await rm(dataFolder, { recursive: true });
  });
  return { ingest, world, store };
}

/** Another program in the place of the process. */
async function aProgram(test: TestContext, text: string): Promise<URL> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-program-'));
  test.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'main.mjs'), text);
  return pathToFileURL(path.join(folder, 'main.mjs'));
}

describe('the process that takes in uploads', () => {
  it('processes what was accepted, says so, and logs through the log of the server', async (test) => {
    const lines: string[] = [];
    const log = { ...silentLog, debug: (_facts: object, text: string) => void lines.push(text) };
    const { ingest, world } = await aProcess(test, { log });
    const stored = nextCheck(ingest);
    ingest.start();
    const { id } = await world.accept(junitOf({ one: 'pass' }), { candidateId: 'c-1', check: 'unit' });
    ingest.wake();
    assert.deepEqual(await stored, { repositoryId: world.repository.id, candidateId: 'c-1', check: 'unit' });
    assert.equal((await world.find(id)).status, 'PROCESSED');
    assert.equal(await world.runs('one'), 1);
    await until(() => lines.includes('upload processed'));
  });

  it('touches nothing while somebody wants it still, also while it starts', async (test) => {
    const { ingest, world } = await aProcess(test);
    ingest.start();
    ingest.wake();
    const { id } = await ingest.withWritesPaused(async () => {
      const accepted = await world.accept(junitOf({ one: 'pass' }), { candidateId: 'c-1', check: 'unit' });
      ingest.wake();
      const one = ingest.withWritesPaused(async () => (await world.find(accepted.id)).status);
      assert.equal(await one, 'ACCEPTED');
      return accepted;
    });
    await nextCheck(ingest);
    assert.equal((await world.find(id)).status, 'PROCESSED');
  });

  it('ends when it says that it is idle, and starts again for work [U92]', async (test) => {
    const entry = await aProgram(test, `process.on('message', ({ kind }) => { ${IDLE} });`);
    const { ingest, world } = await aProcess(test, { entry });
    ingest.start();
    ingest.wake();
    await until(() => ingest.watched().residentBytes > 0);
    await until(() => ingest.watched().residentBytes === 0);
    const stored = nextCheck(ingest);
    await world.accept(junitOf({ one: 'pass' }));
    await stored;
  });

  it('is started again when it dies, with the upload in mind that it died of [U74]', async (test) => {
    const lines: { readonly upload?: string; readonly said?: string }[] = [];
    const entry = await aProgram(test, DYING);
    const { ingest } = await aProcess(test, { entry, log: { ...silentLog, error: (facts) => void lines.push(facts) } });
    ingest.start();
    ingest.wake();
    await until(() => lines.filter(({ upload }) => upload === 'u-1').length >= 2);
    assert.match(lines.map(({ said }) => said).join(), /seen 1 crashed/);
  });

  it('is killed when it takes more memory than it may, and the upload is FAILED after the third time [U74] [U91]', async (test) => {
    const { ingest, world } = await aProcess(test, { limits: { residentBytes: 190 * 1024 ** 2 } });
    const large = Array.from({ length: 5_000 }, (_, no) => [`${no} ${'long '.repeat(1_500)}`, 'pass'] as const);
    const { id } = await world.accept(junitOf(Object.fromEntries(large)), { candidateId: 'c-1', check: 'unit' });
    const behind = await world.accept(junitOf({ one: 'pass' }));
    const ended = nextCheck(ingest);
    ingest.start();
    ingest.wake();
    await ended;
    const { status, issues } = await world.find(id);
    assert.equal(status, 'FAILED');
    assert.match(issues.at(-1)?.message ?? '', /three times over: its ingest process took more than 190 MB of memory/);
    assert.equal(ingest.watched().kills.memory, 3);
    await untilProcessed(world, behind.id);
  });

  it('is killed when it is stuck: while it hangs, and while it lives without a step [U91]', async (test) => {
    for (const text of [
      `${BUSY} for (;;);`,
      `${BUSY} setInterval(() => process.send({ kind: 'alive', steps: 7 }), 50);`,
    ]) {
      const lines: object[] = [];
      const entry = await aProgram(test, text);
      const log = { ...silentLog, error: (facts: object) => void lines.push(facts) };
      const { ingest } = await aProcess(test, { entry, log, limits: { silentMs: 1_000 } });
      ingest.start();
      ingest.wake();
      await until(() => lines.length > 0);
      assert.equal(ingest.watched().kills.stuck, 1);
      const { upload, reason } = lines[0] as { upload: string; reason: string };
      assert.deepEqual({ upload, reason }, { upload: 'u-1', reason: 'made no step for 1 s' });
      await ingest.stop();
    }
  });

  it('does not keep the server from saying that uploads wait [U40]', async (test) => {
    const lines: string[] = [];
    const log = { ...silentLog, warn: (_facts: object, text: string) => void lines.push(text) };
    const begunAt = Date.now();
    const clock: Timing = {
      now: () => begunAt + (Date.now() - begunAt) * 20,
      after: (ms, act) => systemClock.after(ms / 20, act),
    };
    const { ingest, world } = await aProcess(test, { entry: await aProgram(test, 'for (;;);'), log, clock });
    world.now = begunAt - 3_600_000;
    await world.accept(junitOf({ one: 'pass' }));
    ingest.start();
    await until(() => lines.includes('uploads wait to be processed'));
    assert.ok(ingest.watched().silentMs > 0);
  });
});

const BUSY = `process.send({ kind: 'working_on', uploadId: 'u-1' }); process.send({ kind: 'alive', steps: 7 });`;

/** Says that it is idle, ends as it is told, and tells a second time that it was started for work. */
const IDLE = `
  if (kind === 'begin') {
    process.send({ kind: 'alive', steps: 1, residentBytes: 1 });
    process.send({ kind: 'stored', result: {} });
    setTimeout(() => process.send({ kind: 'idle' }), 700);
  }
  if (kind === 'stop') process.disconnect();
`;

/** Crashes on its first upload. */
const DYING = `
  process.on('message', ({ data }) => {
    process.send({ kind: 'working_on', uploadId: 'u-1' }, () => {
      const crash = data.crashes.get('u-1');
      throw new Error('seen ' + crash?.count + ' ' + crash?.reason);
    });
  });
`;

function nextCheck(ingest: IngestProcess): Promise<unknown> {
  return new Promise((resolve) => {
    const stop = ingest.onCheckResults((result) => {
      stop();
      resolve(result);
    });
  });
}

async function untilProcessed(world: IngestWorld, id: string): Promise<void> {
  let status = '';
  await until(() => {
    void world.find(id).then((upload) => {
      status = upload.status;
    });
    return status === 'PROCESSED';
  });
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, 'it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
