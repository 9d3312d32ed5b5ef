import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { pluck } from '../helpers/pluck.ts';
import { useServer } from './test-queue.ts';

describe('reportCheck [C13]', { concurrency: 4 }, () => {
  const world = useServer();
  const { aQueue } = world;

  async function underTest(settings: object = {}) {
    const queue = await aQueue(settings);
    const number = await queue.submitOne();
    return { queue, ci: queue.ci, number, run: await queue.ci.runOf(number) };
  }

  const done = { name: 'test', status: 'COMPLETED', conclusion: 'SUCCESS' };

  test('answers the run as getMergeQueueTestingDetails shows it [V1] [C37]', async () => {
    const { queue, ci, number, run } = await underTest({ requiredStatuses: ['lint', 'test'] });
    assert.deepEqual(run, {
      testRunId: run.testRunId,
      requiredStatuses: ['lint', 'test'],
      requiredStatusesSource: 'MERGE_INSTANCE',
      testBranch: `sluice/pr-${number}/${run.testRunId}`,
      testBranchSha: run.testBranchSha,
      createdAt: new Date(run.createdAt).toISOString(),
      status: 'IN_PROGRESS',
      checkSuites: [{ checkRuns: [] }],
      statusChecks: [],
      testedPullRequests: [{ prNumber: number, prUrl: `refs/pull/${number}/head`, title: 'Change 1' }],
      dependentPrs: [],
    });
    const url = 'https://ci.example.com/runs/81';
    const running = await ci.report(run, 'SUCCESS', { status: 'IN_PROGRESS', conclusion: undefined, url });
    assert.deepEqual(running.checkSuites, [{ checkRuns: [{ name: 'test', url, status: 'IN_PROGRESS' }] }]);
    assert.deepEqual(running.requiredStatuses, ['lint', 'test']);
    const startedAt = new Date().toISOString();
    const passed = await ci.report(run, 'SUCCESS', { url, summary: 'All 81 passed.', startedAt });
    assert.deepEqual(passed.checkSuites[0]?.checkRuns, [
      { name: 'test', url, status: 'COMPLETED', conclusion: 'SUCCESS', startedAt, summary: 'All 81 passed.' },
    ]);
    assert.equal(passed.status, 'IN_PROGRESS');
    assert.deepEqual(await ci.read(run.testRunId), passed);
    const other = await ci.report(run, 'SUCCESS', { name: 'optional' });
    assert.equal(other.checkSuites[0]?.checkRuns.length, 2);
    assert.equal((await queue.getQueue()).enqueuedPullRequests.length, 1);
  });

  test('a failed fail-fast check fails the run before the required one has ended [V83]', async () => {
    const { ci, number, run } = await underTest({ failFastStatuses: ['shard *'] });
    await ci.report(run, 'SUCCESS', { name: 'test', status: 'IN_PROGRESS', conclusion: undefined });
    const running = await ci.report(run, 'SUCCESS', { name: 'shard 1' });
    assert.equal(running.status, 'IN_PROGRESS');
    const failed = await ci.report(run, 'FAILURE', { name: 'shard 2', summary: '3 tests failed.' });
    assert.equal(failed.status, 'FAILED');
    const entry = await ci.untilState(number, 'FAILED');
    assert.match(entry.explanation?.summary ?? '', /shard 2 failed/);
  });

  test('the status pending of commit statuses is taken as QUEUED', async () => {
    const { ci, run } = await underTest();
    const answer = await ci.report(run, '', { status: 'pending', conclusion: undefined });
    assert.equal(answer.checkSuites[0]?.checkRuns[0]?.status, 'QUEUED');
  });

  test('a run is found by its id, with the ending of a bisection too, or by its commit', async () => {
    const { queue, run } = await underTest({ requiredStatuses: ['lint', 'test'] });
    for (const name of [
      { testRunId: run.testRunId },
      { testRunId: `${run.testRunId}-bisection` },
      { testRunId: run.testRunId.toUpperCase() },
      { sha: run.testBranchSha },
      { sha: run.testBranchSha.toUpperCase() },
    ]) {
      const answer = await queue.api.ok<CandidateView>('reportCheck', { repo: queue.repo, ...name, ...done });
      assert.equal(answer.testRunId, run.testRunId);
    }
  });

  test('an unknown run is 404, and that of another repository too', async () => {
    const { queue, run } = await underTest();
    const unknown = { repo: queue.repo, ...done };
    for (const name of [
      { testRunId: 'f9c2bd32-5be5-4b0e-9d4c-b2b3d2a1f001' },
      { testRunId: 'nonsense' },
      { sha: 'ab'.repeat(20) },
      { sha: await queue.git.git(['rev-parse', 'main']) },
    ]) {
      await queue.api.refused('404 TEST_RUN_NOT_FOUND', 'reportCheck', { ...unknown, ...name });
    }
    const other = await aQueue();
    for (const name of [{ testRunId: run.testRunId }, { sha: run.testBranchSha }]) {
      await other.api.refused('404 TEST_RUN_NOT_FOUND', 'reportCheck', { repo: other.repo, ...name, ...done });
    }
    const details = { ...other.ref, testRunId: run.testRunId };
    await other.api.refused('404 TEST_RUN_NOT_FOUND', 'getMergeQueueTestingDetails', details);
    const nowhere = { repo: { ...queue.repo, name: 'nowhere' }, testRunId: run.testRunId, ...done };
    await queue.api.refused('404 REPOSITORY_NOT_FOUND', 'reportCheck', nowhere);
  });

  const BAD: readonly [string, object, string][] = [
    ['no status', { status: undefined }, '/status'],
    ['another status', { status: 'DONE' }, '/status'],
    ['no name', { name: undefined }, '/name'],
    ['an empty name', { name: '' }, '/name'],
    ['a name with spaces at its end', { name: 'test ' }, '/name'],
    ['a name that is too long', { name: 'x'.repeat(256) }, '/name'],
    ['no conclusion', { conclusion: undefined }, '/conclusion'],
    ['another conclusion', { conclusion: 'FINE' }, '/conclusion'],
    ['a conclusion too early', { status: 'IN_PROGRESS' }, '/conclusion'],
    ['a url of another kind', { url: 'javascript:alert(1)' }, '/url'],
    ['a url without a host', { url: 'https://' }, '/url'],
    ['a url with spaces', { url: 'https://ci.example.com/a b' }, '/url'],
    ['a summary that is too long', { summary: 'x'.repeat(4001) }, '/summary'],
    ['a start that is no instant', { startedAt: 'yesterday' }, '/startedAt'],
    ['a commit that is none', { testRunId: undefined, sha: 'main' }, '/sha'],
    ['both names', { sha: 'ab'.repeat(20) }, ''],
    ['neither name', { testRunId: undefined }, ''],
  ];
  test('refuses a bad report with the path of the wrong field', async () => {
    const { queue, ci, run } = await underTest();
    for (const [what, more, path] of BAD) {
      const body = { repo: queue.repo, testRunId: run.testRunId, ...done, ...more };
      const problem = await queue.api.refused('400 VALIDATION_FAILED', 'reportCheck', body);
      assert.deepEqual(pluck(problem.errors, 'path'), [path], what);
    }
    assert.deepEqual((await ci.read(run.testRunId)).checkSuites, [{ checkRuns: [] }]);
  });
});
