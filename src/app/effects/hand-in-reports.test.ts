import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maker } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { FIRST, WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import { Fault } from '../../lib/fault.ts';
import type { Upload } from '../../storage/uploads.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { createEffectWorker } from './effect-worker.ts';

const CHECKS = [{ name: 'unit', command: 'run unit', timeoutMinutes: null }];
const REPORTS = { 'reports/a.xml': '<testsuite name="a"/>', 'reports/b.xml': '<testsuite name="b"/>' };
const FAILED = { kind: 'exited', code: 1 } as const;

const begin = maker(async (junit: readonly string[] = ['reports/*.xml']): Promise<WorkerWorld> => {
  const world = await WorkerWorld.create(CHECKS, junit);
  world.worker.start();
  await world.submit();
  await world.clock.pass(10);
  return world;
});

async function uploadsOf({ store, repositoryId }: WorkerWorld): Promise<readonly Upload[]> {
  const watermark = await store.uploads.getWatermark(repositoryId);
  return (await store.uploads.list({ repositoryId, watermark, offset: 0, limit: 10 })).uploads;
}

async function logOf(world: WorkerWorld): Promise<string> {
  const key = { candidateId: candidateIdOf(world.queueId, FIRST), check: 'unit' };
  return Buffer.from((await world.store.logs.read(key, 0, 100_000))?.bytes ?? []).toString();
}

async function readText({ store }: WorkerWorld, { bodyId }: Upload, fileNo: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const bytes of store.uploadBodies.read(bodyId ?? '', fileNo)) chunks.push(bytes);
  return Buffer.concat(chunks).toString();
}

describe('test reports of a check', () => {
  it('[R24] are stored, tied to it, before its result is reported', async () => {
    const world = await begin();
    const found = await world.app.queues.find(world.queueId);
    const candidate = found && findCandidate(found.queue, FIRST);
    const job = world.jobs.find('unit');
    assert.deepEqual(job?.job.reports?.globs, ['reports/*.xml']);
    await job?.leave(REPORTS);
    const [upload] = await uploadsOf(world);
    assert.ok(upload);
    const candidateId = candidateIdOf(world.queueId, FIRST);
    assert.deepEqual(upload.fields, {
      sha: candidate?.commit?.sha,
      branch: job?.job.variables['SLUICE_TEST_BRANCH'],
      prNumber: 1,
      jobName: 'unit',
      jobUrl: null,
      variant: '',
      candidateId,
      check: 'unit',
      isFork: false,
      jobAttempt: null,
      checkoutRoot: '/check/tree',
    });
    assert.deepEqual([upload.kind, upload.status, world.ingestWakes], ['runner', 'ACCEPTED', 1]);
    assert.deepEqual(pluck(upload.files, 'name'), Object.keys(REPORTS));
    assert.equal(await readText(world, upload, 1), REPORTS['reports/b.xml']);
    assert.equal(await world.store.uploads.hasWaiting(world.repositoryId, candidateId, 'unit'), true);
    assert.equal(await world.stateOf(FIRST), 'testing', 'it has not ended yet');
    job?.end(FAILED);
    await world.clock.pass(1_000);
    assert.match(
      await logOf(world),
      /\n\[Sluice\] 2 reports handed to ingestion\.\n\n\[Sluice\] Failed with exit code 1/,
    );
  });

  it('[R38] are not tied to it where some could not be taken', async () => {
    const world = await begin();
    await world.jobs.find('unit')?.leave(REPORTS, ['reports/c.xml cannot be read (EACCES).']);
    world.jobs.find('unit')?.end(FAILED);
    await world.clock.pass(1_000);
    const [upload] = await uploadsOf(world);
    assert.deepEqual(
      [upload?.fields?.candidateId, upload?.fields?.check, upload?.fields?.jobName],
      [null, null, 'unit'],
    );
    assert.match(await logOf(world), /Test reports: reports\/c\.xml cannot be read \(EACCES\)\.\n/);
  });

  it('[R38] may be missing, which the log says', async () => {
    const world = await begin();
    await world.jobs.find('unit')?.leave({});
    world.jobs.find('unit')?.end(FAILED);
    await world.clock.pass(1_000);
    assert.deepEqual(await uploadsOf(world), []);
    assert.match(await logOf(world), /No test report was found \(reports\/\*\.xml\)\./);
  });

  it('[R48] are read twice where the server ended meanwhile, and then no more', async () => {
    const world = await begin();
    await world.jobs.find('unit')?.leave(REPORTS);
    await world.worker.stop();
    for (const uploads of [2, 2]) {
      const next = createEffectWorker(world.app, 'the next one');
      next.start();
      await world.clock.pass(10);
      await world.jobs.find('unit')?.leave(REPORTS);
      assert.equal((await uploadsOf(world)).length, uploads);
      if (world.jobs.asked.length === 3) world.jobs.find('unit')?.end(FAILED);
      await world.clock.pass(1_000);
      await next.stop();
    }
    assert.match(
      await logOf(world),
      /Test reports are not read: the server ended twice while it read them\.\n\n\[Sluice\] Failed/,
    );
    assert.equal(await world.stateOf(FIRST), undefined, 'its result counts');
  });

  it('[R24] are asked for only where the repository names them', async () => {
    const world = await begin([]);
    assert.equal(world.jobs.find('unit')?.job.reports, undefined);
  });

  it('[R24] are let go where the store is away, and the check still has its result', async () => {
    const world = await begin();
    let calls = 0;
    const away = async () => {
      calls += 1;
      throw new Fault('STORE_UNAVAILABLE', 'Away.');
    };
    Object.assign(world.app.store.uploads, { create: away });
    const left = world.jobs.find('unit')?.leave(REPORTS);
    await world.clock.pass(10_000);
    await left;
    assert.ok(calls > 1, 'it was tried again');
    world.jobs.find('unit')?.end(FAILED);
    await world.clock.pass(1_000);
    assert.match(await logOf(world), /The test reports could not be stored\.\n\n\[Sluice\] Failed/);
  });
});
