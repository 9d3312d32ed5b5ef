import { randomBytes } from 'node:crypto';
import { covers, findInstallation, issueInstallationToken } from '../auth.ts';
import type { Ask, Route } from '../exchange.ts';
import type { App, Installation, Permissions, Repository } from '../model.ts';
import { notFound, Refused } from '../refused.ts';
import { repositoryView } from '../views/repository-view.ts';
import { timeView } from '../views/time.ts';
import { appView, installationView, publicUserView } from '../views/user-view.ts';
import { findRepository } from '../world.ts';
import {
  type Body,
  bodyOf,
  created,
  listed,
  movedOrGone,
  nothing,
  numberOf,
  ok,
  type Params,
  pageOf,
} from './tools.ts';

/** The app itself, its installations and its tokens. */
export const appRoutes: readonly Route[] = [
  { method: 'GET', path: '/app', handle: (ask) => ok(wholeApp(ask, appOf(ask))) },
  { method: 'GET', path: '/app/installations', handle: listInstallations },
  { method: 'GET', path: '/app/installations/{installation_id}', handle: getInstallation },
  { method: 'GET', path: '/repos/{owner}/{repo}/installation', handle: findForRepository },
  { method: 'GET', path: '/orgs/{org}/installation', handle: (ask, params) => findForAccount(ask, params['org']) },
  {
    method: 'GET',
    path: '/users/{username}/installation',
    handle: (ask, params) => findForAccount(ask, params['username']),
  },
  { method: 'POST', path: '/app/installations/{installation_id}/access_tokens', handle: createToken },
  { method: 'GET', path: '/app/hook/config', handle: (ask) => ok(hookConfig(appOf(ask))) },
  { method: 'GET', path: '/installation/repositories', handle: listRepositories },
  { method: 'DELETE', path: '/installation/token', handle: revokeToken },
  { method: 'GET', path: '/apps/{app_slug}', handle: getBySlug },
  { method: 'POST', path: '/app-manifests/{code}/conversions', handle: convertManifest },
  { method: 'GET', path: '/user', handle: (ask) => ok(currentUser(ask)) },
  { method: 'GET', path: '/users/{username}', handle: getUser },
];

function appOf({ caller }: Ask): App {
  if (caller.kind !== 'app') throw new Refused(401, 'A JSON web token could not be decoded');
  return caller.app;
}

function installationsOf(ask: Ask, app: App): readonly Installation[] {
  return [...ask.world.installations.values()].filter((installation) => installation.app === app);
}

function wholeApp(ask: Ask, app: App) {
  return { ...appView(ask.world, app), installations_count: installationsOf(ask, app).length };
}

function listInstallations(ask: Ask) {
  return listed(ask, installationsOf(ask, appOf(ask)), (installation) => installationView(ask.world, installation));
}

function installationOf(ask: Ask, params: Params): Installation {
  const installation = ask.world.installations.get(numberOf(params, 'installation_id'));
  if (installation === undefined || installation.app !== appOf(ask)) throw notFound();
  return installation;
}

function getInstallation(ask: Ask, params: Params) {
  return ok(installationView(ask.world, installationOf(ask, params)));
}

function findForRepository(ask: Ask, params: Params) {
  const app = appOf(ask);
  const fullName = `${params['owner']}/${params['repo']}`;
  const repository = findRepository(ask.world, fullName);
  if (repository === undefined) throw movedOrGone(ask, fullName);
  const installation = findInstallation(ask.world, app, repository);
  if (installation === undefined) throw notFound();
  return ok(installationView(ask.world, installation));
}

function findForAccount(ask: Ask, login = '') {
  const installation = installationsOf(ask, appOf(ask)).find(
    ({ account }) => account.login.toLowerCase() === login.toLowerCase(),
  );
  if (installation === undefined) throw notFound();
  return ok(installationView(ask.world, installation));
}

