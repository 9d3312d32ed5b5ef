// A server as users run it, connected to a Gitea that is real or fake, with a repository, a queue, people and a CI.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { runGit } from '../contract/plain-repository.ts';
import { type Environment, startHere, type TestServer, until } from '../e2e/harness.ts';
import { type AnyGitea, GiteaPeople, startGitea } from './any-gitea.ts';
import { type GiteaProxy, startProxy } from './proxy.ts';

export const SECRET = 'the secret of these deliveries';
const DEADLINE_MS = 60_000;
/** Every test of a file has a repository of its own, and they wait for each other's work on a busy machine. */
export const TOLD_MS = 40_000;

export interface GiteaPlace {
  readonly people: GiteaPeople;
  readonly proxy: GiteaProxy;
  readonly server: TestServer;
}

export interface GiteaPull {
  readonly number: number;
  readonly headSha: string;
  readonly branch: string;
}

/** A Gitea with an account for Sluice, one for CI and some people, and a server that is connected to it. */
export async function startPlace(
  start: (environment: Environment) => Promise<TestServer> = startHere,
  more: Environment = {},
): Promise<GiteaPlace> {
  const { people, proxy } = await startPeople();
  const server = await start({ ...(await connectionOf(people, proxy)), ...more });
  return { people, proxy, server };
}

/** The same without a server. */
export async function startPeople(): Promise<Omit<GiteaPlace, 'server'>> {
  const people = new GiteaPeople(await startGitea());
  for (const login of ['sluice', 'ci', 'grace', 'eve']) await people.tokenOf(login);
  return { people, proxy: await startProxy(people.gitea.url) };
}

export async function connectionOf(people: GiteaPeople, proxy: GiteaProxy): Promise<Environment> {
  return {
    SLUICE_GITEA_URL: proxy.url,
    SLUICE_GITEA_TOKEN: await people.createToken('sluice', ['write:repository', 'write:issue', 'read:user']),
    SLUICE_GITEA_WEBHOOK_SECRET: SECRET,
  };
}

export async function closePlace({ people, proxy, server }: GiteaPlace): Promise<void> {
  await server.stop();
  await proxy.close();
  await people.gitea.close();
}

interface QueueOptions {
  readonly settings?: object;
  readonly protection?: object;
  readonly hasHook?: boolean;
  readonly owner?: string;
}

export class GiteaQueue {
  readonly place: GiteaPlace;
  readonly owner: string;
  readonly name: string;

  private constructor(place: GiteaPlace, owner: string, name: string) {
    this.place = place;
    this.owner = owner;
    this.name = name;
  }

  /** A repository with a queue on main, which requires the status `ci` of the account ci. */
  static async create(place: GiteaPlace, options: QueueOptions = {}): Promise<GiteaQueue> {
    const { people, server } = place;
    const { owner = `org-${randomUUID().slice(0, 8)}` } = options;
    await people.get('root', 'POST', '/orgs', { username: owner });
    await people.get('root', 'POST', `/orgs/${owner}/repos`, { name: 'app', default_branch: 'main' });
    const queue = new GiteaQueue(place, owner, 'app');
    const files = { 'README.md': 'hello\n', 'package.json': '{}\n' };
    await people.commit('root', queue.fullName, 'refs/heads/main', undefined, { files });
    await queue.administer('PATCH', '', { allow_manual_merge: true, autodetect_manual_merge: true });
    for (const [login, permission] of [
      ['sluice', 'admin'],
      ['ci', 'write'],
      ['grace', 'write'],
    ] as const) {
      await queue.administer('PUT', `/collaborators/${login}`, { permission });
    }
    if (options.protection !== undefined) await queue.administer('POST', '/branch_protections', options.protection);
    if (options.hasHook !== false) await queue.hookUp(server);
    await server.api.ok('registerRepository', { repo: queue.ref.repo });
    const settings = { requiredStatuses: [{ name: 'ci', app: 'ci' }], ...options.settings };
    await server.api.ok('createQueue', { ...queue.ref, ...settings });
    return queue;
  }

