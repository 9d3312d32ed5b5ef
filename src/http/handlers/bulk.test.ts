import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeOnce } from '../../../test/helpers/made.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';
import type { BulkResults } from '../../contract/bulk.ts';

describe('several pull requests in one request', () => {
  const world = madeOnce(() => createQueueInProcess());

  const act = (operation: string, body: object) => world.ok<BulkResults>(`/v1/${operation}`, { ...world.ref, ...body });
  const outlineOf = ({ results }: BulkResults) =>
    results.map(({ prNumber, ok, entry, problem }) => [prNumber, ok, entry?.priorityName ?? problem?.code]);
  const queued = async () => {
    const { enqueuedPullRequests } = await world.ok<{ enqueuedPullRequests: { prNumber: number }[] }>(
      '/v1/getQueue',
      world.ref,
    );
    return enqueuedPullRequests.map(({ prNumber }) => prNumber);
  };

  test('are submitted in their order, and a wrong one does not stop the others [E32]', async () => {
    const [a, b, c] = world.open(3) as [number, number, number];
    world.forgeRepository.close(c as never);
    const answer = await act('submitPullRequest', { prs: [b, 999, { number: String(a) }, c], priority: 'high' });
    assert.deepEqual(outlineOf(answer), [
      [b, true, 'high'],
      [999, false, 'PULL_REQUEST_NOT_FOUND'],
      [a, true, 'high'],
      [c, false, 'PULL_REQUEST_NOT_ENQUEUEABLE'],
    ]);
    const { problem, entry } = answer.results[1] ?? {};
    assert.deepEqual([problem?.status, entry], [404, undefined]);
    assert.match(problem?.detail ?? '', /There is no pull request #999/);
    assert.deepEqual(await queued(), [b, a]);
    const { version: _, ...record } = await world.ok<{ version: string }>('/v1/getSubmittedPullRequest', {
      ...world.ref,
      pr: { number: a },
    });
    assert.deepEqual(answer.results[2]?.entry, record);
  });

  test('get another priority, and are cancelled [E32]', async () => {
    const numbers = world.open(2);
    await act('submitPullRequest', { prs: numbers });
    const raised = await act('submitPullRequest', { prs: numbers, priority: 5 });
    assert.deepEqual(
      outlineOf(raised),
      numbers.map((number) => [number, true, '5']),
    );
    const { results } = await act('cancelPullRequest', { prs: [...numbers, 998] });
    assert.deepEqual(
      results.map(({ ok, entry, problem }) => [ok, entry?.state ?? problem?.code]),
      [
        [true, 'CANCELLED'],
        [true, 'CANCELLED'],
        [false, 'PULL_REQUEST_NOT_FOUND'],
      ],
    );
  });

  test('are each answered while the forge does not [E32]', async () => {
    const numbers = world.open(2);
    world.forge.isBroken = true;
    const { results } = await act('submitPullRequest', { prs: numbers });
    world.forge.isBroken = false;
    assert.deepEqual(
      results.map(({ problem }) => [problem?.code, problem?.status]),
      [
        ['FORGE_UNAVAILABLE', 502],
        ['FORGE_UNAVAILABLE', 502],
      ],
    );
  });

  test('are refused together where there is no queue, or the body is wrong [E32]', async () => {
    await world.refused('404 QUEUE_NOT_FOUND', '/v1/cancelPullRequest', { ...world.ref, targetBranch: 'x', prs: [1] });
    const wrong: readonly (readonly [object, string])[] = [
      [{}, '/pr'],
      [{ pr: { number: 1 }, prs: [1] }, '/pr'],
      [{ prs: [] }, '/prs'],
      [{ prs: 'all' }, '/prs'],
      [{ prs: [1, 0, -3, 'x', null, { branch: 'main' }] }, '/prs/1'],
      [{ prs: Array.from({ length: 101 }, (_, index) => index + 1) }, '/prs'],
      [{ prs: Array.from({ length: 10_000 }, (_, index) => index + 1) }, '/prs'],
    ];
    for (const operation of ['submitPullRequest', 'cancelPullRequest']) {
      for (const [body, path] of wrong) {
        const problem = await world.refused('400 VALIDATION_FAILED', `/v1/${operation}`, { ...world.ref, ...body });
        assert.equal(problem.errors?.[0]?.path, path);
      }
    }
  });

  test('one hundred are taken, also twice with one idempotency key [E32] [H38]', async () => {
    const body = { ...world.ref, prs: world.open(100) };
    const key = { 'idempotency-key': 'a hundred' };
    const first = await world.post('/v1/submitPullRequest', body, key);
    assert.equal(JSON.parse(first.text).results.length, 100);
    assert.equal((await world.post('/v1/submitPullRequest', body, key)).text, first.text);
  });

  test('are not known on /trunk/v1, where pr is required [E32]', async () => {
    await world.refused('400 VALIDATION_FAILED', '/trunk/v1/cancelPullRequest', { ...world.ref, prs: [1] });
    const body = { ...world.ref, pr: { number: 1 }, prs: [2] };
    const entry = await world.ok<{ prNumber: number; state: string }>('/trunk/v1/submitPullRequest', body);
    assert.deepEqual([entry.prNumber, entry.state === entry.state.toLowerCase()], [1, true]);
  });
});
