import { randomBytes } from 'node:crypto';
import { createKeyPair } from './auth.ts';
import type { App, Installation, Permissions, Repository, World } from './model.ts';
import { ensureUser } from './world.ts';

export interface AppOptions {
  readonly slug: string;
  readonly owner?: string;
  readonly permissions?: Permissions;
  readonly events?: readonly string[];
  readonly hook?: { readonly url: string; readonly secret?: string };
  readonly id?: number;
}

/** The permissions that a merge queue needs. */
export const QUEUE_PERMISSIONS: Permissions = {
  actions: 'write',
  administration: 'read',
  checks: 'write',
  contents: 'write',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
  statuses: 'write',
  workflows: 'write',
};

const EVENTS = [
  'branch_protection_rule',
  'check_run',
  'check_suite',
  'issue_comment',
  'member',
  'pull_request',
  'pull_request_review',
  'push',
  'repository',
  'repository_ruleset',
  'status',
  'workflow_run',
];

export function createApp(world: World, options: AppOptions): App {
  const { slug, permissions = QUEUE_PERMISSIONS, events = EVENTS, hook } = options;
  const id = options.id ?? world.nextId();
  const app: App = {
    id,
    slug,
    name: slug,
    owner: ensureUser(world, options.owner ?? 'acme', 'Organization'),
    bot: ensureUser(world, `${slug}[bot]`, 'Bot'),
    clientId: `Iv23li${randomBytes(7).toString('hex')}`,
    clientSecret: randomBytes(20).toString('hex'),
    publicKey: undefined,
    permissions,
    events,
    hook: { url: hook?.url, secret: hook?.secret, isActive: true },
  };
  world.apps.set(id, app);
  return app;
}

/** Replaces the app's key. Answers the private half. */
export function addKey(app: App): string {
  const { privateKey, publicKey } = createKeyPair();
  app.publicKey = publicKey;
  return privateKey;
}

export interface InstallOptions {
  /** Default: all repositories of the account. */
  readonly repositories?: readonly Repository[];
  readonly permissions?: Permissions;
}

export function installApp(world: World, app: App, account: string, options: InstallOptions = {}): Installation {
  const id = world.nextId();
  const installation: Installation = {
    id,
    app,
    account: ensureUser(world, account, 'Organization'),
    repositoryIds: options.repositories === undefined ? undefined : new Set(options.repositories.map((one) => one.id)),
    permissions: options.permissions ?? app.permissions,
    events: app.events,
    suspendedAt: undefined,
  };
  world.installations.set(id, installation);
  announceInstallation(world, installation, 'created');
  return installation;
}

export function announceInstallation(
  world: World,
  installation: Installation,
  action: 'created' | 'deleted' | 'suspend' | 'unsuspend' | 'new_permissions_accepted',
): void {
  const repositories = [...world.repositories.values()].filter(
    ({ owner, id }) => owner === installation.account && (installation.repositoryIds?.has(id) ?? true),
  );
  world.announce({ event: 'installation', action, installation, repositories, sender: installation.account });
}

/** Invalidates all tokens of the installation. */
export function uninstallApp(world: World, installation: Installation): void {
  world.installations.delete(installation.id);
  announceInstallation(world, installation, 'deleted');
}

export function setSuspended(world: World, installation: Installation, isSuspended: boolean): void {
  installation.suspendedAt = isSuspended ? world.now() : undefined;
  announceInstallation(world, installation, isSuspended ? 'suspend' : 'unsuspend');
}

/** A person accepted a manifest on GitHub's page. Answers the app and the code to exchange for its key. */
export function acceptManifest(world: World, options: AppOptions): { readonly app: App; readonly code: string } {
  const app = createApp(world, options);
  const code = randomBytes(20).toString('hex');
  world.manifests.set(code, { app, privateKey: addKey(app) });
  return { app, code };
}
