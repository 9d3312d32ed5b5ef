import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { promisify } from 'node:util';
import type { Octokit } from 'octokit';
import { gitEnv } from '../hosted/git.ts';
import { asInstallation, asPerson } from './a-client.ts';
import { createFakeGithub, type FakeGithub } from './fake-github.ts';
import type { Installation, Repository } from './model.ts';

const run = promisify(execFile);

/** One GitHub per test file, and a private repository per test: ada writes, root owns, eve reads. */
export function useGithub(): Scene {
  const scene = new Scene();
  before(() => scene.open());
  beforeEach(() => scene.begin());
  after(() => scene.close());
  return scene;
}

class Scene {
  github!: FakeGithub;
  installation!: Installation;
  repository!: Repository;
  #folder = '';
  #count = 0;

  async open(): Promise<void> {
    this.github = await createFakeGithub();
    this.installation = this.github.install(this.github.app, 'acme');
    this.#folder = await mkdtemp(join(tmpdir(), 'work-copies-'));
  }

  async begin(): Promise<void> {
    this.#count += 1;
    const roles = { ada: 'write', root: 'admin', eve: 'read' } as const;
    this.repository = await this.github.createRepository(`acme/app-${this.#count}`, { roles, isPrivate: true });
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    await this.github.close();
  }

  get ref() {
    return { owner: 'acme', repo: this.repository.name };
  }

  get main(): string | undefined {
    return this.github.refs(this.repository).get('refs/heads/main');
  }

  as(login: string): Octokit {
    return asPerson(this.github, login);
  }

  asApp(): Promise<Octokit> {
    return asInstallation(this.github, this.installation);
  }

  /** Runs git like a developer's machine. */
  async git(args: readonly string[], cwd = this.#folder): Promise<string> {
    const author = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.test' };
    const committer = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.test' };
    const { stdout } = await run('git', [...args], { cwd, env: { ...gitEnv(), ...author, ...committer } });
    return stdout.trim();
  }

  cloneUrl(token: string): string {
    return `${this.github.url.replace('://', `://x-access-token:${token}@`)}/acme/${this.repository.name}.git`;
  }

  async clone(login: string): Promise<string> {
    const name = `clone-${this.#count}-${login}`;
    await this.git(['clone', '--quiet', this.cloneUrl(this.github.createToken(login)), name]);
    return join(this.#folder, name);
  }

  async commitFile(checkout: string, path: string, text: string): Promise<string> {
    await writeFile(join(checkout, path), text);
    await this.git(['add', '.'], checkout);
    await this.git(['commit', '--quiet', '-m', `Change ${path}`], checkout);
    return this.git(['rev-parse', 'HEAD'], checkout);
  }
}

/** Matches the status and GitHub's message. */
export function refusal(status: number, message: RegExp) {
  return (error: { status?: number; message: string }) => {
    assert.equal(error.status, status);
    assert.match(error.message, message);
    return true;
  };
}
