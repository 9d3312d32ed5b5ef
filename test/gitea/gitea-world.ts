// A server as users run it, connected to a Gitea, real or fake, with a repository, a queue, people and a CI.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { runGit } from '../contract/plain-repository.ts';
import {
  type Client,
  type Environment,
  type RepositoryRef,
  startHere,
  type TestServer,
  until,
} from '../e2e/harness.ts';
import { GiteaPeople, startGitea } from './any-gitea.ts';
import { type GiteaProxy, startProxy } from './proxy.ts';

export const SECRET = 'the secret of these deliveries';
const PATIENCE_MS = 120_000;
const EVENTS = ['push', 'create', 'delete', 'pull_request', 'status', 'repository'];

export interface GiteaPlace {
  readonly people: GiteaPeople;
  /** Between the server and Gitea. */
  readonly proxy: GiteaProxy;
  readonly server: TestServer;
}

/** A Gitea with an account for Sluice, one for CI and some people. */
export async function startPeople(): Promise<Omit<GiteaPlace, 'server'>> {
  const people = new GiteaPeople(await startGitea());
  for (const login of ['sluice', 'ci', 'ada', 'eve']) await people.tokenOf(login);
  await people.get('root', 'POST', '/orgs', { username: 'acme' });
  return { people, proxy: await startProxy(people.gitea.url) };
}

