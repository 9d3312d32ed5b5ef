// A real bare repository with a queue on a real server, and a CI that reports on its candidates.
import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { QueueView } from '../../src/app/queue/queue-view.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { createPlainWorld, type PlainWorld } from '../contract/plain-repository.ts';
import { type Ci, createCi } from './ci.ts';
import {
  type Client,
  type Environment,
  type RepositoryRef,
  type ServerProcess,
  startHere,
  startServer,
  type TestServer,
  until,
} from './harness.ts';

/** A registered bare repository with a queue for its branch main. */
export interface TestQueue {
  readonly git: PlainWorld;
  readonly api: Client;
  readonly repo: RepositoryRef;
  readonly ref: { readonly repo: RepositoryRef; readonly targetBranch: string };
  /** The repository, as commands take it. */
  readonly name: string;
  readonly ci: Ci;
  /** Pushes a new pull request that changes a file of its own, or the given ones. */
  openPullRequest(files?: Readonly<Record<string, string>>): Promise<number>;
  push(prNumber: number, files?: Readonly<Record<string, string>>): Promise<string>;
  headOf(prNumber: number): Promise<string>;
  /** The request body that names an entry, with more fields. */
  entry(prNumber: number, more?: object): object;
  submit(prNumber: number, more?: object): Promise<EntryView>;
  /** Opens a pull request and submits it. */
  submitOne(files?: Readonly<Record<string, string>>): Promise<number>;
  /** Opens this many, and then submits them in this order. */
  submitAll(count: number, more?: object): Promise<readonly number[]>;
  get(prNumber: number, more?: object): Promise<EntryView>;
  getQueue(): Promise<QueueView>;
  update(settings: object): Promise<QueueView>;
  /** Waits until the entry is as asked; the server notices changed refs by itself. */
  untilEntry(prNumber: number, isSo: (entry: EntryView) => boolean): Promise<EntryView>;
  close(): Promise<void>;
}

let repositories = 0;

export interface ServerWorld<Server = TestServer> {
  readonly server: Server;
  /** A queue that ends with the server. */
  aQueue(settings?: object, api?: Client): Promise<TestQueue>;
}

/** A server for the tests of one describe. */
export function useServer(environment: Environment = {}): ServerWorld {
  let world: ReturnType<typeof createWorld> | undefined;
  const getWorld = () => {
    assert.ok(world, 'the server is used before it was started');
    return world;
  };
  before(async () => {
    world = createWorld(await startHere(environment));
  });
  after(() => getWorld().close());
  return {
    get server() {
      return getWorld().server;
    },
    aQueue: (settings, api) => getWorld().aQueue(settings, api),
  };
}

/** A server for one test. */
export async function openServer(t: TestContext, environment: Environment = {}): Promise<ServerWorld> {
  return closeAfter(t, await startHere(environment));
}

/** The same, as a process. */
export async function openProcess(t: TestContext, environment: Environment = {}): Promise<ServerWorld<ServerProcess>> {
  return closeAfter(t, await startServer(environment));
}

function closeAfter<Server extends TestServer>(t: TestContext, server: Server): ServerWorld<Server> {
  const world = createWorld(server);
  t.after(() => world.close());
  return world;
}

export function createWorld<Server extends TestServer>(server: Server) {
  const opened: TestQueue[] = [];
  return {
    server,
    aQueue: async (settings: object = {}, api: Client = server.api) => {
      const queue = await createQueue(api, settings);
      opened.push(queue);
      return queue;
    },
    close: async () => {
      await server.stop();
      for (const queue of opened) await queue.close();
    },
  };
}

export async function createQueue(api: Client, settings: object = {}): Promise<TestQueue> {
  const git = await createPlainWorld();
  await git.commit('main', { files: { 'a.txt': 'a\n' }, message: 'Begin' });
  repositories += 1;
  const repo = { host: 'local', owner: 'acme', name: `app-${repositories}` };
  const ref = { repo, targetBranch: 'main' };
  await api.ok('registerRepository', { repo, git: git.path });
  // Without a required check, every submitted pull request would land at once.
  await api.ok('createQueue', { ...ref, requiredStatuses: ['test'], confirmFailures: 'NEVER', ...settings });
  return describeQueue({ git, repo }, api);
}

/** The queue of a repository on any server that has it. */
export function describeQueue({ git, repo }: Pick<TestQueue, 'git' | 'repo'>, api: Client): TestQueue {
  const ref = { repo, targetBranch: 'main' };
  let changes = 0;
  const entry = (prNumber: number, more: object = {}) => ({ ...ref, pr: { number: prNumber }, ...more });
  const get = async (prNumber: number, more: object = {}) =>
    withoutVersion(await api.ok<EntryView>('getSubmittedPullRequest', entry(prNumber, more)));
  const openPullRequest: TestQueue['openPullRequest'] = async (files) => {
    changes += 1;
    const change = { files: files ?? { [`change-${changes}.txt`]: 'x\n' }, message: `Change ${changes}` };
    return (await git.openPullRequest('main', { ...change, author: 'Grace' })).number;
  };
  const submit: TestQueue['submit'] = (prNumber, more = {}) => api.ok('submitPullRequest', entry(prNumber, more));
  return {
    git,
    api,
    repo,
    ref,
    name: `${repo.host}/${repo.owner}/${repo.name}`,
    ci: createCi({ git, api, repo, ref, get }),
    openPullRequest,
    push: (prNumber, files) => {
      changes += 1;
      return git.pushToPullRequest(prNumber as PrNumber, { files: files ?? { [`push-${changes}.txt`]: 'x\n' } });
    },
    headOf: (prNumber) => git.git(['rev-parse', `refs/pull/${prNumber}/head`]),
    entry,
    submit,
    submitOne: async (files) => {
      const number = await openPullRequest(files);
      await submit(number);
      return number;
    },
    submitAll: async (count, more) => {
      const numbers: number[] = [];
      for (let index = 0; index < count; index++) numbers.push(await openPullRequest());
      for (const number of numbers) await submit(number, more);
      return numbers;
    },
    get,
    getQueue: () => api.ok<QueueView>('getQueue', ref),
    update: (settings) => api.ok<QueueView>('updateQueue', { ...ref, ...settings }),
    untilEntry: (prNumber, isSo) =>
      until(`#${prNumber} of ${repo.name} is as expected`, 60_000, async () => {
        const found = await get(prNumber);
        return isSo(found) ? found : undefined;
      }),
    close: () => git.close(),
  };
}

/** Acts answer the same without a version. */
export function withoutVersion<Read extends { readonly version?: string }>({ version: _, ...rest }: Read) {
  return rest;
}
