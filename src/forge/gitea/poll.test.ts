import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { listen } from '../../../test/helpers/listen.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import type { PrNumber } from '../../engine/pull-request.ts';
import { createGiteaClient } from './api/client.ts';
import { createConflictMemory } from './conflicts.ts';
import { createTrees } from './facts.ts';
import { createGiteaPoller } from './poll.ts';
import { createRules } from './rules.ts';

const REPOSITORY = { id: 'r', host: 'git.test', owner: 'acme', name: 'app', git: undefined, checks: [] };
const repo = { id: 5, name: 'app', owner: { login: 'acme' } };
const sha = (number: number) => number.toString(16).padStart(40, '0');

/** A Gitea with this many open pull requests, which need a review and a status. */
async function aGitea(t: TestContext, count: number) {
  const pulls = Array.from({ length: count }, (_, index) => ({
    ...{ number: index + 1, title: 'A', body: '', html_url: 'https://git.test/1', state: 'open', mergeable: true },
    ...{ updated_at: '2026-01-02T03:04:05Z', user: { id: 2, login: 'ada' }, labels: [], merge_base: sha(0) },
    head: { ref: `b${index}`, sha: sha(index + 1), repo_id: 5 },
    base: { ref: 'main', sha: sha(0), repo_id: 5, repo },
  }));
  const protection = {
    rule_name: 'main',
    required_approvals: 1,
    enable_status_check: true,
    status_check_contexts: ['ci'],
  };
  const branch = { name: 'main', commit: { id: sha(0) }, protected: true, effective_branch_protection_name: 'main' };
  const calls: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://git.test');
    const path = pathname.replace('/api/v1', '').replace('/repos/acme/app', '');
    if (path !== '/settings/api') calls.push(path);
    const page = Number(searchParams.get('page') ?? 1);
    const answer =
      path === '/pulls'
        ? pulls.slice((page - 1) * 50, page * 50)
        : ({ '/branches/main': branch, '/branch_protections/main': protection, '/user': { id: 3, login: 'sluice' } }[
            path
          ] ?? []);
    response.end(JSON.stringify(answer));
  });
  let now = Date.UTC(2026, 0, 2, 4);
  const clock = {
    now: () => now,
    after: (_ms: number, act: () => void) => {
      setImmediate(act);
      return () => undefined;
    },
  };
  const connection = {
    host: 'git.test',
    url: await listen(server),
    token: 'first-token',
    webhookSecret: 'a long secret',
  };
  const client = createGiteaClient({ connection, clock, log: silentLog });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const tools = {
    client,
    clock,
    rules: createRules({ client, clock }),
    conflicts: createConflictMemory(clock),
    trees: createTrees(),
  };
  const poller = createGiteaPoller(tools);
  const poll = async (entries: readonly PrNumber[]) => {
    calls.length = 0;
    now += 60_000;
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
  it('asks for the branch and one page while nothing happens [G165]', async (t) => {
    const { poll } = await aGitea(t, 100);
    const { calls, snapshot } = await poll([]);
    assert.deepEqual(calls.toSorted(), ['/branches/main', '/pulls']);
    assert.deepEqual(snapshot.identity, { owner: 'acme', name: 'app', forgeId: '5' });
    assert.equal(snapshot.heads.get('main'), sha(0));
  });

  it('asks for little more for a hundred entries that are not ready [G165]', async (t) => {
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
