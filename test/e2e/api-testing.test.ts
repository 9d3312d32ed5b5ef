// The queue over the API, on a real repository: tests, landings and removals.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pluck } from '../helpers/pluck.ts';
import { assertLanded } from './ci.ts';
import { until } from './harness.ts';
import { useServer } from './test-queue.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('testing and landing in single mode', { concurrency: 4 }, () => {
  const { aQueue } = useServer();

  test('four slots test four pull requests, each on those ahead of it [C1] [C3]', async () => {
    const queue = await aQueue({ concurrency: 4 });
    const [a, b, c, d, e] = (await queue.submitAll(5)) as [number, number, number, number, number];
    const runs = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`, `${c} on ${a},${b}`, `${d} on ${a},${b},${c}`]);
    const [first, second] = runs;
    assert.ok(first && second);
    assert.deepEqual(first, {
      testRunId: first.testRunId,
      requiredStatuses: ['test'],
      requiredStatusesSource: 'MERGE_INSTANCE',
      testBranch: `sluice/pr-${a}/${first.testRunId}`,
      testBranchSha: first.testBranchSha,
      createdAt: first.createdAt,
      status: 'IN_PROGRESS',
      checkSuites: [{ checkRuns: [] }],
      statusChecks: [],
      testedPullRequests: [{ prNumber: a, prUrl: `refs/pull/${a}/head`, title: 'Change 1' }],
      dependentPrs: [],
    });
    assert.match(first.createdAt, INSTANT);
    assert.deepEqual(
      { ...(await queue.ci.read(second.testRunId)), version: undefined },
      { ...second, version: undefined },
    );
    const main = await queue.git.git(['rev-parse', 'main']);
    assert.equal(await queue.git.git(['rev-parse', `${second.testBranchSha}~2`]), main);
    assert.equal((await queue.get(e)).state, 'PENDING');
    const { explanation } = await queue.get(e, { includeExplanation: true });
    assert.equal(explanation?.position, 5);
    assert.equal(explanation?.reasons[0]?.code, 'WAITING_FOR_SLOT');
  });

  test('CI finds the commit under the test branch, and no longer when the run has ended', async () => {
    const queue = await aQueue();
    const [a] = (await queue.submitAll(1)) as [number];
    const run = await queue.ci.runOf(a);
    const untilShown = (expected: string) =>
      until(`the test branches are "${expected}"`, 15_000, async () => {
        const refs = await queue.git.git(['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/sluice']);
        return refs === expected || undefined;
      });
    await untilShown(`${run.testBranchSha} refs/heads/${run.testBranch}`);
    await queue.ci.pass(a);
    await queue.ci.untilState(a, 'MERGED');
    await untilShown('');
  });

  test('a failed entry leaves once those ahead have passed, and those behind are tested again [V4] [V5] [C5]', async () => {
    const queue = await aQueue({ concurrency: 4 });
    const [a, b, c, d] = (await queue.submitAll(4)) as [number, number, number, number];
    const runs = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`, `${c} on ${a},${b}`, `${d} on ${a},${b},${c}`]);
    const failed = await queue.ci.fail(b);
    assert.equal(failed.status, 'FAILED');
    const { explanation } = await queue.get(b, { includeExplanation: true });
    assert.deepEqual(pluck(explanation?.reasons, 'code', 'check'), [
      ['FAILED_CHECKS', 'test'],
      ['BLAME_OPEN', undefined],
    ]);
    assert.equal(explanation?.reasons[1]?.reasons[0]?.prNumber, a);
    await queue.ci.pass(a);
    const entry = await queue.ci.untilState(b, 'FAILED');
    assert.equal(entry.isCurrentlySubmittedToQueue, false);
    const { timeline } = await queue.get(b, { includeTimeline: true });
    const { at, text, ...last } = timeline?.[0] ?? { at: '', text: '' };
    assert.match(at, INSTANT);
    assert.match(text, /test failed when it was tested on top of #\d+\./);
    assert.deepEqual(last, {
      state: 'FAILED',
      reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
      testRunId: failed.testRunId,
      checks: ['test'],
    });
    const [reC, reD] = await queue.ci.untilRuns([`${c} on ${a}`, `${d} on ${a},${c}`]);
    assert.ok(reC && reD);
    assert.equal((await queue.ci.read(runs[2]?.testRunId ?? '')).status, 'CANCELLED');
    const story = await queue.ci.storyOf(c);
    assert.deepEqual(story.slice(-2), ['PENDING PREREQUISITE_MERGE_ITEM_FAILED', 'TESTING TEST_RUN_STARTED']);
    const again = (await queue.get(c, { includeTimeline: true })).timeline?.[1];
    assert.equal(again?.prNumber, b);
    await queue.ci.pass(d);
    await queue.ci.pass(c);
    for (const number of [a, c, d]) await assertLanded(queue, await queue.ci.untilState(number, 'MERGED'));
    assert.equal((await queue.get(d)).landed?.pushedTree, await queue.git.git(['rev-parse', 'main^{tree}']));
    assert.equal((await queue.ci.landed()).length, 4);
  });

  test('results are listed with their run, and how the stay ended', async () => {
    const queue = await aQueue();
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    const [runA, runB] = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.ci.pass(a);
    await queue.ci.untilState(a, 'MERGED');
    await queue.api.ok('cancelPullRequest', queue.entry(b));
    const since = new Date(Date.now() - 60_000).toISOString();
    const { testingResults } = await queue.api.ok<{ testingResults: Record<string, unknown>[] }>(
      'listMergeQueueTestingResults',
      { ...queue.ref, since },
    );
    assert.deepEqual(
      testingResults.map(({ prNumber, outcome, testRunId, cycleConclusion }) => ({
        prNumber,
        outcome,
        testRunId,
        cycleConclusion,
      })),
      [
        { prNumber: b, outcome: 'CANCELLED', testRunId: runB?.testRunId, cycleConclusion: 'CANCELLED' },
        { prNumber: a, outcome: 'PASSED', testRunId: runA?.testRunId, cycleConclusion: 'MERGED' },
      ],
    );
  });
});
