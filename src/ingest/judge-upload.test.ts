import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeForEach } from '../../test/helpers/made.ts';
import { IngestWorld, junitOf, MINUTE, type Report } from '../../test/worlds/shell/ingest-world.ts';
import { DEFAULT_TEST_SETTINGS, defaultMonitors } from '../flaky/settings.ts';
import { UNKNOWN_PLACE, type UploadPlace } from '../flaky/upload-place.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';

const NAMES = Array.from({ length: 200 }, (_, index) => `t${index}`);
const [SHA, OTHER] = ['a'.repeat(40), 'b'.repeat(40)];

/** Tests whose number is below `failing` fail. */
function suite(failing: number): Report {
  return Object.fromEntries(NAMES.map((name, index) => [name, index < failing ? 'fail' : 'pass']));
}

async function quarantineAll({ store, repository }: IngestWorld): Promise<void> {
  const settings = { ...DEFAULT_TEST_SETTINGS, autoQuarantine: true };
  const monitors = defaultMonitors(repository.id, repository.createdAt);
  const by = { at: 0, actor: 'ada', detail: '{}' };
  assert.ok(await store.testSettings.save(repository.id, 0, { settings, monitors }, by));
}

async function quarantined({ store, repository }: IngestWorld): Promise<number> {
  return (await store.tests.listQuarantinedIds(repository.id)).ids.length;
}

async function ignore({ store, repository, now }: IngestWorld, uploadId: string): Promise<void> {
  const { seq: expectedSeq } = await store.testIngest.load(repository.id, []);
  const nothing = { tests: [], memories: [], failures: [], events: [] };
  const of = { uploadId, at: now, actor: 'ada', reason: 'The database was down.' };
  assert.ok(await store.testIngest.commit({ repositoryId: repository.id, expectedSeq, ...nothing, ignore: of }, now));
}

const world = madeForEach(() => IngestWorld.create(createMemoryStore()));

describe('the evidence of uploads', () => {
  outages();
  takingBack();
  places();
});

function outages(): void {
  it('a run in which far more fails than usual is an outage: stored, shown, evidence for nothing [U31]', async () => {
    await quarantineAll(world);
    for (const sha of ['c', 'd', 'e']) {
      await world.upload(suite(1), { sha: sha.repeat(40) });
      world.now += MINUTE;
    }
    const outage = await world.upload(suite(80), { jobAttempt: 1 });
    assert.deepEqual([outage.status, outage.flaw, outage.testRuns], ['SKIPPED', 'OUTAGE', 200]);
    assert.match(outage.issues.at(-1)?.message ?? '', /Far more tests failed than usual/);
    world.now += MINUTE;
    const again = await world.upload(suite(0), { jobAttempt: 2 });
    assert.deepEqual([again.status, again.flaw], ['PROCESSED', null]);
    assert.equal(await quarantined(world), 0);
    assert.equal(await world.runs('t7'), 5);
  });

  it('a few flaky tests of a suite are no outage [U31]', async () => {
    await quarantineAll(world);
    await world.upload(suite(12), { jobAttempt: 1 });
    await world.upload(suite(0), { jobAttempt: 2 });
    assert.equal(await quarantined(world), 12);
  });
}

