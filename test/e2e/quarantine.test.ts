import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView, ExplanationReasonView } from '../../src/app/queue/entry-view.ts';
import { pluck } from '../helpers/pluck.ts';
import { checkOf, testRunOf } from './checks.ts';
import { until } from './harness.ts';
import { aReportingQueue, caseOf, FAILURE, reportOf, submitFiles, upload } from './quarantine-world.ts';
import { type TestQueue, useServer } from './test-queue.ts';

async function quarantine({ api, repo }: TestQueue, more: object = {}): Promise<void> {
  const scope = { repo, org_url_slug: 'default' };
  const found = await until('the tests are known', 15_000, async () => {
    const { tests } = await api.ok<{ tests: { id: string; name: string }[] }>('flaky-tests/search-tests', {
      ...scope,
      query: 'flaky',
    });
    return tests.find(({ name }) => name === 'flaky');
  });
  const body = { ...scope, test_id: found.id, setting: 'ALWAYS_QUARANTINE', reason: 'It is known.', ...more };
  await api.ok('flaky-tests/set-quarantine', body);
}

function codesOf(reasons: readonly ExplanationReasonView[] = []): string[] {
  return reasons.flatMap(({ code, reasons: inner }) => [code, ...codesOf(inner)]);
}

describe('a queue with quarantined tests', () => {
  const world = useServer();

  /** One pull request has landed on it. `flaky` is quarantined since then. */
  async function aQueue(settings: object): Promise<TestQueue> {
    const queue = await aReportingQueue(world, ['solid', 'flaky'], settings);
    assert.equal((await submitFiles(queue)).state, 'MERGED');
    await quarantine(queue);
    return queue;
  }

  const lastCheckOf = async (queue: TestQueue, { prNumber }: EntryView) =>
    checkOf(queue, await testRunOf(queue, prNumber));

  /** Its results, of a candidate that an outside CI tests. */
  const uploadOf = (queue: TestQueue, run: CandidateView, report: string) => {
    const candidate = { sha: run.testBranchSha, branch: run.testBranch, test_run_id: run.testRunId, check: 'test' };
    return upload(queue.api, queue, candidate, report);
  };

  it('[V12] [V15] waits for what another CI uploads after it has reported', async () => {
    const queue = await world.aQueue({ honorQuarantine: 'ON' });
    const first = await queue.submitOne();
    await uploadOf(queue, await queue.ci.runOf(first), reportOf(caseOf('solid'), caseOf('flaky')));
    await queue.ci.pass(first);
    await queue.ci.untilState(first, 'MERGED');
    await quarantine(queue);
    const second = await queue.submitOne();
    const run = await queue.ci.fail(second);
    assert.equal(run.checkSuites[0]?.checkRuns[0]?.quarantine?.verdict, 'PENDING');
    assert.equal((await queue.get(second)).state, 'TESTING');
    await uploadOf(queue, run, reportOf(caseOf('solid'), caseOf('flaky', FAILURE)));
    const { landed } = await queue.ci.untilState(second, 'MERGED');
    assert.deepEqual(
      landed?.waived.map(({ check, tests }) => [check, tests.map(({ name }) => name)]),
      [['test', ['flaky']]],
    );
  });

  it('[V12] [V13] [V15] [R23] [R24] lands what fails in quarantined tests only, and nothing else', async () => {
    const queue = await aQueue({ honorQuarantine: 'ON' });
    const excused = await submitFiles(queue, { 'break-flaky.txt': 'x\n' });
    assert.equal(excused.state, 'MERGED');
    const [waived] = excused.landed?.waived ?? [];
    assert.deepEqual([waived?.check, waived?.tests.map(({ name }) => name)], ['test', ['flaky']]);
    assert.ok(excused.timeline?.some(({ text }) => text.includes('Waived: test failed only in quarantined tests')));
    const check = await lastCheckOf(queue, excused);
    assert.deepEqual([check?.conclusion, check?.quarantine?.verdict], ['FAILURE', 'WAIVED']);

    const guilty = await submitFiles(queue, { 'break-solid.txt': 'x\n' });
    assert.equal(guilty.state, 'FAILED');
    const denied = (await lastCheckOf(queue, guilty))?.quarantine;
    assert.deepEqual(pluck(denied?.failedTests, 'name', 'isExcused', 'reason'), [
      ['solid', false, 'It is not quarantined.'],
      ['flaky', true, undefined],
    ]);
    assert.ok(codesOf(guilty.explanation?.reasons).includes('NOT_WAIVED'));
  });
});
