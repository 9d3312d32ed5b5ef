import assert from 'node:assert/strict';
import { createFakeGithub, type FakeGithub } from '../fake/github/fake-github.ts';
import type { Installation, PullRequest, Repository } from '../fake/github/model.ts';
import { startHere, type TestServer, until } from './harness.ts';

const SECRET = 'a secret of the tests';
const PATIENCE_MS = 60_000;
const TEST_BRANCH = 'refs/heads/sluice/';

export interface GithubServerOptions {
  /** Whether GitHub sends webhooks. */
  readonly hasWebhooks?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A real server connected to the fake GitHub, with a queue on `acme/app`, and a CI under the test's control. */
export class GithubServer {
  readonly github: FakeGithub;
  readonly server: TestServer;
  readonly repository: Repository;
  readonly installation: Installation;
  /** CI's result for every commit; undefined: none yet. */
  verdict: 'success' | 'failure' | undefined = 'success';
  readonly #reported = new Set<string>();
  #ci: NodeJS.Timeout | undefined;

  private constructor(parts: Pick<GithubServer, 'github' | 'server' | 'repository' | 'installation'>) {
    this.github = parts.github;
    this.server = parts.server;
    this.repository = parts.repository;
    this.installation = parts.installation;
  }

  static async start({ hasWebhooks = true, settings = {} }: GithubServerOptions = {}): Promise<GithubServer> {
    const github = await createFakeGithub();
    const installation = github.install(github.app, 'acme');
    const roles = { ada: 'write', root: 'admin', eve: 'read' } as const;
    const repository = await github.createRepository('acme/app', { roles });
    const server = await startHere({
      SLUICE_GITHUB_APP_ID: String(github.app.id),
      SLUICE_GITHUB_PRIVATE_KEY: github.privateKey,
      SLUICE_GITHUB_WEBHOOK_SECRET: SECRET,
      SLUICE_GITHUB_API_URL: github.url,
      SLUICE_GITHUB_WEB_URL: github.url,
    });
    const started = new GithubServer({ github, server, repository, installation });
    if (hasWebhooks) github.app.hook = { url: `${server.url}/webhooks/github`, secret: SECRET, isActive: true };
    await started.post('registerRepository', {});
    await started.post('createQueue', { targetBranch: 'main', requiredStatuses: ['ci'], ...settings });
    started.#ci = setInterval(() => started.#runChecks(), 50);
    return started;
  }

  get ref() {
    return { host: 'github.com', owner: this.repository.owner.login, name: this.repository.name };
  }

  /** For an operation on the repository. */
  post(operation: string, body: object): Promise<Record<string, unknown>> {
    return this.ask(operation, { repo: this.ref, ...body });
  }

  async ask(operation: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.#call(operation, body);
    assert.equal(answer.status, 200, `${operation}: ${answer.text}`);
    return JSON.parse(answer.text) as Record<string, unknown>;
  }

  /** Undefined if it was never submitted. */
  async find(pr: PullRequest): Promise<Record<string, unknown> | undefined> {
    const question = { targetBranch: 'main', pr: { number: pr.number }, includeExplanation: true };
    const { status, text } = await this.#call('getSubmittedPullRequest', { repo: this.ref, ...question });
    return status === 200 ? (JSON.parse(text) as Record<string, unknown>) : undefined;
  }

  async #call(operation: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`${this.server.url}/v1/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-token': this.server.token },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  async untilState(pr: PullRequest, expected: string, patienceMs = PATIENCE_MS): Promise<void> {
    let seen: unknown;
    const look = async () => {
      seen = (await this.find(pr))?.['state'];
      return seen === expected ? true : undefined;
    };
    await until(`#${pr.number} is ${expected}`, patienceMs, look).catch((error: Error) => {
      throw new Error(`${error.message}: it is ${seen}`);
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#ci);
    await this.server.stop();
    await this.github.close();
  }

  #runChecks(): void {
    for (const [ref, sha] of this.github.refs(this.repository)) {
      if (!ref.startsWith(TEST_BRANCH) || this.verdict === undefined || this.#reported.has(sha)) continue;
      this.#reported.add(sha);
      const draft = { sha, name: 'ci', status: 'completed', conclusion: this.verdict } as const;
      this.github.reportCheck(this.repository, draft);
    }
  }
}
