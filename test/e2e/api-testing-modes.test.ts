// Lanes, batches, bisections, conflicts and priorities over the API, on a real repository.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReplyOf } from '../../src/contract/operation.ts';
import type { previewSubmission } from '../../src/contract/pull-requests.ts';
import { assertLanded } from './ci.ts';
import { type TestQueue, useServer } from './test-queue.ts';

describe('lanes, batches, conflicts and priorities', { concurrency: 4 }, () => {
  const world = useServer();
  const { aQueue } = world;

  async function submitWithTargets(queue: TestQueue, targets: readonly string[] | 'ALL'): Promise<number> {
    const number = await queue.openPullRequest();
    await queue.api.ok('setImpactedTargets', { ...queue.ref, pr: { number }, impactedTargets: targets });
    await queue.submit(number);
    return number;
  }

  async function gaugesOf(queue: TestQueue, name: string): Promise<Record<string, number>> {
    const { text } = await queue.api.send(`getMergeQueueMetrics?repo=acme/${queue.repo.name}&repoHost=local`);
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
    return Object.fromEntries(
      lines.map((line) => [/queue_type="(\w+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
    );
  }

  test('parallel lanes: what shares no target is tested and lands by itself [C1] [C2] [C4] [L3]', async () => {
    const queue = await aQueue({ mode: 'PARALLEL' });
    const a = await submitWithTargets(queue, ['//a', '//common']);
    const b = await submitWithTargets(queue, ['//b']);
    const c = await submitWithTargets(queue, ['//c', '//common']);
    const runs = await queue.ci.untilRuns([`${a}`, `${b}`, `${c} on ${a}`]);
    assert.deepEqual(runs[1]?.impactedTargets, ['//b']);
    assert.deepEqual(runs[2]?.impactedTargets, ['//a', '//c', '//common']);
    assert.deepEqual(runs[2]?.impactedTargetsForTestedPrs, ['//c', '//common']);
    await queue.ci.pass(b);
    const second = await queue.ci.untilState(b, 'MERGED');
    assert.equal(second.landed?.kind, 'IDENTICAL');
    await queue.ci.pass(c);
    await queue.ci.pass(a);
    const first = await queue.ci.untilState(a, 'MERGED');
    assert.deepEqual([first.landed?.kind, first.landed?.composedWith], ['COMPOSED', [b]]);
    const third = await queue.ci.untilState(c, 'MERGED');
    for (const entry of [first, second, third]) await assertLanded(queue, entry);
    assert.equal(third.landed?.pushedTree, await queue.git.git(['rev-parse', 'main^{tree}']));
    assert.deepEqual((await queue.ci.read(runs[2]?.testRunId ?? '')).impactedTargets, ['//a', '//c', '//common']);
    const files = (await queue.git.git(['ls-tree', '--name-only', 'main'])).split('\n');
    assert.deepEqual(files, ['a.txt', 'change-1.txt', 'change-2.txt', 'change-3.txt']);
  });

  test('a failed batch is bisected, the culprit leaves, and the others land [B4] [B5] [B6]', async () => {
    const queue = await aQueue({ batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 60 });
    const numbers = (await queue.submitAll(4)) as [number, number, number, number];
    const [a, b, c, d] = numbers;
    const [batch] = await queue.ci.untilRuns([`${a}+${b}+${c}+${d}`]);
    await queue.ci.fail(a);
    const [ab] = await queue.ci.untilRuns([`${a}+${b}`, `${c}+${d} on ${a},${b}`]);
    assert.equal(ab?.testBranch, `sluice/pr-${a}/${ab?.testRunId}-bisection`);
    assert.deepEqual(await queue.ci.read(`${ab?.testRunId}-bisection`), ab);
    assert.deepEqual(await gaugesOf(queue, 'mq_testing_slots_active'), { main: 0, bisection: 4 });
    assert.deepEqual(await gaugesOf(queue, 'mq_depth_current'), { main: 0, bisection: 4 });
    const { explanation } = await queue.get(c, { includeExplanation: true });
    assert.deepEqual(
      [explanation?.reasons[0]?.code, explanation?.reasons[0]?.reasons[0]?.code],
      ['BISECTION', 'TESTING'],
    );
    await queue.ci.pass(a);
    await queue.ci.fail(c);
    await queue.ci.untilRuns([`${c} on ${a},${b}`, `${d} on ${a},${b},${c}`]);
    await queue.ci.fail(c);
    await queue.ci.untilState(c, 'FAILED');
    await queue.ci.pass(d);
    for (const number of [a, b, d]) await assertLanded(queue, await queue.ci.untilState(number, 'MERGED'));
    assert.equal((await queue.ci.landed()).length, 4);
    assert.equal((await queue.get(d)).landed?.pushedTree, await queue.git.git(['rev-parse', 'main^{tree}']));
    await assertResults(queue, { batch: batch?.testRunId, a, c });
    assert.equal((await gaugesOf(queue, 'mq_depth_current'))['bisection'], 0);
  });

  async function assertResults(queue: TestQueue, of: { batch: string | undefined; a: number; c: number }) {
    const since = new Date(Date.now() - 120_000).toISOString();
    const { testingResults } = await queue.api.ok<{ testingResults: Record<string, unknown>[] }>(
      'listMergeQueueTestingResults',
      { ...queue.ref, since, take: 100 },
    );
    const rowsOf = (prNumber: number) =>
      testingResults
        .filter((row) => row['prNumber'] === prNumber)
        .toReversed()
        .map((row) => [row['outcome'], row['bisection'], row['cycleConclusion']]);
    assert.equal(testingResults.at(-1)?.['testRunId'], of.batch);
    assert.deepEqual(rowsOf(of.a).slice(0, 2), [
      ['FAILED', 'ENTERED_BISECTION', 'MERGED'],
      ['PASSED', 'IN_BISECTION', 'MERGED'],
    ]);
    assert.deepEqual(rowsOf(of.c), [
      ['FAILED', 'ENTERED_BISECTION', 'FAILED'],
      ['FAILED', 'IN_BISECTION', 'FAILED'],
      ['FAILED', 'IN_BISECTION', 'FAILED'],
    ]);
  }

  test('an urgent one goes ahead of everybody, who are tested again on it, as was said before [O6] [O18]', async () => {
    const queue = await aQueue();
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    const urgent = await queue.openPullRequest();
    const asked = { ...queue.ref, pr: { number: urgent }, priority: 'urgent' };
    const { testedAgain, interruptedRuns, text } = await queue.api.ok<Preview>('previewSubmission', asked);
    assert.deepEqual([testedAgain, interruptedRuns], [[a, b], 2]);
    assert.match(text, /^It is tested at once, on main\. 2 runs end before the result\. Tested again behind it: #/);
    await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(urgent));
    await queue.submit(urgent, { priority: 'urgent' });
    await queue.ci.untilRuns([`${urgent}`, `${a} on ${urgent}`, `${b} on ${urgent},${a}`]);
    assert.ok((await queue.ci.storyOf(a)).includes('PENDING SKIP_THE_LINE_INTERRUPTED'));
    for (const number of [b, a, urgent]) await queue.ci.pass(number);
    for (const number of [urgent, a, b]) await assertLanded(queue, await queue.ci.untilState(number, 'MERGED'));
    const { landed } = await queue.get(urgent);
    assert.equal(landed?.base, await queue.git.git(['rev-parse', 'main~3']));
  });
});

type Preview = ReplyOf<typeof previewSubmission>;
