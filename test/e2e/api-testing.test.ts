// A search and its results over the API, on a real repository.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertLanded } from './ci.ts';
import { type TestQueue, useServer } from './test-queue.ts';

describe('test runs over the API', { concurrency: 2 }, () => {
  const world = useServer();
  const { aQueue } = world;

  async function gaugesOf(queue: TestQueue, name: string): Promise<Record<string, number>> {
    const { text } = await queue.api.send(`getMergeQueueMetrics?repo=acme/${queue.repo.name}&repoHost=local`);
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
    return Object.fromEntries(
      lines.map((line) => [/queue_type="(\w+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
    );
  }

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
});
