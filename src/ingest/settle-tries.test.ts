import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { IngestWorld } from '../../test/worlds/shell/ingest-world.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../test/fixtures/junit/${name}.xml`, import.meta.url), 'utf8');

async function upload(...reports: readonly string[]) {
  const world = await IngestWorld.create(createMemoryStore());
  for (const [index, report] of reports.entries()) {
    await world.accept(report, { candidateId: 'c-1', check: 'unit', jobName: 'unit', sha: String(index).repeat(40) });
    await world.loop.runUntilIdle();
  }
  return world;
}

async function countsOf(world: IngestWorld, name: string) {
  const { id } = await world.test(name);
  const query = { repositoryId: world.repository.id, testIds: [id], now: world.now + 1, since: 0 };
  const [stats] = await world.store.tests.getStats(query);
  return [stats?.runs7d, stats?.failures7d];
}

async function failing(world: IngestWorld) {
  const results = await world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
  const rows = await Promise.all(
    (results?.failing ?? []).map(({ testId }) => world.store.tests.find(world.repository.id, testId)),
  );
  return rows.map((row) => row?.name).sort();
}

describe('tries of a test in one report [F37]', () => {
  it('of gotestsum: a failure and a pass of one name are tries of one test, and it has failed in the check [F58]', async () => {
    const world = await upload(fixture('gotestsum-rerun'));
    const statuses = await world.statuses();
    assert.deepEqual([statuses['TestSecondTry'], statuses['TestAlwaysFails']], ['FLAKY', 'HEALTHY']);
    assert.equal(statuses['TestTable/a'], 'HEALTHY');
    assert.deepEqual(await countsOf(world, 'TestAlwaysFails'), [3, 3]);
    assert.deepEqual(await failing(world), ['TestAlwaysFails', 'TestSecondTry']);
  });

  it('of pytest-rerunfailures: a try that was run again has failed, although it is written as if it had passed [F51]', async () => {
    const world = await upload(fixture('pytest-rerunfailures'));
    const statuses = await world.statuses();
    assert.deepEqual([statuses['test_second_try'], statuses['test_always_fails']], ['FLAKY', 'HEALTHY']);
    assert.deepEqual(await countsOf(world, 'test_always_fails'), [3, 3]);
    assert.deepEqual(await countsOf(world, 'test_second_try'), [2, 1]);
    assert.deepEqual(await failing(world), [
      'test_always_fails',
      'test_fails_and_teardown_fails',
      'test_skips_then_teardown_fails',
    ]);
  });

  it('of pytest: a name that comes twice where nothing was run again passed twice [F51]', async () => {
    const world = await upload(
      '<testsuites><testsuite name="pytest" tests="2"><testcase classname="t" name="a"/><testcase classname="t" name="a"/></testsuite></testsuites>',
    );
    assert.deepEqual(await world.statuses(), { a: 'HEALTHY' });
    assert.deepEqual(await countsOf(world, 'a'), [2, 0]);
  });

  it('of Surefire with classes inside classes: a test is one, whichever report its tries are in', async () => {
    const again =
      '<testsuite name="t.CTest" tests="0"><testcase name="plainSecondTry" classname="t.CTest"/></testsuite>';
    const both = `${fixture('surefire-nested').replace(/^<\?xml[^>]*>/, '')}${again}`;
    const world = await upload(both);
    const statuses = await world.statuses();
    assert.equal(statuses['plainSecondTry'], 'FLAKY');
    assert.deepEqual(await countsOf(world, 'plainSecondTry'), [2, 1]);
    assert.deepEqual(await failing(world), ['alwaysFails']);
  });
});