function createToken(ask: Ask, params: Params) {
  const { world } = ask;
  const installation = installationOf(ask, params);
  if (installation.suspendedAt !== undefined) throw new Refused(403, 'This installation has been suspended');
  const body = bodyOf(ask);
  const permissions = narrow(installation.permissions, body['permissions']);
  const repositoryIds = narrowTo(ask, installation, body);
  const { value, expiresAt } = issueInstallationToken(world, installation, { permissions, repositoryIds });
  const repositories = [...world.repositories.values()].filter(({ id }) => repositoryIds?.has(id));
  return created({
    token: value,
    expires_at: timeView(expiresAt),
    permissions,
    repository_selection: repositoryIds === undefined && installation.repositoryIds === undefined ? 'all' : 'selected',
    ...(repositoryIds === undefined
      ? {}
      : { repositories: repositories.map((repository) => repositoryView(world, repository)) }),
  });
}

/** Every token includes the metadata permission. */
function narrow(granted: Permissions, wanted: unknown): Permissions {
  if (typeof wanted !== 'object' || wanted === null) return granted;
  const names = Object.entries(wanted);
  const isTooMuch = names.some(([name, access]) => {
    const given = granted[name];
    return given === undefined || (given === 'read' && access !== 'read');
  });
  if (isTooMuch) throw new Refused(422, 'The permissions requested are not granted to this installation.');
  return { metadata: 'read', ...Object.fromEntries(names) };
}

function narrowTo({ world }: Ask, installation: Installation, body: Body): ReadonlySet<number> | undefined {
  const { repositories: names, repository_ids: ids } = body;
  if (!Array.isArray(names) && !Array.isArray(ids)) return undefined;
  const isWanted = ({ id, name }: Repository) =>
    (Array.isArray(ids) && ids.includes(id)) || (Array.isArray(names) && names.includes(name));
  const covered = [...world.repositories.values()].filter((repository) => covers(installation, repository));
  const chosen = covered.filter(isWanted);
  const wanted = (Array.isArray(names) ? names.length : 0) + (Array.isArray(ids) ? ids.length : 0);
  if (chosen.length < wanted)
    throw new Refused(422, 'There is at least one repository that does not exist or is not accessible.');
  return new Set(chosen.map(({ id }) => id));
}

function hookConfig({ hook }: App) {
  return {
    content_type: 'json',
    insecure_ssl: '0',
    ...(hook.secret === undefined ? {} : { secret: '********' }),
    ...(hook.url === undefined ? {} : { url: hook.url }),
  };
}

function listRepositories(ask: Ask) {
  const { caller, world } = ask;
  if (caller.kind !== 'installation')
    throw new Refused(403, 'You must authenticate with an installation access token.');
  const all = [...world.repositories.values()].filter((repository) =>
    covers(caller.installation, repository, caller.repositoryIds),
  );
  const isAll = (caller.repositoryIds ?? caller.installation.repositoryIds) === undefined;
  const { items, headers } = pageOf(ask, all);
  const repositories = items.map((repository) => repositoryView(world, repository));
  return ok({ total_count: all.length, repository_selection: isAll ? 'all' : 'selected', repositories }, headers);
}

function revokeToken({ world, caller, headers }: Ask) {
  if (caller.kind !== 'installation')
    throw new Refused(403, 'You must authenticate with an installation access token.');
  world.tokens.delete((headers['authorization'] ?? '').split(' ')[1] ?? '');
  return nothing();
}

function getBySlug(ask: Ask, params: Params) {
  const app = ask.world.apps.values().find(({ slug }) => slug === params['app_slug']);
  if (app === undefined) throw notFound();
  return ok(appView(ask.world, app));
}

/** The code works once. */
function convertManifest(ask: Ask, params: Params) {
  const code = params['code'] ?? '';
  const manifest = ask.world.manifests.get(code);
  if (manifest === undefined) throw notFound();
  ask.world.manifests.delete(code);
  const { app, privateKey } = manifest;
  app.hook.secret ??= randomBytes(20).toString('hex');
  return created({
    ...appView(ask.world, app),
    client_id: app.clientId,
    client_secret: app.clientSecret,
    webhook_secret: app.hook.secret,
    pem: privateKey,
  });
}

function currentUser({ world, caller }: Ask) {
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  if (caller.kind !== 'user') throw new Refused(403, 'Resource not accessible by integration');
  return publicUserView(world, caller.user);
}

function getUser(ask: Ask, params: Params) {
  const user = ask.world.users.get((params['username'] ?? '').toLowerCase());
  if (user === undefined) throw notFound();
  return ok(publicUserView(ask.world, user));
}
