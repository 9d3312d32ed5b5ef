// The queue over the API, on a real repository: tests, landings and removals.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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

  test('pull requests that pass land in order, exactly as they were tested [L1] [L2] [L3]', async () => {
    const queue = await aQueue({ concurrency: 4 });
    const numbers = (await queue.submitAll(4)) as [number, number, number, number];
    const [a, b, c, d] = numbers;
    const runs = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`, `${c} on ${a},${b}`, `${d} on ${a},${b},${c}`]);
    for (const number of [d, c, b]) {
      const passed = await queue.ci.pass(number);
      assert.equal(passed.status, 'SUCCEEDED');
      assert.equal((await queue.get(number)).state, 'TESTS_PASSED');
    }
    const { explanation } = await queue.get(d, { includeExplanation: true });
    const waits = explanation?.reasons.map((reason) => [reason.code, reason.prNumber]);
    assert.deepEqual(
      waits,
      [a, b, c].map((number) => ['WAITING_FOR', number]),
    );
    const onA = explanation?.reasons[0]?.reasons[0];
    assert.deepEqual([onA?.code, onA?.testRunId, onA?.reasons[0]?.check], ['TESTING', runs[0]?.testRunId, 'test']);
    assert.deepEqual(await queue.ci.landed(), ['Begin']);
    await queue.ci.pass(a);
    for (const [index, number] of numbers.entries()) {
      const entry = await queue.ci.untilState(number, 'MERGED');
      await assertLanded(queue, entry);
      assert.equal(entry.landed?.kind, 'IDENTICAL');
      assert.equal(entry.landed?.testRunId, runs[index]?.testRunId);
      assert.deepEqual(entry.landed?.composedWith, []);
    }
    const last = await queue.get(d);
    assert.equal(last.landed?.pushedSha, await queue.git.git(['rev-parse', 'main']));
    assert.equal(last.landed?.pushedTree, await queue.git.git(['rev-parse', 'main^{tree}']));
    const subjects = (await queue.ci.landed()).map((subject) => /Change \d+/.exec(subject)?.[0] ?? subject);
    assert.deepEqual(subjects, ['Begin', 'Change 1', 'Change 2', 'Change 3', 'Change 4']);
  });

  test('a failed entry leaves once those ahead have passed, and those behind are tested again [V4] [V5] [C5]', async () => {
    const queue = await aQueue({ concurrency: 4 });
    const [a, b, c, d] = (await queue.submitAll(4)) as [number, number, number, number];
    const runs = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`, `${c} on ${a},${b}`, `${d} on ${a},${b},${c}`]);
    const failed = await queue.ci.fail(b);
    assert.equal(failed.status, 'FAILED');
    const { explanation } = await queue.get(b, { includeExplanation: true });
    assert.deepEqual(
      explanation?.reasons.map((reason) => [reason.code, reason.check]),
      [
        ['FAILED_CHECKS', 'test'],
        ['BLAME_OPEN', undefined],
      ],
    );
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

  test('a failure that is not its own is not held against it [V27]', async () => {
    const queue = await aQueue({ concurrency: 4 });
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.ci.fail(b);
    assert.equal((await queue.get(b)).state, 'PENDING_FAILURE');
    await queue.ci.fail(a);
    await queue.ci.untilState(a, 'FAILED');
    await queue.ci.untilRuns([`${b}`]);
    await queue.ci.pass(b);
    await assertLanded(queue, await queue.ci.untilState(b, 'MERGED'));
  });

  test('tests are restarted as another run, and late results of the old one change nothing [C11] [C12]', async () => {
    const queue = await aQueue();
    const [a] = (await queue.submitAll(1)) as [number];
    const [old] = await queue.ci.untilRuns([`${a}`]);
    assert.ok(old);
    await queue.api.ok('restartTestsOnPullRequest', queue.entry(a));
    const next = await queue.ci.runOf(a);
    assert.notEqual(next.testRunId, old.testRunId);
    assert.notEqual(next.testBranchSha, old.testBranchSha);
    const late = await queue.ci.report(old, 'FAILURE');
    assert.deepEqual([late.testRunId, late.status], [old.testRunId, 'CANCELLED']);
    assert.equal((await queue.get(a)).state, 'TESTING');
    await queue.ci.pass(a);
    const { landed } = await queue.ci.untilState(a, 'MERGED');
    assert.equal(landed?.testRunId, next.testRunId);
    assert.ok((await queue.ci.storyOf(a)).includes('PENDING TESTS_RESTARTED_BY_API_REQUEST'));
  });

  test('without any required check an entry fails; with none required it lands once it is built [C30]', async () => {
    const queue = await aQueue({ requiredStatuses: undefined });
    const [a] = (await queue.submitAll(1)) as [number];
    await queue.ci.untilState(a, 'FAILED');
    assert.equal((await queue.ci.storyOf(a)).at(-1), 'FAILED START_TEST_RUN_NO_REQUIRED_STATUSES');
    await queue.update({ requiredStatuses: [] });
    await queue.submit(a);
    await assertLanded(queue, await queue.ci.untilState(a, 'MERGED'));
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
