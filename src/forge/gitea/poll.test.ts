import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pullsOnGitea, REPOSITORY, shaOf } from '../../../test/helpers/pulls-on-gitea.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { createGiteaPoller } from './poll.ts';

/** A Gitea with this many open pull requests, which need a review and a status. */
async function aGitea(t: TestContext, count: number) {
  const protection = { required_approvals: 1, enable_status_check: true, status_check_contexts: ['ci'] };
  const { tools, pulls, calls, pass } = await pullsOnGitea(t, count, protection);
  const poller = createGiteaPoller(tools);
  const poll = async (entries: readonly PrNumber[]) => {
    calls.length = 0;
    pass(60_000);
    const question = {
      repository: REPOSITORY,
      branches: ['main'],
      entries,
      commits: [],
      since: Date.UTC(2026, 0, 2, 3, 30),
    };
    return { snapshot: await poller.poll(question), calls: [...calls] };
  };
  return { poll, pulls };
}

describe('a poll of Gitea', () => {
  it('a poll asks for the branch and one page while nothing happens [G165]', async (t) => {
    const { poll } = await aGitea(t, 100);
    const { calls, snapshot } = await poll([]);
    assert.deepEqual(calls.toSorted(), ['/branches/main', '/pulls']);
    assert.deepEqual(snapshot.identity, { owner: 'acme', name: 'app', forgeId: '5' });
    assert.equal(snapshot.heads.get('main'), shaOf(0));
  });

  it('a poll asks for little more for a hundred entries that are not ready [G165]', async (t) => {
    const { poll, pulls } = await aGitea(t, 100);
    const entries = pulls.map(({ number }) => number as PrNumber);
    const first = await poll(entries);
    assert.deepEqual(first.snapshot.pullRequests.get(7 as PrNumber)?.blockReasons, ['reviewRequired', 'awaitingCheck']);
    const { calls } = await poll(entries);
    const asked = calls.filter((path) => path !== '/branch_protections/main' && path !== '/user');
    assert.ok(asked.length <= 6, asked.join());
    const changed = pulls[6] as { updated_at: string };
    changed.updated_at = '2026-01-02T03:04:06Z';
    const again = await poll(entries);
    assert.ok(again.calls.includes('/pulls/7/reviews'), 'one that changed is read again');
  });
});
