import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { ListEntryView } from '../../src/app/queue/entry-view.ts';
import type { Client } from './harness.ts';
import { useServer } from './test-queue.ts';

/** An entry as a client of the reference product sees it. */
interface TrunkEntry {
  readonly state?: string;
  readonly prNumber: number;
  readonly prSha: string;
  readonly isCurrentlySubmittedToQueue: boolean;
  readonly readiness?: { readonly gitHubMergeability: string };
  readonly timeline?: readonly { readonly state: string; readonly reason: string }[];
}

interface TrunkQueue {
  readonly state: string;
  readonly mode: string;
  readonly enqueuedPullRequests: readonly ListEntryView[];
}

describe('the same API over /trunk/v1', () => {
  const world = useServer();
  let trunk: Client;
  before(() => {
    trunk = world.server.trunk;
  });
  const aQueue = (settings: object = {}) => world.aQueue(settings, trunk);

  test('an entry reads in lower snake case, from submission to cancellation', async () => {
    const queue = await aQueue();
    const number = await queue.openPullRequest();
    const submitted = await trunk.ok<TrunkEntry>('submitPullRequest', queue.entry(number));
    assert.deepEqual([submitted.state, submitted.readiness?.gitHubMergeability], ['testing', 'mergeable']);
    // The reference product has no head in a submission, so any value there is ignored.
    for (const sha of ['a'.repeat(40), 'HEAD', null, 7]) {
      const again = await trunk.ok<TrunkEntry>('submitPullRequest', { ...queue.ref, pr: { number, sha } });
      assert.equal(again.prSha, submitted.prSha);
    }
    const cancelled = await trunk.ok<TrunkEntry>('cancelPullRequest', queue.entry(number));
    assert.deepEqual([cancelled.state, cancelled.isCurrentlySubmittedToQueue], ['cancelled', false]);
    const read = await trunk.ok<TrunkEntry>('getSubmittedPullRequest', queue.entry(number, { includeTimeline: true }));
    assert.deepEqual(
      read.timeline?.map((step) => step.state),
      ['cancelled', 'testing', 'pending', 'not_ready'],
    );
  });

  test('but for the case of its enums an entry is that of /v1', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    const here = await trunk.ok<TrunkEntry>('getSubmittedPullRequest', queue.entry(number));
    const v1 = world.server.api;
    const { version: _, ...there } = await v1.ok<TrunkEntry & { version: string }>(
      'getSubmittedPullRequest',
      queue.entry(number),
    );
    assert.deepEqual(here, {
      ...there,
      state: 'testing',
      readiness: { ...there.readiness, gitHubMergeability: 'mergeable' },
    });
  });

  test('a queue reads in lower snake case', async () => {
    const queue = await aQueue({ mode: 'parallel', batchingRules: [{ targetPattern: '//a', policy: 'isolate' }] });
    const read = await trunk.ok<Record<string, unknown>>('getQueue', queue.ref);
    const values = [
      'state',
      'mode',
      'mergeMethod',
      'directMergeMode',
      'optimizationMode',
      'landingMode',
      'honorQuarantine',
    ];
    assert.deepEqual(
      values.map((name) => read[name]),
      ['running', 'parallel', 'squash', 'off', 'off', 'push', 'shadow'],
    );
    assert.deepEqual(read['batchingRules'], [{ targetPattern: '//a', policy: 'isolate' }]);
  });

  for (const state of ['paused', 'PAUSED']) {
    test(`input enums are accepted in either case: ${state} [H8]`, async () => {
      const queue = await aQueue();
      const updated = await trunk.ok<TrunkQueue>('updateQueue', { ...queue.ref, state, mode: 'PARALLEL' });
      assert.deepEqual([updated.state, updated.mode], ['paused', 'parallel']);
      assert.equal('enqueuedPullRequests' in updated, false);
    });
  }

  test('getQueue leaves out entries that are not ready [H25]', async () => {
    const queue = await aQueue();
    const [ready, waiting] = [await queue.openPullRequest(), await queue.openPullRequest()];
    await queue.submit(ready);
    await queue.update({ state: 'PAUSED' });
    await queue.submit(waiting);
    const numbersOn = async (api: Client) =>
      (await api.ok<TrunkQueue>('getQueue', queue.ref)).enqueuedPullRequests.map((entry) => entry.prNumber);
    assert.deepEqual(await numbersOn(trunk), [ready]);
    assert.deepEqual(await numbersOn(world.server.api), [ready, waiting]);
  });

  test('deleteQueue of a queue that is not empty is 400, then {}', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    await trunk.refused('400 QUEUE_NOT_EMPTY', 'deleteQueue', queue.ref);
    await trunk.ok('cancelPullRequest', queue.entry(number));
    assert.deepEqual(await trunk.ok('deleteQueue', queue.ref), {});
  });

  test('createQueue of one that exists is 409', async () => {
    const queue = await aQueue();
    await trunk.refused('409 QUEUE_ALREADY_EXISTS', 'createQueue', queue.ref);
  });

  test('setImpactedTargets takes a string for a number and a blank fork header, as uploaders send it [H23]', async () => {
    const queue = await aQueue({ mode: 'parallel' });
    const number = await queue.openPullRequest();
    const body = {
      ...queue.ref,
      pr: { number: String(number), sha: await queue.headOf(number) },
      impactedTargets: 'ALL',
    };
    const answer = await trunk.send('setImpactedTargets', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forked-workflow-run-id': '', 'x-source': 'terraform' },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal('state' in (JSON.parse(answer.text) as object), false);
  });

  test('lists of pull requests, testing details, results and a restart read in lower snake case', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    const page = await trunk.ok<{ pullRequests: TrunkEntry[] }>('listPullRequests', { ...queue.ref, state: 'TESTING' });
    assert.deepEqual(
      page.pullRequests.map((entry) => [entry.prNumber, entry.state]),
      [[number, 'testing']],
    );
    const several = await trunk.ok<{ pullRequests: TrunkEntry[] }>('getSubmittedPullRequests', {
      ...queue.ref,
      prs: [{ number }],
    });
    assert.equal(several.pullRequests[0]?.state, 'testing');
    const { testRuns } = await trunk.ok<{ testRuns: { status: string; requiredStatusesSource: string }[] }>(
      'getMergeQueueTestingDetails',
      queue.ref,
    );
    assert.deepEqual(
      testRuns.map((run) => [run.status, run.requiredStatusesSource]),
      [['in_progress', 'merge_instance']],
    );
    const since = new Date(Date.now() - 1000).toISOString();
    const results = await trunk.ok('listMergeQueueTestingResults', { ...queue.ref, since });
    assert.deepEqual(results, { testingResults: [], totalItems: 0 });
    const restarted = await trunk.ok<TrunkEntry>('restartTestsOnPullRequest', queue.entry(number));
    assert.equal(restarted.state, 'testing');
  });

  test('metrics and refusals are the same as under /v1', async () => {
    const queue = await aQueue();
    const answer = await trunk.send(`getMergeQueueMetrics?repo=acme/${queue.repo.name}&repoHost=local`);
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    await trunk.withToken(undefined).refused('401 AUTHENTICATION_REQUIRED', 'getQueue', queue.ref);
    await trunk.refused('404 QUEUE_NOT_FOUND', 'getQueue', { ...queue.ref, targetBranch: 'other' });
    await trunk.refused('404 ROUTE_NOT_FOUND', 'queuePullRequests', {});
  });
});