  /** The same queue through another server. */
  through(server: TestServer): GiteaQueue {
    return new GiteaQueue({ ...this.place, server }, this.owner, this.name);
  }

  get fullName(): string {
    return `${this.owner}/${this.name}`;
  }

  get ref() {
    const { host } = new URL(this.place.proxy.url);
    return { repo: { host, owner: this.owner, name: this.name }, targetBranch: 'main' };
  }

  administer(method: string, path: string, body?: unknown) {
    return this.place.people.get('root', method, `/repos/${this.fullName}${path}`, body);
  }

  /** From now on Gitea sends webhooks to this server. */
  async hookUp({ url }: TestServer): Promise<void> {
    const { host } = new URL(this.place.proxy.url);
    const events = ['push', 'create', 'delete', 'pull_request', 'issue_comment', 'status', 'repository'];
    const config = { url: `${url}/webhooks/gitea/${host}`, content_type: 'json', secret: SECRET };
    await this.administer('POST', '/hooks', { type: 'gitea', active: true, events, config });
  }

  /** A pull request that adds a file of its own, from a branch of the repository or of a fork. */
  async open({
    author = 'grace',
    fork,
  }: {
    readonly author?: string;
    readonly fork?: string;
  } = {}): Promise<GiteaPull> {
    const { people } = this.place;
    const branch = `change-${randomUUID().slice(0, 8)}`;
    const from = fork === undefined ? this.fullName : `${fork}/${this.name}`;
    if (fork !== undefined) await people.get(fork, 'POST', `/repos/${this.fullName}/forks`, {});
    const base = await this.headOf('main');
    const change = { files: { [`${branch}.txt`]: `${branch}\n` }, message: `Add ${branch}` };
    const login = fork ?? author;
    const headSha = await people.commit(login, from, `refs/heads/${branch}`, base, change, this.fullName);
    const head = fork === undefined ? branch : `${fork}:${branch}`;
    const body = { title: `Add ${branch}`, head, base: 'main', body: 'text' };
    const opened = await until('the branch is there', TOLD_MS, async () => {
      const answer = await people.ask(login, 'POST', `/repos/${this.fullName}/pulls`, body);
      return answer.status === 201 ? answer.body : undefined;
    });
    return { number: opened.number, headSha, branch };
  }

  headOf(branch: string): Promise<string> {
    return runGit(this.place.people.gitea.gitDirOf(this.fullName), ['rev-parse', `refs/heads/${branch}`]);
  }

  say(pr: GiteaPull, body: string, by = 'grace') {
    return this.place.people.get(by, 'POST', `/repos/${this.fullName}/issues/${pr.number}/comments`, { body });
  }

  submit(pr: GiteaPull) {
    return this.place.server.api.ok('submitPullRequest', { ...this.ref, pr: { number: pr.number } });
  }

  pull(pr: GiteaPull) {
    return this.administer('GET', `/pulls/${pr.number}`);
  }

  async untilState(pr: GiteaPull, state: string, patienceMs = DEADLINE_MS): Promise<EntryView> {
    let seen = '';
    return until(`#${pr.number} is ${state}`, patienceMs, async () => {
      const more = { pr: { number: pr.number }, includeExplanation: true };
      const answer = await this.place.server.api.post('getSubmittedPullRequest', { ...this.ref, ...more });
      seen = answer.text;
      const entry = answer.status === 200 ? (JSON.parse(answer.text) as EntryView) : undefined;
      return entry?.state === state ? entry : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${seen.slice(0, 2_000)}`);
    });
  }

  /** Gitea shows it as merged with this commit. */
  untilMerged(pr: GiteaPull, sha: string | undefined): Promise<true> {
    let seen: unknown;
    return until(`#${pr.number} shows as merged`, TOLD_MS, async () => {
      seen = await this.pull(pr);
      const { merged, merge_commit_sha } = seen as { merged: boolean; merge_commit_sha: string };
      return merged && merge_commit_sha === sha ? (true as const) : undefined;
    }).catch((error: unknown) => {
      const { merged, merge_commit_sha, state } = seen as Record<string, unknown>;
      throw new Error(`${String(error)} as ${sha}: ${JSON.stringify({ merged, merge_commit_sha, state })}`);
    });
  }

