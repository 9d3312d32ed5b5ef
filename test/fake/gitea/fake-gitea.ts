import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deliveries } from '../hosted/deliveries.ts';
import { ApiFaults } from '../hosted/faults.ts';
import type { RequestRecord } from '../hosted/rest-server.ts';
import { branchRoutes } from './branch-routes.ts';
import { HOOKS } from './git-backend.ts';
import { issueRoutes } from './issue-routes.ts';
import { findRepository, inTurn, type Repository, type World } from './model.ts';
import { pullRoutes } from './pull-routes.ts';
import { catchUp } from './pushes.ts';
import { createToken, createUser, repositoryRoutes } from './repository-routes.ts';
import { startServer } from './server.ts';
import { announceTo } from './webhooks.ts';

export interface FakeGitea {
  readonly url: string;
  /** Of the account `root`, which administrates the server. */
  readonly token: string;
  readonly faults: ApiFaults;
  readonly webhooks: Deliveries;
  readonly requests: readonly RequestRecord[];
  /** The bare repository on disk. */
  gitDirOf(fullName: string): string;
  /** Treats refs that were written on disk as pushed by this account. */
  catchUp(fullName: string, login: string): Promise<void>;
  close(): Promise<void>;
}

/** A Gitea in this process: its API, git over HTTP and webhooks, with real bare repositories behind it. */
export async function createFakeGitea(): Promise<FakeGitea> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fake-gitea-'));
  await mkdir(join(folder, 'hooks'));
  for (const [name, script] of Object.entries(HOOKS))
    await writeFile(join(folder, 'hooks', name), script, { mode: 0o755 });
  const world = createWorld(folder, (happening) => announceTo(webhooks, world, happening));
  const webhooks = new Deliveries(world.violations);
  const faults = new ApiFaults();
  const server = await startServer(world, faults, {
    ...repositoryRoutes,
    ...branchRoutes,
    ...issueRoutes,
    ...pullRoutes,
  });
  const root = createUser(world, 'root', { password: 'a password' }, { isAdmin: true });
  const get = (fullName: string): Repository => {
    const repository = findRepository(world, fullName);
    if (repository === undefined) throw new Error(`There is no repository ${fullName}.`);
    return repository;
  };
  return {
    url: world.url,
    token: createToken(world, root, ['all']),
    faults,
    webhooks,
    requests: world.requests,
    gitDirOf: (fullName) => get(fullName).gitDir,
    catchUp: (fullName, login) => {
      const repository = get(fullName);
      return inTurn(repository, () => catchUp(world, repository, world.users.get(login.toLowerCase()) ?? root));
    },
    close: async () => {
      await webhooks.settle();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      if (world.violations.length > 0) throw new Error(world.violations.join('\n'));
    },
  };
}

function createWorld(folder: string, announce: World['announce']): World {
  let lastId = 0;
  return {
    url: '',
    folder,
    users: new Map(),
    tokens: new Map(),
    repositories: new Map(),
    requests: [],
    violations: [],
    now: () => Math.floor(Date.now() / 1000) * 1000,
    nextId: () => ++lastId,
    announce,
  };
}
