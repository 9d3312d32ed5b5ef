import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { type TestQueue, useServer } from './test-queue.ts';

/** The server must notice changed refs by itself: no request comes between the push and the check. */
describe('readiness, and what the server notices by itself', { concurrency: 4 }, () => {
  const world = useServer();
  const { aQueue } = world;
  const setTargets = async (queue: TestQueue, number: number, sha?: string) =>
    queue.api.ok<EntryView>('setImpactedTargets', {
      ...queue.ref,
      pr: { number, sha: sha ?? (await queue.headOf(number)) },
      impactedTargets: ['//a'],
    });
  const reasonsOf = async (queue: TestQueue, number: number) =>
    (await queue.get(number, { includeExplanation: true })).explanation?.reasons.map((reason) => reason.code);
  const lastStep = async (queue: TestQueue, number: number) => {
    const [step] = (await queue.get(number, { includeTimeline: true })).timeline ?? [];
    return `${step?.state} ${step?.reason}`;
  };

  test('a parallel queue waits for the targets of the head commit, and then admits', async () => {
    const queue = await aQueue({ mode: 'PARALLEL' });
    const number = await queue.openPullRequest();
    const waiting = await queue.submit(number);
    assert.equal(waiting.state, 'NOT_READY');
    assert.deepEqual(waiting.readiness, {
      hasImpactedTargets: false,
      requiresImpactedTargets: true,
      doesBaseBranchMatch: true,
      gitHubMergeability: 'MERGEABLE',
    });
    assert.deepEqual(await reasonsOf(queue, number), ['IMPACTED_TARGETS_MISSING']);
    const other = await setTargets(queue, number, 'ab'.repeat(20));
    assert.deepEqual([other.state, other.readiness?.hasImpactedTargets], ['NOT_READY', false]);
    const admitted = await setTargets(queue, number);
    assert.deepEqual([admitted.state, admitted.readiness?.hasImpactedTargets], ['TESTING', true]);
  });

  test('deleting the ref closes it', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    await queue.git.closePullRequest(number as never);
    await queue.untilEntry(number, (each) => each.state === 'CANCELLED');
    assert.equal(await lastStep(queue, number), 'CANCELLED PR_CLOSED');
    await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'submitPullRequest', queue.entry(number));
  });

  test('a conflict keeps it NOT_READY until a push resolves it', async () => {
    const queue = await aQueue();
    const number = await queue.openPullRequest({ 'a.txt': 'mine\n' });
    const theirs = await queue.git.commit('main', { files: { 'a.txt': 'theirs\n' } });
    const entry = await queue.submit(number);
    assert.deepEqual([entry.state, entry.readiness?.gitHubMergeability], ['NOT_READY', 'NOT_MERGEABLE']);
    const { explanation } = await queue.get(number, { includeExplanation: true });
    assert.equal(explanation?.reasons[0]?.code, 'NOT_MERGEABLE');
    assert.equal(explanation?.reasons[0]?.reasons[0]?.code, 'CONFLICT');
    await queue.git.commitTo(`refs/pull/${number}/head`, theirs, { files: { 'a.txt': 'both\n' } });
    const ready = await queue.untilEntry(number, (each) => each.state === 'TESTING');
    assert.equal(ready.readiness?.gitHubMergeability, 'MERGEABLE');
  });

  test('a repository that is gone for a while is a 502 that names no path, and is served again when it is back', async () => {
    const queue = await aQueue();
    const number = await queue.openPullRequest();
    const back = await queue.git.breakRepository();
    const problem = await queue.api.refused('502 FORGE_UNAVAILABLE', 'submitPullRequest', queue.entry(number));
    assert.ok(!JSON.stringify(problem).includes(queue.git.folder), JSON.stringify(problem));
    assert.equal((await queue.getQueue()).enqueuedPullRequests.length, 0);
    await back();
    assert.equal((await queue.submit(number)).state, 'TESTING');
  });

  test('while its repository is gone an entry stays as it is', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    const back = await queue.git.breakRepository();
    const other = await aQueue();
    const seen = await other.submitOne();
    // The server has noticed another repository's push, so it has polled this one too.
    await other.push(seen);
    await other.untilEntry(seen, (each) => each.state === 'CANCELLED');
    assert.equal((await queue.get(number)).state, 'TESTING');
    await back();
  });
});
