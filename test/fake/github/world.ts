import type { Happening } from './happening.ts';
import type { App, Caller, Repository, Role, User, World, WorldOptions } from './model.ts';

export function createWorld(options: WorldOptions): World {
  const listeners: ((happening: Happening) => void)[] = [];
  let lastId = 1_000;
  return {
    options,
    url: '',
    users: new Map(),
    apps: new Map(),
    installations: new Map(),
    repositories: new Map(),
    tokens: new Map(),
    manifests: new Map(),
    routes: [],
    requests: [],
    violations: [],
    underway: new Set(),
    now: () => options.clock.now(),
    nextId: () => ++lastId,
    announce: (happening) => {
      for (const listener of listeners) listener(happening);
    },
    onHappening: (listener) => {
      listeners.push(listener);
    },
  };
}

/** Like GitHub's: a prefix for the kind, then an opaque part. */
export function nodeId(kind: string, id: number): string {
  return `${kind}_${Buffer.from(`0:${id}`).toString('base64url')}`;
}

export function ensureUser(world: World, login: string, type: User['type'] = 'User'): User {
  const found = world.users.get(login.toLowerCase());
  if (found !== undefined) return found;
  const user: User = { id: world.nextId(), login, type, name: login };
  world.users.set(login.toLowerCase(), user);
  return user;
}

/** By the present `owner/name`. */
export function findRepository(world: World, fullName: string): Repository | undefined {
  const wanted = fullName.toLowerCase();
  return world.repositories.values().find((repository) => fullNameOf(repository).toLowerCase() === wanted);
}

/** The repository that a former name redirects to. */
export function findRenamed(world: World, fullName: string): Repository | undefined {
  const wanted = fullName.toLowerCase();
  return world.repositories.values().find(({ formerNames }) => formerNames.has(wanted));
}

export function fullNameOf({ owner, name }: Repository): string {
  return `${owner.login}/${name}`;
}

export const ROLES: readonly Role[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

export function roleOf(repository: Repository, user: User): Role {
  if (repository.owner === user) return 'admin';
  return repository.roles.get(user.login.toLowerCase()) ?? (repository.isPrivate ? 'none' : 'read');
}

export function hasRole(repository: Repository, user: User, role: Role): boolean {
  return ROLES.indexOf(roleOf(repository, user)) >= ROLES.indexOf(role);
}

export function appOf(caller: Caller): App | undefined {
  if (caller.kind === 'installation') return caller.installation.app;
  return caller.kind === 'app' ? caller.app : undefined;
}

/** Runs work in the background. `settle` waits for it. */
export function goOn(world: World, work: Promise<unknown>): void {
  const guarded = work.catch((error: unknown) => {
    world.violations.push(`Work behind an answer failed: ${String(error)}`);
  });
  world.underway.add(guarded);
  void guarded.finally(() => world.underway.delete(guarded));
}

export async function settle(world: World): Promise<void> {
  while (world.underway.size > 0) await Promise.all(world.underway);
}

/** Runs acts of one repository one after the other, like pushes. */
export function inTurn<T>(repository: Repository, act: () => Promise<T>): Promise<T> {
  const result = repository.turn.then(act);
  repository.turn = result.catch(() => undefined);
  return result;
}
