import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ender } from '../../../test/helpers/made.ts';
import { type ScriptedGithub, startScriptedGithub } from '../../../test/helpers/scripted-github.ts';
import { systemClock } from '../../lib/clock.ts';
import { createJsonLog } from '../../lib/log.ts';
import type { ForgeRepository } from '../forge.ts';
import { GithubClient } from './api/client.ts';
import { githubConnection } from './api/connection.ts';
import { createGithubPoller, type GithubPoller } from './poll.ts';
import { createProtection } from './protection.ts';

const APP: ForgeRepository = { id: 'r1', host: 'github.com', owner: 'acme', name: 'app', git: undefined, checks: [] };
const PAGE = 25;
const AN_HOUR_MS = 3_600_000;

const end = ender();

/** A GitHub with a large number of open pull requests, the last changed first. */
async function world(
  open: number,
  updatedAt: (index: number) => number,
): Promise<{ github: ScriptedGithub; poller: GithubPoller }> {
  const aPullRequest = (index: number) => ({
    number: index + 1,
    headRefOid: 'a'.repeat(40),
    baseRefName: 'main',
    updatedAt: new Date(updatedAt(index)).toISOString(),
    labels: { nodes: [] },
    comments: { pageInfo: { hasPreviousPage: false }, nodes: [] },
  });
  const github = await startScriptedGithub(({ route, body }) => {
    if (route !== 'POST /graphql') return { body: { login: 'sluice', id: 1 } };
    const after = Number(/after: \\"(\d+)\\"/.exec(body)?.[1] ?? 0);
    const count = Math.min(PAGE, open - after);
    const nodes = Array.from({ length: count }, (_, index) => aPullRequest(after + index));
    const pageInfo = { hasNextPage: after + count < open, endCursor: String(after + count) };
    return {
      body: {
        data: { repository: { databaseId: 7, owner: { login: 'acme' }, name: 'app', changed: { pageInfo, nodes } } },
      },
    };
  });
  const auth = { kind: 'token', token: 'a token of the tests' } as const;
  const client = new GithubClient({
    connection: githubConnection({ host: 'github.com', apiUrl: github.url, auth }),
    clock: systemClock,
    log: createJsonLog('error', () => undefined),
  });
  end(github, client);
  return {
    github,
    poller: createGithubPoller({ client, protection: createProtection({ client, clock: systemClock }) }),
  };
}

describe('a look at thousands of open pull requests', () => {
  it('a poll after an outage of hours finds all that changed: somebody may have given a command there [G87]', async () => {
    const since = Date.now() - AN_HOUR_MS;
    const { poller } = await world(900, () => Date.now());
    const { changed } = await poller.poll({ repository: APP, branches: [], entries: [], commits: [], since });
    assert.equal(changed.length, 900);
  });

  it('a poll is one question while few pull requests change', async () => {
    const since = Date.now() - AN_HOUR_MS;
    const { github, poller } = await world(3_000, (index) => since + (index < 20 ? 1_000 : -1_000));
    const ask = () => poller.poll({ repository: APP, branches: [], entries: [], commits: [], since });
    assert.equal((await ask()).changed.length, 20);
    const asked = github.asked.length;
    await ask();
    assert.equal(github.asked.length, asked + 1);
  });
});