function takingBack(): void {
  for (const isMerged of [false, true]) {
    it(`the effects of an upload are restored when it is taken back${isMerged ? ', also after runs were merged' : ''} [U77]`, async () => {
      await quarantineAll(world);
      const real = { t0: 'fail', t1: 'pass' };
      await world.upload(real, { sha: OTHER, jobAttempt: 1 });
      await world.upload({ ...real, t0: 'pass' }, { sha: OTHER, jobAttempt: 2 });
      world.now += MINUTE;
      const { id } = await world.upload(suite(12), { sha: SHA, jobAttempt: 1 });
      await world.upload(suite(0), { sha: SHA, jobAttempt: 2 });
      assert.equal(await quarantined(world), 12);
      if (isMerged) await world.pass(2 * MINUTE);
      await ignore(world, id);
      await world.loop.runUntilIdle();
      assert.deepEqual([(await world.find(id)).flaw, (await world.find(id)).status], ['IGNORED', 'SKIPPED']);
      assert.deepEqual([(await world.test('t0')).status, (await world.test('t1')).status], ['FLAKY', 'HEALTHY']);
      assert.equal(await quarantined(world), 1, 'what another commit showed stays');
      const events = await world.events('t1');
      assert.ok(events.includes('upload_ignored') && events.at(-1) === 'quarantine_changed', events.join());
      assert.equal(await world.runs('t1'), 4, 'its runs stay');
    });
  }

  it('an upload that was taken back makes no pair with those that come later [U77]', async () => {
    const { id } = await world.upload({ a: 'fail' }, { jobAttempt: 1 });
    await ignore(world, id);
    await ignore(world, id);
    await world.upload({ a: 'pass' }, { jobAttempt: 2 });
    assert.equal((await world.test('a')).status, 'HEALTHY');
    assert.deepEqual(await world.store.uploadWork.listToRecount(), []);
    world.restart();
    await world.upload({ a: 'fail' }, { jobAttempt: 3 });
    assert.equal((await world.test('a')).status, 'FLAKY', 'it goes on from what is left');
  });

  it('retries within one upload are taken back with it, and others stay [U77]', async () => {
    const flaky = junitOf({ a: '<flakyFailure/>' });
    const first = await world.accept(flaky, { sha: SHA });
    const second = await world.accept(flaky, { sha: OTHER });
    await world.loop.runUntilIdle();
    assert.equal((await world.test('a')).status, 'FLAKY');
    await ignore(world, first.id);
    await world.loop.runUntilIdle();
    assert.equal((await world.test('a')).status, 'FLAKY');
    await ignore(world, second.id);
    await world.loop.runUntilIdle();
    assert.equal((await world.test('a')).status, 'HEALTHY');
  });
}

function places(): void {
  const aWorld = async (place: Partial<UploadPlace>) => {
    const findPlace = async () => ({ ...UNKNOWN_PLACE, hasCommit: true, ...place });
    return IngestWorld.create(createMemoryStore(), { findPlace });
  };

  it('an upload for a commit that the repository does not have is marked, and is evidence for nothing [U45]', async () => {
    const world = await aWorld({ hasCommit: false });
    const first = await world.upload({ a: 'fail' }, { jobAttempt: 1 });
    await world.upload({ a: 'pass' }, { jobAttempt: 2 });
    assert.deepEqual([first.status, first.flaw], ['PROCESSED', 'UNKNOWN_COMMIT']);
    assert.match(first.issues.at(-1)?.message ?? '', /has no commit a{40}/);
    assert.deepEqual([(await world.test('a')).status, await world.runs('a')], ['HEALTHY', 2]);
  });

  it('an upload for a commit that could not be looked up is evidence for statuses [U76]', async () => {
    const world = await aWorld({ hasCommit: null });
    const first = await world.upload({ a: 'fail' }, { jobAttempt: 1 });
    await world.upload({ a: 'pass' }, { jobAttempt: 2 });
    assert.deepEqual([first.status, first.flaw], ['PROCESSED', null]);
    assert.equal((await world.test('a')).status, 'FLAKY');
  });

  it('results from a test branch are those of its candidate, and of its check of that name [U46] [U64]', async () => {
    const world = await aWorld({ candidateId: 'c-1', check: 'unit' });
    const { fields } = await world.upload({ a: 'fail' });
    assert.deepEqual([fields?.candidateId, fields?.check], ['c-1', 'unit']);
    const results = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    assert.equal(results?.failing.length, 1);
  });

  it('of results that are evidence for nothing only the failures count [V60]', async () => {
    const world = await aWorld({ candidateId: 'c-1', check: 'unit' });
    const tied = { candidateId: 'c-1', check: 'unit' };
    await world.upload({ a: 'fail', b: 'pass' }, { isFork: true, ...tied });
    const find = () => world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    const flawed = await find();
    assert.deepEqual([flawed?.uploadIds, flawed?.testNos, flawed?.failing.length], [[], [], 1]);
    const whole = await world.upload({ b: 'pass', c: 'pass' });
    const both = await find();
    assert.deepEqual([both?.uploadIds, both?.testNos.length, both?.failing.length], [[whole.id], 2, 1]);
  });
}
