import { createApiToken, listApiTokens, revokeApiToken } from '../../app/access/api-tokens.ts';
import { createOrganization } from '../../app/access/organizations.ts';
import { createSignInLink } from '../../app/access/sessions.ts';
import { listSessions, revokeSession } from '../../app/access/sign-in.ts';
import type { Caller } from '../../app/core/caller.ts';
import { inspectRepository } from '../../app/repositories/inspect-repository.ts';
import { registerRepository } from '../../app/repositories/register-repository.ts';
import { listRepositories, removeRepository } from '../../app/repositories/repositories.ts';
import { createBackup, restoreBackup } from '../../app/upkeep/backup.ts';
import { describeServer } from '../../app/upkeep/server-metrics.ts';
import * as accessContract from '../../contract/access.ts';
import * as repositoriesContract from '../../contract/repositories.ts';
import * as serverContract from '../../contract/server.ts';
import { formatInstant } from '../../lib/clock.ts';
import { readVersion } from '../../lib/version.ts';
import { describeHealth } from '../core/health-metrics.ts';
import { instant } from '../core/parse.ts';
import { requestCountsOf } from '../core/request-counts.ts';
import { type Route, route } from '../core/route.ts';

export const ACCESS_ROUTES: readonly Route[] = [
  route(accessContract.createOrganization, ({ app, caller }, { slug }) => createOrganization(app, caller, { slug })),
  route(accessContract.createApiToken, ({ app, caller }, { name, scopes, repositories, expiresAt, service }) =>
    createApiToken(app, caller, {
      name,
      scopes,
      repositories,
      expiresAt: expiresAt === undefined ? undefined : instant('/expiresAt', expiresAt),
      isForService: service === true,
    }),
  ),
  route(accessContract.createSignInLink, ({ app, caller, baseUrl }) => createSignInLink(app, caller, baseUrl)),
  route(accessContract.listSessions, ({ app, caller }) => listSessions(app, caller)),
  route(accessContract.revokeSession, ({ app, caller }, { id }) => revokeSession(app, caller, { id })),
  route(accessContract.listApiTokens, ({ app, caller }) => listApiTokens(app, caller)),
  route(accessContract.revokeApiToken, ({ app, caller }, { id, evenIfLast }) =>
    revokeApiToken(app, caller, { id: id.toLowerCase(), evenIfLast: evenIfLast === true }),
  ),
];

export const REPOSITORIES_ROUTES: readonly Route[] = [
  route(
    repositoriesContract.registerRepository,
    ({ app, caller }, { repo, git, checks, junit, trustChecks, runHooks }) =>
      registerRepository(app, caller, {
        repo,
        git,
        checks: checks?.map(({ name, command, timeoutMinutes, network, userNamespaces }) => ({
          name,
          command,
          timeoutMinutes: timeoutMinutes ?? null,
          ...(network === true ? { network } : {}),
          ...(userNamespaces === true ? { userNamespaces } : {}),
        })),
        junit,
        trustChecks,
        runHooks,
      }),
  ),
  route(repositoriesContract.listRepositories, ({ app, caller }) => listRepositories(app, caller)),
  route(repositoriesContract.inspectRepository, ({ app, caller }, { repo, targetBranch }) =>
    inspectRepository(app, caller, { repo, targetBranch }),
  ),
  route(repositoriesContract.removeRepository, ({ app, caller }, { repo }) => removeRepository(app, caller, { repo })),
];

// SPEC A32
function viewCaller({ name, organization, scopes, expiresAt }: Caller) {
  return {
    name,
    organization: organization.slug,
    scopes: [...scopes],
    expiresAt: expiresAt === undefined ? null : formatInstant(expiresAt),
  };
}

export const SERVER_ROUTES: readonly Route[] = [
  route(serverContract.getServer, async ({ app, caller }) => {
    const { protection, sentence, runsUntrusted } = app.checkRunner.safety;
    const { underWay } = app.backups;
    const backup = underWay === undefined ? {} : { backup: underWay };
    const runner = { protection, sentence, runsUntrusted };
    return { version: readVersion(), runner, ...backup, caller: viewCaller(caller) };
  }),
  route(serverContract.getServerMetrics, async ({ app }) =>
    describeServer(
      app,
      describeHealth(app).then((health) => [...requestCountsOf(app).describe(), ...health]),
    ),
  ),
  route(serverContract.createBackup, ({ app }, { file }) => createBackup(app, { file })),
  route(serverContract.restoreBackup, ({ app }, { file }) => restoreBackup(app, { file })),
];
