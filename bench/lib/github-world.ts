import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFakeGithub, type FakeGithub } from '../../test/fake/github/fake-github.ts';
import type { PullRequest, Repository } from '../../test/fake/github/model.ts';
import { serve } from './child.ts';
import { progress } from './figure.ts';
import { call, TOKEN } from './world.ts';

export const WRITER = 'grace';
const SECRET = 'the secret of the deliveries of benches';
/** Required by the protection of main, because reading the protection is part of the count. */
const CHECKS = ['build', 'unit', 'lint'];
const TEST_BRANCH = 'refs/heads/sluice/';

export interface GithubBench {
  readonly github: FakeGithub;
  readonly repository: Repository;
  api(operation: string, body?: object): Promise<unknown>;
  /** Opens a pull request whose head has passed CI. */
  open(): Promise<PullRequest>;
  stop(): Promise<void>;
}

export interface GithubBenchOptions {
  readonly hasWebhooks?: boolean;
  readonly settings?: object;
  /** When each check of a test branch completes after the push. Undefined: never. */
  readonly checksMs?: readonly number[];
}

/** The server as users start it, and a GitHub with one repository, its protection, people and CI. */
export async function createGithubBench(options: GithubBenchOptions = {}): Promise<GithubBench> {
  const { hasWebhooks = true, settings = {}, checksMs } = options;
  const github = await createFakeGithub({ mergeability: 'lazy', validate: false });
  github.install(github.app, 'acme');
  const repository = await github.createRepository('acme/app', { roles: { [WRITER]: 'write' } });
  github.protect(repository, 'main', { checks: CHECKS.map((context) => ({ context, appId: undefined })) });
  if (checksMs !== undefined) runChecks(github, repository, checksMs);
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const server = await serve({
    SLUICE_DATA: folder,
    SLUICE_PORT: '0',
    SLUICE_ADMIN_TOKEN: TOKEN,
    SLUICE_LOG_LEVEL: 'warn',
    SLUICE_GITHUB_APP_ID: String(github.app.id),
    SLUICE_GITHUB_PRIVATE_KEY: github.privateKey,
    SLUICE_GITHUB_WEBHOOK_SECRET: SECRET,
    SLUICE_GITHUB_API_URL: github.url,
    SLUICE_GITHUB_WEB_URL: github.url,
  });
  github.app.hook = { url: `${server.url}/webhooks/github`, secret: SECRET, isActive: hasWebhooks };
  const queue = { repo: { host: 'github.com', owner: 'acme', name: 'app' }, targetBranch: 'main' };
  const api = (operation: string, body: object = {}) => call(server.url, `/${operation}`, { ...queue, ...body });
  await call(server.url, '/registerRepository', { repo: queue.repo });
  await api('createQueue', settings);
  return {
    github,
    repository,
    api,
    async open() {
      const pr = await github.openPullRequest(repository, { author: WRITER });
      for (const name of CHECKS) passCheck(github, repository, pr.headSha, name);
      return pr;
    },
    async stop() {
      await server.stop();
      await github.close().catch((error: unknown) => progress(`github: ${String(error)}`));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function passCheck(github: FakeGithub, repository: Repository, sha: string, name: string): void {
  github.reportCheck(repository, { sha, name, status: 'completed', conclusion: 'success' });
}

/** All start at once and end one after the other. */
function runChecks(github: FakeGithub, repository: Repository, checksMs: readonly number[]): void {
  github.world.onHappening((happening) => {
    if (happening.event !== 'push' || !happening.ref.startsWith(TEST_BRANCH) || /^0+$/.test(happening.after)) return;
    const { after: sha } = happening;
    for (const [index, name] of CHECKS.entries()) {
      github.reportCheck(repository, { sha, name, status: 'in_progress' });
      setTimeout(() => passCheck(github, repository, sha, name), checksMs[index]);
    }
  });
}

/** REST and GraphQL calls, whatever the answer, without git. Queries count by name. */
export function countCalls({ github }: GithubBench, since: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { area, route, query, at } of github.world.requests) {
    if (area !== 'git' && at >= since) counts.set(query ?? route, (counts.get(query ?? route) ?? 0) + 1);
  }
  return counts;
}

export function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

export async function until(what: string, deadlineMs: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await sleep(50);
  }
}
