// A server as users run it, connected to the fake GitHub, with a repository, a queue, people and a CI.

import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { lines } from '../contract/forge-bench.ts';
import { createFakeGithub, type FakeGithub, type FakeGithubOptions } from '../fake/github/fake-github.ts';
import type { Installation, PullRequest, Repository, Role } from '../fake/github/model.ts';
import type { OpenOptions } from '../fake/github/people-acts.ts';
import { type Client, type Environment, type RepositoryRef, startHere, type TestServer, until } from './harness.ts';

const SECRET = 'the secret of these deliveries';
const DEADLINE_MS = 60_000;
export const WRITER = 'grace';
export const REVIEWER = 'hopper';

export interface GithubWorldOptions {
  readonly github?: FakeGithubOptions;
  readonly settings?: object;
  readonly environment?: Environment;
  /** False: the server finds everything by polling. */
  readonly webhooks?: boolean;
  /** Default: in this process. */
  readonly start?: (environment: Environment) => Promise<TestServer>;
  /** Runs before the server starts. */
  readonly prepare?: (github: FakeGithub) => Promise<void>;
}

export interface GithubPlace {
  readonly github: FakeGithub;
  readonly server: TestServer;
  readonly owner: string;
}

export class GithubWorld {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly installation: Installation;
  readonly server: TestServer;
  readonly ref: { readonly repo: RepositoryRef; readonly targetBranch: string };

  private constructor(parts: Pick<GithubWorld, 'github' | 'repository' | 'installation' | 'server'>) {
    this.github = parts.github;
    this.repository = parts.repository;
    this.installation = parts.installation;
    this.server = parts.server;
    const { owner, name } = parts.repository;
    this.ref = { repo: { host: 'github.com', owner: owner.login, name }, targetBranch: 'main' };
  }

  static async create(options: GithubWorldOptions = {}): Promise<GithubWorld> {
    const github = await createFakeGithub(options.github);
    await options.prepare?.(github);
    const { start = startHere, webhooks = true } = options;
    const server = await start({ ...connectionOf(github, webhooks), ...options.environment });
    if (webhooks) hookUp(github, server);
    return GithubWorld.join({ github, server, owner: 'acme' }, options.settings);
  }

  /** Closed with the test. */
  static async of(t: Pick<TestContext, 'after'>, options?: GithubWorldOptions): Promise<GithubWorld> {
    const world = await GithubWorld.create(options);
    t.after(() => world.close());
    return world;
  }

  /** Another owner, with an installation and a repository of its own, on a running server. */
  static async join(place: GithubPlace, settings: object = {}): Promise<GithubWorld> {
    const { github, server, owner } = place;
    const repository = await github.createRepository(`${owner}/app`, {
      roles: { [WRITER]: 'write', [REVIEWER]: 'write' },
    });
    const installation = github.install(github.app, owner);
    return GithubWorld.#connect({ github, repository, installation, server }, settings);
  }

