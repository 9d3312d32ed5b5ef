import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { until } from './harness.ts';
import { useServer } from './test-queue.ts';

const PATIENCE_MS = 20_000;

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
    const { queue, ci, run } = await underTest({ requiredStatuses: ['lint', 'test'] });
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

  for (const [given, shown, state] of [
    ['success', 'SUCCESS', 'SUCCEEDED'],
    ['NEUTRAL', 'NEUTRAL', 'SUCCEEDED'],
    ['skipped', 'SKIPPED', 'SUCCEEDED'],
    ['failure', 'FAILURE', 'FAILED'],
    ['timed_out', 'TIMED_OUT', 'FAILED'],
    ['ACTION_REQUIRED', 'ACTION_REQUIRED', 'FAILED'],
    ['error', 'FAILURE', 'FAILED'],
    ['cancelled', 'CANCELLED', 'CANCELLED'],
    ['STALE', 'STALE', 'CANCELLED'],
  ] as const) {
    test(`the conclusion ${given} makes the run ${state} [V1] [V22] [V3]`, async () => {
      const { ci, run } = await underTest();
      const answer = await ci.report(run, given);
      assert.deepEqual([answer.checkSuites[0]?.checkRuns[0]?.conclusion, answer.status], [shown, state]);
    });
  }

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

  test('/trunk/v1 answers the same, in lower case but for the checks [H9]', async () => {
    const { queue, run } = await underTest();
    const body = { repo: queue.repo, testRunId: run.testRunId, ...done, conclusion: 'failure' };
    const answer = await world.server.trunk.ok<CandidateView>('reportCheck', body);
    assert.deepEqual([answer.status, answer.requiredStatusesSource], ['failed', 'merge_instance']);
    assert.equal(answer.checkSuites[0]?.checkRuns[0]?.conclusion, 'FAILURE');
  });

  test('a repeated report changes nothing, and the first result stands [V24]', async () => {
    const { ci, run } = await underTest({ requiredStatuses: ['lint', 'test'] });
    const first = await ci.report(run, 'SUCCESS');
    assert.deepEqual(await ci.report(run, 'SUCCESS'), first);
    assert.deepEqual(await ci.report(run, 'FAILURE'), first);
    assert.deepEqual(await ci.report(run, '', { status: 'QUEUED', conclusion: undefined }), first);
  });

  test('a newer attempt by its start counts, an older one does not [V2] [V9]', async () => {
    const { ci, run } = await underTest({ requiredStatuses: ['lint', 'test'] });
    const at = (seconds: number) => ({ startedAt: new Date(Date.now() - 60_000 + seconds * 1000).toISOString() });
    await ci.report(run, 'SUCCESS', at(20));
    const older = await ci.report(run, 'FAILURE', at(10));
    assert.equal(older.checkSuites[0]?.checkRuns[0]?.conclusion, 'SUCCESS');
    const newer = await ci.report(run, 'FAILURE', at(30));
    assert.equal(newer.checkSuites[0]?.checkRuns[0]?.conclusion, 'FAILURE');
  });

  test('late: a run that has ended is answered as it is [C11]', async () => {
    const { queue, ci, number, run } = await underTest();
    await ci.pass(number);
    await ci.untilState(number, 'MERGED');
    const late = await ci.report(run, 'FAILURE');
    assert.deepEqual([late.status, late.testBranchSha], ['SUCCEEDED', run.testBranchSha]);
    assert.equal(late.checkSuites[0]?.checkRuns[0]?.conclusion, 'SUCCESS');
    assert.equal((await queue.get(number)).state, 'MERGED');
  });

  test('early: a result that comes while the commit is built counts once it is built [C21]', async () => {
    const queue = await aQueue();
    const { ci } = queue;
    const number = await queue.openPullRequest();
    await queue.api.ok('updateQueue', { ...queue.ref, state: 'PAUSED' });
    await queue.submit(number);
    await rename(queue.git.path, `${queue.git.path}.away`);
    await queue.api.ok('updateQueue', { ...queue.ref, state: 'RUNNING' });
    const run = await until('the run is planned', PATIENCE_MS, async () => (await ci.runs())[0]);
    assert.equal(run.testBranchSha, '');
    const answer = await ci.report(run, 'SUCCESS');
    assert.equal(answer.checkSuites[0]?.checkRuns[0]?.conclusion, 'SUCCESS');
    assert.equal(answer.status, 'IN_PROGRESS');
    await rename(`${queue.git.path}.away`, queue.git.path);
    await ci.untilState(number, 'MERGED');
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

  test('needs the scope report, and no other [A3]', async () => {
    const { queue, run } = await underTest();
    const body = { repo: queue.repo, testRunId: run.testRunId, ...done };
    for (const scope of ['read', 'upload', 'targets', 'submit']) {
      await (await queue.api.withScopes(scope)).refused('403 INSUFFICIENT_SCOPE', 'reportCheck', body);
    }
    const reporter = await queue.api.withScopes('report');
    assert.equal((await reporter.ok<CandidateView>('reportCheck', body)).testRunId, run.testRunId);
    await reporter.refused('403 INSUFFICIENT_SCOPE', 'getMergeQueueTestingDetails', queue.ref);
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
      assert.deepEqual(
        problem.errors?.map((error) => error.path),
        [path],
        what,
      );
    }
    assert.deepEqual((await ci.read(run.testRunId)).checkSuites, [{ checkRuns: [] }]);
  });
});