  /** The test branches that exist. */
  async testBranches(): Promise<readonly { readonly branch: string; readonly sha: string }[]> {
    const text = await runGit(this.place.people.gitea.gitDirOf(this.fullName), [
      'for-each-ref',
      '--format=%(refname:lstrip=2) %(objectname)',
      'refs/heads/sluice/',
    ]);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [branch = '', sha = ''] = line.split(' ');
        return { branch, sha };
      });
  }

  async untilTestBranch(pr?: GiteaPull): Promise<{ readonly branch: string; readonly sha: string }> {
    return until('there is a test branch', DEADLINE_MS, async () =>
      (await this.testBranches()).find(
        ({ branch }) => pr === undefined || branch.startsWith(`sluice/pr-${pr.number}/`),
      ),
    );
  }

  report(sha: string, state: 'pending' | 'success' | 'failure', by = 'ci', context = 'ci') {
    const path = `/repos/${this.fullName}/statuses/${sha}`;
    return this.place.people.ask(by, 'POST', path, { state, context, target_url: 'https://ci.test/1' });
  }

  /** Reports a result for every commit under test, once. Ends with the test. */
  runCi(
    t: Pick<TestContext, 'after'>,
    resultOf: (sha: string) => Promise<'success' | 'failure'> = async () => 'success',
  ) {
    const reported = new Set<string>();
    let isEnded = false;
    const round = async () => {
      for (const { sha } of await this.testBranches()) {
        if (isEnded || reported.has(sha)) continue;
        const { status } = await this.report(sha, await resultOf(sha));
        if (status === 201) reported.add(sha);
      }
    };
    const loop = (async () => {
      while (!isEnded) {
        await round().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    t.after(() => {
      isEnded = true;
      return loop;
    });
  }

  /** Sluice's comments. */
  async told(pr: GiteaPull): Promise<readonly string[]> {
    const comments: { user: { login: string }; body: string }[] = await this.administer(
      'GET',
      `/issues/${pr.number}/comments`,
    );
    return comments.flatMap(({ user, body }) => (user.login === 'sluice' ? [body] : []));
  }

  async untilTold(pr: GiteaPull, text: RegExp): Promise<void> {
    let seen: readonly string[] = [];
    await until(`#${pr.number} says ${text}`, TOLD_MS, async () => {
      seen = await this.told(pr);
      return seen.some((body) => text.test(body)) ? true : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it says ${seen.join('\n---\n')}`);
    });
  }

  /** The line of main, oldest first, without the first commit. */
  async line(): Promise<readonly string[]> {
    const text = await runGit(this.place.people.gitea.gitDirOf(this.fullName), [
      'log',
      '--first-parent',
      '--reverse',
      '--format=%H',
      'refs/heads/main',
    ]);
    return text.split('\n').slice(1);
  }
}

export function isReal(gitea: AnyGitea): gitea is Extract<AnyGitea, { kill(): Promise<void> }> {
  return 'kill' in gitea;
}

/** Each landed with the commit that the pull request shows. Returns these commits. */
export async function assertLanded(queue: GiteaQueue, prs: readonly GiteaPull[]): Promise<readonly string[]> {
  const commits: string[] = [];
  for (const pr of prs) {
    const { landed } = await queue.untilState(pr, 'MERGED');
    assert.ok(landed !== undefined && (await queue.line()).includes(landed.sha), `#${pr.number} is on main`);
    await queue.untilMerged(pr, landed.sha);
    commits.push(landed.sha);
  }
  return commits;
}
