import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeForEach } from '../../test/helpers/made.ts';
import { aMonitor } from '../../test/helpers/test-history.ts';
import { DAY, IngestWorld, junitOf, MINUTE } from '../../test/worlds/shell/ingest-world.ts';
import { isCovered } from '../flaky/coverage.ts';
import { DEFAULT_TEST_SETTINGS, defaultMonitors, type TestSettings } from '../flaky/settings.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';
import { decodeState } from '../storage/test-codec.ts';

const world = madeForEach(() => IngestWorld.create(createMemoryStore()));

describe('processing uploads', () => {
  it('stores runs, tests and failures, and ends the upload, in one step [U29] [U71]', async () => {
    const upload = await world.upload({ one: 'pass', two: 'fail', three: 'skip' });
    assert.equal(upload.status, 'PROCESSED');
    assert.equal(upload.testRuns, 3);
    assert.equal(upload.processedAt, world.now);
    assert.deepEqual(await world.statuses(), { one: 'HEALTHY', two: 'HEALTHY', three: 'HEALTHY' });
    assert.deepEqual([await world.runs('one'), await world.runs('two'), await world.runs('three')], [1, 1, 1]);
    const { id } = await world.test('two');
    const [stats] = await world.store.tests.getStats({
      repositoryId: world.repository.id,
      testIds: [id],
      now: world.now + 1,
      since: 0,
    });
    assert.equal(stats?.failures24h, 1);
    assert.equal(stats?.failureGroups[0]?.summary, 'it broke');
  });

  it('calls a test flaky that failed in one upload of a commit and passed in another [F33]', async () => {
    await world.upload({ one: 'fail', two: 'pass' });
    world.now += MINUTE;
    await world.upload({ one: 'pass', two: 'fail' });
    assert.deepEqual(await world.statuses(), { one: 'FLAKY', two: 'FLAKY' });
    assert.ok((await world.events('one')).includes('status_changed'));
    await world.upload({ three: 'fail' }, { sha: 'b'.repeat(40) });
    await world.upload({ three: 'pass' }, { sha: 'c'.repeat(40) });
    await world.upload({ three: 'pass' }, { sha: 'b'.repeat(40), jobName: 'windows' });
    assert.equal((await world.test('three')).status, 'HEALTHY');
  });

  it('has a status end by itself when its time has come [F33]', async () => {
    await world.upload({ one: 'fail' });
    await world.upload({ one: 'pass' });
    assert.equal((await world.test('one')).status, 'FLAKY');
    await world.pass(7 * DAY - MINUTE);
    assert.equal((await world.test('one')).status, 'FLAKY');
    await world.pass(2 * MINUTE);
    assert.equal((await world.test('one')).status, 'HEALTHY');
    assert.deepEqual((await world.test('one')).labels, []);
  });

  it('fails an upload without results, and says why [U30] [U72]', async () => {
    const { id } = await world.accept('<html>no</html>');
    await world.loop.runUntilIdle();
    const upload = await world.find(id);
    assert.equal(upload.status, 'FAILED');
    assert.ok(upload.issues.some(({ level }) => level === 'error'));
    assert.equal(await world.store.tests.getWatermark(world.repository.id), 0);
  });

  it('takes a report without cases for one: processed, with no runs and a word about it [U72]', async () => {
    const { id } = await world.accept('<testsuites tests="0"/>');
    await world.loop.runUntilIdle();
    const upload = await world.find(id);
    assert.deepEqual([upload.status, upload.testRuns], ['PROCESSED', 0]);
    assert.deepEqual([...new Set(upload.issues.map(({ level }) => level))], ['info']);
    const { id: declared } = await world.accept('<testsuites><testsuite name="s" tests="1"/></testsuites>');
    await world.loop.runUntilIdle();
    assert.equal((await world.find(declared)).status, 'FAILED');
  });

  it('tells tests of one id in several suites apart, and says that there are some [F35] [F36]', async () => {
    const report = (outer: string, inner: string) =>
      `<testsuite name="cart"><testcase name="adds">${outer}</testcase><testsuite name="with coupon"><testcase name="adds">${inner}</testcase></testsuite></testsuite>`;
    const upload = async (outer: string, inner: string, more = {}) => {
      const { id } = await world.accept(report(outer, inner), more);
      await world.loop.runUntilIdle();
      return world.find(id);
    };
    const { issues } = await upload('<failure/>', '');
    assert.ok(issues.some(({ message }) => /one name in several suites: cart > adds/.test(message)));
    world.now += MINUTE;
    await upload('', '');
    const { id } = await world.test('adds');
    const { known } = await world.store.testIngest.load(world.repository.id, [id]);
    const monitors = defaultMonitors(world.repository.id, 0);
    const test = { state: decodeState(known[0]?.memory.state ?? ''), monitors, quarantine: { by: 'auto' as const } };
    assert.equal(test.state.status, 'FLAKY');
    assert.deepEqual([isCovered(test, ''), isCovered(test, 'with coupon')], [true, false]);
    await upload('', '<failure/>', { candidateId: 'c-1', check: 'unit', sha: 'd'.repeat(40) });
    const results = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    assert.deepEqual(results?.failing[0]?.paths, ['with coupon']);
  });

  it('knows a test again whichever folder it was checked out to, where the upload names that [U44]', async () => {
    const report = (root: string) =>
      `<testsuite name="CartTest"><testcase name="adds" classname="C" file="${root}/tests/CartTest.php"/></testsuite>`;
    for (const root of ['/builds/agent-1/app', '/builds/agent-2/app']) {
      const { id } = await world.accept(report(root), { checkoutRoot: root, jobName: root });
      await world.loop.runUntilIdle();
      assert.ok((await world.find(id)).issues.every(({ message }) => !/one machine/.test(message)));
    }
    assert.equal(await world.runs('adds'), 2);
    const { id } = await world.accept(report('/builds/agent-3/app'));
    await world.loop.runUntilIdle();
    assert.ok((await world.find(id)).issues.some(({ message }) => /that of one machine/.test(message)));
  });

  it('tells whoever judges a check that a failure belongs to no failing test [J23]', async () => {
    const results = async (inside: string, check: string) => {
      const { id } = await world.accept(inside, { candidateId: 'c-1', check });
      await world.loop.runUntilIdle();
      const found = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', check);
      return [(await world.find(id)).status, found?.isWhole, found?.failing.length];
    };
    const suite = (inside: string) => `<testsuite name="s">${inside}</testsuite>`;
    const quarantined = '<testcase name="a" classname="C"><failure/></testcase>';
    const teardown = '<testcase name="b" classname="C"><skipped/><error/></testcase>';
    assert.deepEqual(await results(suite(quarantined + teardown), 'teardown'), ['PROCESSED', true, 2]);
    assert.deepEqual(await results(suite(`${quarantined}<error/>`), 'outside'), ['PROCESSED', false, 1]);
    const nameless = '<testcase name="" classname="t.B"><error/></testcase>';
    assert.deepEqual(await results(suite(quarantined + nameless), 'class'), ['PROCESSED', true, 2]);
  });

  it('says that results are missing to whoever waits for those of a check', async () => {
    const tie = { candidateId: 'c-1', check: 'unit' };
    const told: string[] = [];
    world.loop.onCheckResults(({ candidateId, check }) => told.push(`${candidateId} ${check}`));
    await world.upload({ one: 'fail', two: 'fail pass', three: 'skip' }, tie);
    const results = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    assert.equal(results?.isWhole, true);
    assert.equal(results?.testNos.length, 3);
    assert.deepEqual(results?.skippedNos, [(await world.test('three')).no]);
    assert.deepEqual(
      results?.failing.map(({ testId }) => testId),
      // Two cases share a name: the passing one may be another test.
      [(await world.test('one')).id, (await world.test('two')).id],
    );
    await world.upload({ three: 'pass', four: 'skip' }, tie);
    const more = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    assert.deepEqual(more?.skippedNos, [(await world.test('four')).no]);
    await world.accept('nothing', { ...tie, candidateId: 'c-2' });
    await world.loop.runUntilIdle();
    const none = await world.store.testIngest.findCheckResults(world.repository.id, 'c-2', 'unit');
    assert.equal(none?.isWhole, false);
    assert.deepEqual(told, ['c-1 unit', 'c-1 unit', 'c-2 unit']);
  });

  it('keeps an upload in which more than a given share failed, as evidence for nothing [U31]', async () => {
    for (const limits of [
      { runs: 1_000, text: 1_000_000 },
      { runs: 2, text: 1_000_000 },
    ]) {
      const limited = await IngestWorld.create(createMemoryStore(), { limits });
      await setSettings(limited, { infrastructureFailureThreshold: 0.8 });
      const all = { a: 'fail', b: 'fail', c: 'fail', d: 'fail', e: 'fail' };
      const skipped = await limited.upload(all);
      assert.deepEqual([skipped.status, skipped.flaw, skipped.testRuns], ['SKIPPED', 'OUTAGE', 5]);
      assert.equal(await limited.runs('a'), 1, 'its runs are shown');
      const counted = await limited.upload({ ...all, e: 'pass' });
      assert.equal(counted.status, 'PROCESSED');
      assert.equal(counted.testRuns, 5);
    }
  });

  it('goes on behind the part that was stored last [U73]', async () => {
    world.configure({ limits: { runs: 3, text: 1_000_000 } });
    const names = Array.from({ length: 10 }, (_, index) => `t${index}`);
    const report = Object.fromEntries(names.map((test, index) => [test, index % 3 === 0 ? 'fail' : 'pass']));
    const { id } = await world.accept(junitOf(report), { candidateId: 'c-1', check: 'unit' });
    const { testIngest } = world.store;
    let commits = 0;
    const stuck = Promise.withResolvers<void>();
    const commit: typeof testIngest.commit = (change, at) => {
      commits += 1;
      if (commits <= 2) return testIngest.commit(change, at);
      stuck.resolve();
      return new Promise(() => undefined);
    };
    world.restart({ ...world.store, testIngest: { ...testIngest, commit } });
    void world.loop.runUntilIdle();
    await stuck.promise;
    assert.deepEqual(pick(await world.find(id)), { status: 'ACCEPTED', partsDone: 2 });
    world.restart();
    await world.loop.runUntilIdle();
    const upload = await world.find(id);
    assert.equal(upload.status, 'PROCESSED');
    assert.equal(upload.testRuns, 10);
    for (const test of names) assert.equal(await world.runs(test), 1);
    const results = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    assert.equal(results?.testNos.length, 10);
    assert.equal(results?.failing.length, 4);
  });

  it('keeps what a person did meanwhile, and counts every run once [U33]', async () => {
    await world.upload({ one: 'pass', two: 'pass' });
    await world.upload({ one: 'pass', two: 'pass' }, { sha: 'b'.repeat(40) });
    const { testIngest } = world.store;
    const { id } = await world.test('one');
    const loaded = await testIngest.load(world.repository.id, [id]);
    const known = loaded.known[0];
    assert.ok(known !== undefined);
    const acted = await testIngest.commit(
      {
        repositoryId: world.repository.id,
        expectedSeq: loaded.seq,
        tests: [{ ...known.test, ticketUrl: 'https://tickets.example/1' }],
        memories: [known.memory],
        failures: [],
        events: [],
      },
      world.now,
    );
    assert.notEqual(acted, undefined);
    await world.upload({ one: 'fail', two: 'pass' }, { sha: 'c'.repeat(40) });
    assert.equal((await world.test('one')).ticketUrl, 'https://tickets.example/1');
    assert.equal(await world.runs('one'), 3);
    const [after] = (await testIngest.load(world.repository.id, [id])).known;
    const rate = Object.values(JSON.parse(after?.memory.state ?? '{}').monitors).find(
      (monitor) => (monitor as { type: string }).type === 'failure_rate',
    ) as { data: { buckets: readonly number[] } };
    assert.deepEqual(rate.data.buckets.slice(1), [2, 1]);
  });

  it('has every test follow changed settings: quarantine, monitors that begin, and those that are gone [F34]', async () => {
    await world.upload({ one: 'fail', two: 'fail' });
    await world.upload({ one: 'pass', two: 'fail' });
    assert.equal((await world.test('one')).quarantinedAt, null);
    await setSettings(world, { autoQuarantine: true });
    await world.pass(MINUTE);
    assert.equal((await world.test('one')).quarantinedAt, world.now);
    assert.equal((await world.test('two')).quarantinedAt, null);
    assert.ok((await world.events('one')).includes('quarantine_changed'));
    const monitors = defaultMonitors(world.repository.id, world.repository.createdAt);
    const rate = aMonitor({
      type: 'failure_rate',
      action: { classify: 'BROKEN' },
      parameters: { activation_threshold: 0.8, window_hours: 24, minimum_sample_size: 2 },
    });
    const others = monitors.filter(({ type }) => type !== 'pass_on_retry');
    await setSettings(world, { autoQuarantine: true }, [...others, rate]);
    await world.pass(MINUTE);
    assert.deepEqual(await world.statuses(), { one: 'HEALTHY', two: 'BROKEN' });
    assert.equal((await world.test('one')).quarantinedAt, null);
    const settings = await world.store.testSettings.find(world.repository.id);
    assert.equal(settings?.appliedVersion, 2);
  });
});

function pick({ status, partsDone }: { readonly status: string; readonly partsDone: number }) {
  return { status, partsDone };
}

async function setSettings(
  world: IngestWorld,
  changes: Partial<TestSettings>,
  monitors = defaultMonitors(world.repository.id, world.repository.createdAt),
): Promise<void> {
  const known = await world.store.testSettings.find(world.repository.id);
  const settings = { ...DEFAULT_TEST_SETTINGS, ...changes };
  const change = { at: world.now, actor: 'ann', detail: '{}' };
  const saved = await world.store.testSettings.save(
    world.repository.id,
    known?.version ?? 0,
    { settings, monitors },
    change,
  );
  assert.notEqual(saved, undefined);
}
