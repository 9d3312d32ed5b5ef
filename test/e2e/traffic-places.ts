// Places for the same pull requests: a bare repository, and the fake GitHub.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { createFakeGithub } from '../fake/github/fake-github.ts';
import type { PullRequest } from '../fake/github/model.ts';
import { gitText } from '../fake/hosted/git.ts';
import { connectionOf } from './github-world.ts';
import {
  type Client,
  type Environment,
  makeFolder,
  type RepositoryRef,
  startHere,
  startServer,
  type TestServer,
} from './harness.ts';

type Files = Readonly<Record<string, string>>;

/** A queue's surroundings, hidden from the traffic that is played in it. */
export interface TrafficPlace {
  readonly api: Client;
  readonly repo: RepositoryRef;
  open(files: Files): Promise<number>;
  push(prNumber: number, files: Files): Promise<void>;
  pushToTarget(files: Files): Promise<void>;
  mergeByHand(prNumber: number): Promise<void>;
  /** A CI report. */
  report(sha: string, isGreen: boolean): Promise<void>;
  /** Runs git in the bare repository behind it all. */
  git(args: readonly string[]): Promise<string>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export const BEGINNING: Files = { 'a.txt': 'a\n', 'shared.txt': 'one\n' };
export const CHECK = 'test';
const SECRET = 'the secret of these deliveries';

/** A process that can be killed, on a folder of its own. The server that replaces it is not killed, and runs here. */
async function startReplaceable(environment: Environment) {
  const folder = await makeFolder();
  const variables = { ...environment, SLUICE_DATA: join(folder, 'data') };
  const first = await startServer(variables);
  let server: TestServer = first;
  return {
    get server() {
      return server;
    },
    replace: async () => {
      first.child.kill('SIGKILL');
      await first.exited;
      server = await startHere(variables);
    },
    close: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export async function createPlainPlace(): Promise<TrafficPlace> {
  const git = await createPlainWorld();
  await git.commit('main', { files: BEGINNING, message: 'Begin' });
  const place = await startReplaceable({});
  const repo = { host: 'local', owner: 'acme', name: 'app' };
  await place.server.api.ok('registerRepository', { repo, git: git.path });
  return {
    get api() {
      return place.server.api;
    },
    repo,
    open: async (files) => (await git.openPullRequest('main', { files, message: 'A change' })).number,
    push: async (prNumber, files) => void (await git.pushToPullRequest(prNumber as PrNumber, { files })),
    pushToTarget: async (files) => void (await git.commit('main', { files, message: 'Past the queue' })),
    mergeByHand: (prNumber) => git.landPullRequest(prNumber as PrNumber, 'main'),
    report: async (sha, isGreen) => {
      const conclusion = isGreen ? 'SUCCESS' : 'FAILURE';
      await place.server.api.post('reportCheck', { repo, sha, name: CHECK, status: 'COMPLETED', conclusion });
    },
    git: (args) => git.git(args),
    restart: place.replace,
    close: async () => {
      await place.close();
      await git.close();
    },
  };
}

export async function createGithubPlace(): Promise<TrafficPlace> {
  const github = await createFakeGithub();
  const repository = await github.createRepository('acme/app', { roles: { grace: 'write' }, files: BEGINNING });
  github.install(github.app, 'acme');
  const place = await startReplaceable({ ...connectionOf(github, true), SLUICE_GITHUB_WEBHOOK_SECRET: SECRET });
  const listen = () => {
    github.app.hook = { url: `${place.server.url}/webhooks/github`, secret: SECRET, isActive: true };
  };
  listen();
  const repo = { host: 'github.com', owner: 'acme', name: 'app' };
  await place.server.api.ok('registerRepository', { repo });
  const get = (prNumber: number) => repository.pulls.get(prNumber) as PullRequest;
  return {
    get api() {
      return place.server.api;
    },
    repo,
    open: async (files) => (await github.openPullRequest(repository, { files, author: 'grace' })).number,
    push: async (prNumber, files) => void (await github.push(get(prNumber), files)),
    pushToTarget: async (files) => void (await github.commit(repository, { branch: 'main', files })),
    mergeByHand: async (prNumber) => void (await github.mergeByHand(get(prNumber), 'grace')),
    report: async (sha, isGreen) => {
      const conclusion = isGreen ? 'success' : 'failure';
      github.reportCheck(repository, { sha, name: CHECK, status: 'completed', conclusion });
    },
    git: (args) => gitText(repository.gitDir, args),
    restart: async () => {
      await place.replace();
      listen();
    },
    close: async () => {
      await place.close();
      await github.close();
    },
  };
}