/** The same with a server that is connected to it. */
export async function startPlace(
  start: (environment: Environment) => Promise<TestServer> = startHere,
  more: Environment = {},
): Promise<GiteaPlace> {
  const { people, proxy } = await startPeople();
  return { people, proxy, server: await start({ ...(await connectionOf(people, proxy)), ...more }) };
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

/** One Gitea and one server for all tests of a file. Each test has a repository of its own. */
export function shareGitea(): (options?: WorldOptions) => Promise<GiteaWorld> {
  let place: GiteaPlace;
  let count = 0;
  before(async () => {
    place = await startPlace();
  });
  after(() => closePlace(place));
  return (options) => GiteaWorld.create(place, `app-${++count}`, options);
}

interface WorldOptions {
  readonly settings?: object;
  /** False: the server finds everything by polling. */
  readonly webhooks?: boolean;
  /** Fields of the protection of `main`, where Sluice may push. */
  readonly protection?: object;
}

export interface OpenRequest {
  readonly number: number;
  readonly headSha: string;
}

export class GiteaWorld {
  readonly people: GiteaPeople;
  readonly server: TestServer;
  readonly #place: GiteaPlace;
  name: string;
  #opened = 0;

  private constructor(place: GiteaPlace, name: string) {
    this.#place = place;
    this.people = place.people;
    this.server = place.server;
    this.name = name;
  }

  /** The same repository through another server. */
  through(server: TestServer): GiteaWorld {
    return new GiteaWorld({ ...this.#place, server }, this.name);
  }

  static async create(place: GiteaPlace, name: string, options: WorldOptions = {}): Promise<GiteaWorld> {
    const world = new GiteaWorld(place, name);
    const { people } = place;
    await people.get('root', 'POST', '/orgs/acme/repos', { name, default_branch: 'main' });
    // As `sluice forge setup` does.
    await people.get('root', 'PATCH', world.path, { allow_manual_merge: true });
    for (const [login, permission] of [
      ['sluice', 'admin'],
      ['ci', 'write'],
      ['ada', 'write'],
    ] as const)
      await people.get('root', 'PUT', `${world.path}/collaborators/${login}`, { permission });
    await people.commit('root', world.fullName, 'refs/heads/main', undefined, { files: { 'a.txt': 'a\n' } });
    await world.until('main is known', async () => (await world.ask(`/branches/main`)).status === 200 || undefined);
    const rule = {
      rule_name: 'main',
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['sluice'],
    };
    await people.get('root', 'POST', `${world.path}/branch_protections`, { ...rule, ...options.protection });
    if (options.webhooks !== false) await world.#hookUp();
    await world.api.ok('registerRepository', { repo: world.ref.repo });
    await world.api.ok('createQueue', {
      ...world.ref,
      requiredStatuses: [{ name: 'build', app: 'ci' }],
      landingMode: 'PUSH',
      confirmFailures: 'NEVER',
      ...options.settings,
    });
    return world;
  }

  get fullName(): string {
    return `acme/${this.name}`;
  }

  get path(): string {
    return `/repos/${this.fullName}`;
  }

  get api(): Client {
    return this.server.api;
  }

  get ref(): { readonly repo: RepositoryRef; readonly targetBranch: string } {
    const { host } = new URL(this.#place.proxy.url);
    return { repo: { host, owner: 'acme', name: this.name }, targetBranch: 'main' };
  }

  async rename(name: string): Promise<void> {
    await this.people.get('root', 'PATCH', this.path, { name });
    this.name = name;
  }

  ask(path: string) {
    return this.people.ask('root', 'GET', `${this.path}${path}`);
  }

  async #hookUp(): Promise<void> {
    const config = { url: this.#hook, content_type: 'json', secret: SECRET };
    const hook = { type: 'gitea', active: true, events: EVENTS, config };
    await this.people.get('root', 'POST', `${this.path}/hooks`, hook);
  }

  /** A delivery with the true secret, as Gitea sends it. */
  async deliver(event: string, facts: object): Promise<void> {
    const body = JSON.stringify({ ...facts, repository: { name: this.name, owner: { login: 'acme' } } });
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': event,
      'x-gitea-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    };
    const { status } = await fetch(this.#hook, { method: 'POST', headers, body });
    assert.equal(status, 202);
  }

  get #hook(): string {
    return `${this.server.url}/webhooks/gitea/${this.ref.repo.host}`;
  }

  /** A pull request of a branch of the repository. */
  async open(files?: Readonly<Record<string, string>>): Promise<OpenRequest> {
    this.#opened += 1;
    const branch = `change-${this.#opened}`;
    const change = { files: files ?? { [`${branch}.txt`]: 'x\n' }, message: `Add ${branch}` };
    const main = await this.head('main');
    const headSha = await this.people.commit('ada', this.fullName, `refs/heads/${branch}`, main, change);
    return { number: await this.request('ada', branch, `Add ${branch}`), headSha };
  }

  /** Each changes the same file, on the branch of the one before. */
  async openStack(count: number): Promise<OpenRequest[]> {
    const stack: OpenRequest[] = [];
    let [base, from] = ['main', await this.head('main')];
    for (let index = 0; index < count; index += 1) {
      const branch = `step-${index}`;
      const change = { files: { 'a.txt': `version ${index}\n` }, message: `Add ${branch}` };
      from = await this.people.commit('ada', this.fullName, `refs/heads/${branch}`, from, change);
      stack.push({ number: await this.request('ada', branch, `Add ${branch}`, base), headSha: from });
      base = branch;
    }
    return stack;
  }

  async request(login: string, head: string, title: string, base = 'main'): Promise<number> {
    const draft = { head, base, title };
    return this.until('the pull request is open', async () => {
      const answer = await this.people.ask(login, 'POST', `${this.path}/pulls`, draft);
      return answer.status === 404 ? undefined : (answer.body.number as number);
    });
  }

  say({ number }: Pick<OpenRequest, 'number'>, text: string, login = 'ada'): Promise<unknown> {
    return this.people.get(login, 'POST', `${this.path}/issues/${number}/comments`, { body: text });
  }

  /** A status of CI. */
  report(sha: string, state: string, login = 'ci', context = 'build'): Promise<unknown> {
    return this.people.get(login, 'POST', `${this.path}/statuses/${sha}`, { state, context });
  }

  /** Reports success for every commit under test, once. Ends with the test. */
  runCi(t: Pick<TestContext, 'after'>): void {
    const reported = new Set<string>();
    let isEnded = false;
    const look = async () => {
      for (const { sha } of await this.testBranches()) {
        if (isEnded || reported.has(sha)) continue;
        await this.report(sha, 'success');
        reported.add(sha);
      }
    };
    const loop = (async () => {
      while (!isEnded) {
        // Gitea may be away.
        await look().catch(() => undefined);
        await sleep(50);
      }
    })();
    t.after(() => {
      isEnded = true;
      return loop;
    });
  }

  /** The first parents of main without the first commit. */
  async line(): Promise<readonly string[]> {
    const gitDir = this.people.gitea.gitDirOf(this.fullName);
    const shas = await runGit(gitDir, ['log', '--first-parent', '--reverse', '--format=%H', 'refs/heads/main']);
    return shas.split('\n').slice(1);
  }

  async head(branch: string): Promise<string> {
    const gitDir = this.people.gitea.gitDirOf(this.fullName);
    return runGit(gitDir, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]);
  }

  async testBranches(): Promise<readonly { readonly branch: string; readonly sha: string }[]> {
    const gitDir = this.people.gitea.gitDirOf(this.fullName);
    const lines = await runGit(gitDir, [
      'for-each-ref',
      '--format=%(objectname) %(refname:lstrip=2)',
      'refs/heads/sluice/',
    ]);
    return lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ sha: line.slice(0, 40), branch: line.slice(41) }));
  }

  untilTestBranch({ number }: Pick<OpenRequest, 'number'>): Promise<{ readonly branch: string; readonly sha: string }> {
    return this.until(`#${number} has a test branch`, async () =>
      (await this.testBranches()).find(({ branch }) => branch.startsWith(`sluice/pr-${number}/`)),
    );
  }

  async untilState({ number }: Pick<OpenRequest, 'number'>, state: string): Promise<EntryView> {
    let seen: unknown;
    return this.until(`#${number} is ${state}`, async () => {
      const more = { pr: { number }, includeExplanation: true };
      const answer = await this.api.post('getSubmittedPullRequest', { ...this.ref, ...more });
      const entry = answer.status === 200 ? (JSON.parse(answer.text) as EntryView) : undefined;
      seen = entry ?? answer.text;
      return entry?.state === state ? entry : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(seen)}`);
    });
  }

  /** Reports success for every commit under test until it landed after `onto`. */
  async untilLanded(
    { number }: OpenRequest,
    { onto }: { readonly onto: string },
  ): Promise<{ readonly landed: string }> {
    const reported = new Set<string>();
    return this.until(`#${number} landed`, async () => {
      for (const { sha, branch } of await this.testBranches()) {
        if (reported.has(sha) || !branch.startsWith(`sluice/pr-${number}/`)) continue;
        reported.add(sha);
        await this.report(sha, 'success');
      }
      const answer = await this.api.post('getSubmittedPullRequest', { ...this.ref, pr: { number } });
      const entry = answer.status === 200 ? (JSON.parse(answer.text) as EntryView) : undefined;
      const landed = entry?.landed?.sha;
      return entry?.state === 'MERGED' && landed !== undefined && landed !== onto ? { landed } : undefined;
    });
  }

  /** Gitea shows it as merged. */
  untilMerged({ number }: Pick<OpenRequest, 'number'>): Promise<{ readonly merge_commit_sha: string }> {
    return this.until(`#${number} shows as merged`, async () => {
      const { body } = await this.ask(`/pulls/${number}`);
      return body.merged ? body : undefined;
    });
  }

  /** Each landed with the commit that Gitea shows for it. Returns these commits. */
  async landedAll(prs: readonly OpenRequest[]): Promise<readonly string[]> {
    const commits: string[] = [];
    for (const pr of prs) {
      const { landed } = await this.untilState(pr, 'MERGED');
      assert.equal((await this.untilMerged(pr)).merge_commit_sha, landed?.sha);
      commits.push(landed?.sha ?? '');
    }
    return commits;
  }

  /** Sluice's own comments. */
  async comments({ number }: Pick<OpenRequest, 'number'>): Promise<readonly string[]> {
    const { body } = await this.ask(`/issues/${number}/comments`);
    const own = (body as readonly { user: { login: string }; body: string }[]).filter(
      ({ user }) => user.login === 'sluice',
    );
    return own.map((comment) => comment.body);
  }

  untilTold(pr: Pick<OpenRequest, 'number'>, text: string): Promise<string> {
    return this.until(`#${pr.number} says "${text}"`, async () =>
      (await this.comments(pr)).find((comment) => comment.includes(text)),
    );
  }

  until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    return until(what, PATIENCE_MS, ask);
  }
}
