import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sha } from '../../src/lib/sha.ts';
import type { Change } from '../contract/forge.ts';
import { commitChange, runGit } from '../contract/plain-repository.ts';
import { initBare } from '../fake/git-files/bare-template.ts';
import { createFakeGitea, type FakeGitea } from '../fake/gitea/fake-gitea.ts';
import { RealGitea } from './real-gitea.ts';

/** A Gitea to test on, real or fake, with the same address and the same accounts. */
export type AnyGitea = FakeGitea | RealGitea;

const PASSWORD = 'a password';

/** A real one where the environment names the program, as `npm run test:gitea` does. */
export function startGitea(): Promise<AnyGitea> {
  const binary = process.env['SLUICE_REAL_GITEA'];
  return binary === undefined ? createFakeGitea() : RealGitea.start({ binary });
}

/** Makes it unavailable until the returned function is called. A real one is killed. */
export async function breakGitea(gitea: AnyGitea): Promise<() => Promise<void>> {
  if ('faults' in gitea) {
    const repair = gitea.faults.always('*', { kind: 'error', status: 503, when: 'before' });
    return async () => repair();
  }
  await gitea.kill();
  return () => gitea.restart();
}

export interface GiteaAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  readonly body: any;
}

/** People at a Gitea: they ask its API and push with git. */
export class GiteaPeople {
  readonly gitea: AnyGitea;
  readonly #tokens = new Map<string, Promise<string>>();

  constructor(gitea: AnyGitea) {
    this.gitea = gitea;
  }

  /** Asks as this account. Redirects are answers. */
  ask(login: string, method: string, path: string, body?: unknown): Promise<GiteaAnswer> {
    return this.#send({ authorization: `token ${this.gitea.token}`, sudo: login }, method, path, body);
  }

  /** Asks with this token, or with none. */
  askWith(token: string | undefined, method: string, path: string, body?: unknown): Promise<GiteaAnswer> {
    return this.#send(token === undefined ? {} : { authorization: `token ${token}` }, method, path, body);
  }

  async #send(
    who: Readonly<Record<string, string>>,
    method: string,
    path: string,
    body: unknown,
  ): Promise<GiteaAnswer> {
    const response = await fetch(`${this.gitea.url}/api/v1${path}`, {
      method,
      headers: { ...who, 'content-type': 'application/json' },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined };
  }

  /** The body of an answer that must not be a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  async get(login: string, method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.ask(login, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Creates the account when it is not there yet, and answers a token with all rights. */
  tokenOf(login: string): Promise<string> {
    const key = login.toLowerCase();
    const token = this.#tokens.get(key) ?? this.#createAccount(login);
    this.#tokens.set(key, token);
    return token;
  }

  async #createAccount(login: string): Promise<string> {
    if (login === 'root') return this.gitea.token;
    const person = { username: login, email: `${login}@example.test`, password: PASSWORD, must_change_password: false };
    await this.ask('root', 'POST', '/admin/users', person);
    return this.createToken(login, ['all']);
  }

  async createToken(login: string, scopes: readonly string[]): Promise<string> {
    const response = await fetch(`${this.gitea.url}/api/v1/users/${login}/tokens`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${login}:${PASSWORD}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: randomUUID(), scopes }),
    });
    return ((await response.json()) as { sha1: string }).sha1;
  }

  /** A commit on top of another or of nothing, pushed to a ref. The other may be `beside`, in another repository. */
  async commit(
    login: string,
    fullName: string,
    ref: string,
    from: string | undefined,
    change: Change,
    beside: string = fullName,
  ): Promise<Sha> {
    const gitDir = this.gitea.gitDirOf(fullName);
    if ('catchUp' in this.gitea) {
      const sha = await commitChange(gitDir, ref, from, change);
      await this.gitea.catchUp(fullName, login);
      return sha;
    }
    const scratch = join(tmpdir(), `sluice-scratch-${randomUUID()}`);
    initBare(scratch);
    try {
      await mkdir(join(scratch, 'objects', 'info'), { recursive: true });
      const others = [gitDir, this.gitea.gitDirOf(beside)].map((path) => `${join(path, 'objects')}\n`);
      await writeFile(join(scratch, 'objects', 'info', 'alternates'), others.join(''));
      const sha = await commitChange(scratch, 'refs/heads/pushed', from, change);
      await this.push(login, fullName, scratch, `+${sha}:${ref}`);
      return sha;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  /** Pushes over HTTP from a repository on disk, which may be the server's own. */
  async push(login: string, fullName: string, from: string, refspec: string): Promise<void> {
    const { host, protocol } = new URL(this.gitea.url);
    const token = await this.tokenOf(login);
    await runGit(from, ['push', '--quiet', `${protocol}//${login}:${token}@${host}/${fullName}.git`, refspec]);
  }
}