  static async #connect(
    parts: Pick<GithubWorld, 'github' | 'repository' | 'installation' | 'server'>,
    settings: object,
  ): Promise<GithubWorld> {
    const world = new GithubWorld(parts);
    const usual = { requiredStatuses: ['build'], confirmFailures: 'NEVER' };
    await world.api.ok('registerRepository', { repo: world.ref.repo });
    await world.api.ok('createQueue', { ...world.ref, ...usual, ...settings });
    return world;
  }

  /** Another private repository of the same owner, with a queue of its own. */
  async beside(name: string, roles: Readonly<Record<string, Role>>, settings: object): Promise<GithubWorld> {
    const fullName = `${this.repository.owner.login}/${name}`;
    const repository = await this.github.createRepository(fullName, { roles, isPrivate: true });
    return GithubWorld.#connect({ ...this, repository }, settings);
  }

  /** The same world through another server. */
  through(server: TestServer): GithubWorld {
    return new GithubWorld({ ...this, server });
  }

  get api(): Client {
    return this.server.api;
  }

  open(options: OpenOptions = {}): Promise<PullRequest> {
    return this.github.openPullRequest(this.repository, { author: WRITER, ...options });
  }

  /** Each changes the same line, on the branch of the one before. */
  async openStack(count: number): Promise<PullRequest[]> {
    const stack: PullRequest[] = [];
    for (let index = 0; index < count; index += 1) {
      const below = stack.at(-1);
      const files = { 'a.txt': lines({ 5: `version ${index}` }) };
      stack.push(await this.open({ files, ...(below && { base: below.headRef }) }));
    }
    return stack;
  }

  say(pr: PullRequest, text: string, by = WRITER): void {
    this.github.comment(pr, by, text);
  }

  get(prNumber: number, more: object = {}): Promise<EntryView> {
    return this.api.ok('getSubmittedPullRequest', { ...this.ref, pr: { number: prNumber }, ...more });
  }

  async untilState(pr: PullRequest, state: string, patienceMs = DEADLINE_MS): Promise<EntryView> {
    let seen = '';
    return until(`#${pr.number} is ${state}`, patienceMs, async () => {
      const answer = await this.api.post('getSubmittedPullRequest', {
        ...this.ref,
        pr: { number: pr.number },
        includeExplanation: true,
      });
      const entry = answer.status === 200 ? (JSON.parse(answer.text) as EntryView) : undefined;
      if (entry !== undefined) seen = `${entry.state}: ${entry.explanation?.summary}`;
      return entry?.state === state ? entry : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${seen}`);
    });
  }

  /** The existing test branches. */
  testBranches(): readonly { readonly branch: string; readonly sha: string }[] {
    return [...this.github.refs(this.repository)]
      .filter(([ref]) => ref.startsWith('refs/heads/sluice/'))
      .map(([ref, sha]) => ({ branch: ref.slice('refs/heads/'.length), sha }));
  }

  untilTestBranch(pr: PullRequest): Promise<{ readonly branch: string; readonly sha: string }> {
    return until(`#${pr.number} has a test branch`, DEADLINE_MS, async () =>
      this.testBranches().find(({ branch }) => branch.startsWith(`sluice/pr-${pr.number}/`)),
    );
  }

  /** A CI report. */
  report(sha: string, conclusion: 'success' | 'failure', name = 'build'): void {
    this.github.reportCheck(this.repository, { sha, name, status: 'completed', conclusion });
  }

  /** Reports a result for every commit under test, once, as soon as there is one. Ends with the test. */
  runCi(t: Pick<TestContext, 'after'>, resultOf: () => 'success' | 'failure' | undefined): void {
    const reported = new Set<string>();
    const ci = setInterval(() => {
      const result = resultOf();
      for (const { sha } of result === undefined ? [] : this.testBranches()) {
        if (!reported.has(sha)) this.report(sha, result as 'success');
        reported.add(sha);
      }
    }, 20);
    t.after(() => clearInterval(ci));
  }

  /** The single sticky comment. */
  sticky(pr: PullRequest): string | undefined {
    const own = this.#own(pr).filter((body) => body.includes('<!-- sluice:queue'));
    assert.ok(own.length <= 1, 'there is one sticky comment');
    return own[0];
  }

  /** Sluice's other comments. */
  replies(pr: PullRequest): readonly string[] {
    return this.#own(pr).filter((body) => !body.includes('<!-- sluice:queue'));
  }

  #own(pr: PullRequest): readonly string[] {
    const { bot } = this.github.app;
    return this.github.listComments(pr).flatMap(({ author, body }) => (author === bot ? [body] : []));
  }

  async close(): Promise<void> {
    await this.server.stop();
    await this.github.close();
  }
}

/** One GitHub and one server for all tests of a file. Each test has an owner of its own. */
export function shareGithub(): (settings?: object) => Promise<GithubWorld> {
  let shared: GithubWorld;
  let owners = 0;
  before(async () => {
    shared = await GithubWorld.create();
  });
  after(() => shared.close());
  return (settings) => GithubWorld.join({ ...shared, owner: `owner-${++owners}` }, settings);
}

/** From now on GitHub sends webhooks to this server. */
export function hookUp(github: FakeGithub, server: TestServer): void {
  github.app.hook = { url: `${server.url}/webhooks/github`, secret: SECRET, isActive: true };
}

export function connectionOf(github: FakeGithub, hasWebhooks: boolean): Environment {
  return {
    SLUICE_GITHUB_APP_ID: String(github.app.id),
    SLUICE_GITHUB_PRIVATE_KEY: github.privateKey,
    ...(hasWebhooks ? { SLUICE_GITHUB_WEBHOOK_SECRET: SECRET } : {}),
    SLUICE_GITHUB_API_URL: github.url,
    SLUICE_GITHUB_WEB_URL: github.url,
  };
}
