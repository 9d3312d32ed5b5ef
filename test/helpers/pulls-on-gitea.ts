import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import type { ForgeRepository } from '../../src/forge/forge.ts';
import { GiteaClient } from '../../src/forge/gitea/api/client.ts';
import { createConflictMemory } from '../../src/forge/gitea/conflicts.ts';
import { createTrees, type FactsTools } from '../../src/forge/gitea/facts.ts';
import { createRules } from '../../src/forge/gitea/rules.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { listen } from './listen.ts';
import { silentLog } from './silent-log.ts';

export const REPOSITORY: ForgeRepository = {
  id: 'r',
  host: 'git.test',
  owner: 'acme',
  name: 'app',
  git: undefined,
  checks: [],
};

export const shaOf = (number: number) => number.toString(16).padStart(40, '0') as Sha;

const repo = { id: 5, name: 'app', full_name: 'acme/app', owner: { login: 'acme' } };

function aPull(number: number) {
  return {
    ...{ number, title: 'A', body: '', html_url: 'https://git.test/1', state: 'open', mergeable: true },
    ...{ updated_at: '2026-01-02T03:04:05Z', user: { id: 2, login: 'ada' }, labels: [], merge_base: shaOf(0) },
    head: { ref: `b${number}`, sha: shaOf(number), repo_id: 5 },
    base: { ref: 'main', sha: shaOf(0), repo_id: 5, repo },
  };
}

export interface PullsOnGitea {
  readonly tools: FactsTools;
  readonly pulls: ReturnType<typeof aPull>[];
  /** Paths of the requests, those that are not reads with their method. */
  readonly calls: string[];
  pass(ms: number): void;
}

/** A Gitea that only knows this many open pull requests and the protection of `main`. Pauses end at once. */
export async function pullsOnGitea(t: TestContext, count: number, protection: object = {}): Promise<PullsOnGitea> {
  const pulls = Array.from({ length: count }, (_, index) => aPull(index + 1));
  const branch = { name: 'main', commit: { id: shaOf(0) }, protected: true, effective_branch_protection_name: 'main' };
  const fixed: Readonly<Record<string, unknown>> = {
    '': repo,
    '/branches/main': branch,
    '/branch_protections/main': { rule_name: 'main', ...protection },
    '/user': { id: 3, login: 'sluice' },
  };
  const calls: string[] = [];
  const server = createServer(({ method = '', url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://git.test');
    const path = pathname.replace('/api/v1', '').replace('/repos/acme/app', '');
    if (path !== '/settings/api') calls.push(method === 'GET' ? path : `${method} ${path}`);
    const page = Number(searchParams.get('page') ?? 1);
    const one = pulls.find(({ number }) => path === `/pulls/${number}`);
    response.end(
      JSON.stringify(path === '/pulls' ? pulls.slice((page - 1) * 50, page * 50) : (one ?? fixed[path] ?? [])),
    );
  });
  let now = Date.UTC(2026, 0, 2, 4);
  const clock = {
    now: () => now,
    after: (_ms: number, act: () => void) => {
      setImmediate(act);
      return () => undefined;
    },
  };
  const url = await listen(server);
  const connection = { host: 'git.test', url, token: 'first-token', webhookSecret: 'a long secret' };
  const client = new GiteaClient({ connection, clock, log: silentLog });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const tools = {
    ...{ client, clock, rules: createRules({ client, clock }) },
    ...{ conflicts: createConflictMemory(clock), trees: createTrees() },
  };
  return {
    ...{ tools, pulls, calls },
    pass(ms) {
      now += ms;
    },
  };
}
