import { createApiToken, listApiTokens, revokeApiToken } from '../../app/access/api-tokens.ts';
import { createOrganization } from '../../app/access/organizations.ts';
import { createSignInLink } from '../../app/access/sessions.ts';
import { listSessions, revokeSession } from '../../app/access/sign-in.ts';
import type { Caller } from '../../app/core/caller.ts';
import { proposeChecks, tryChecks } from '../../app/effects/try-checks.ts';
import { clearCaches, listCaches } from '../../app/repositories/caches.ts';
import { inspectRepository } from '../../app/repositories/inspect-repository.ts';
import { registerRepository } from '../../app/repositories/register-repository.ts';
import { listRepositories, removeRepository } from '../../app/repositories/repositories.ts';
import { listSecrets, removeSecret, setSecret } from '../../app/repositories/secrets.ts';
import { createBackup, restoreBackup } from '../../app/upkeep/backup.ts';
import { describeServer } from '../../app/upkeep/server-metrics.ts';
import * as accessContract from '../../contract/access.ts';
import * as cachesContract from '../../contract/caches.ts';
import * as repositoriesContract from '../../contract/repositories.ts';
import * as secretsContract from '../../contract/secrets.ts';
import * as serverContract from '../../contract/server.ts';
import * as tryContract from '../../contract/try-checks.ts';
import { formatInstant } from '../../lib/clock.ts';
import { readVersion } from '../../lib/version.ts';
import { describeHealth } from '../core/health-metrics.ts';
import { requestCountsOf } from '../core/request-counts.ts';
import { type Route, route, streamRoute } from '../core/route.ts';

export const ACCESS_ROUTES: readonly Route[] = [
  route(accessContract.createOrganization, createOrganization),
  route(accessContract.createApiToken, createApiToken),
  route(accessContract.createSignInLink, (app, caller, _, { baseUrl }) => createSignInLink(app, caller, baseUrl)),
  route(accessContract.listSessions, listSessions),
  route(accessContract.revokeSession, revokeSession),
  route(accessContract.listApiTokens, listApiTokens),
  route(accessContract.revokeApiToken, revokeApiToken),
];

export const REPOSITORIES_ROUTES: readonly Route[] = [
  route(repositoriesContract.registerRepository, registerRepository),
  route(repositoriesContract.listRepositories, listRepositories),
  route(repositoriesContract.inspectRepository, inspectRepository),
  route(repositoriesContract.removeRepository, removeRepository),
  streamRoute(tryContract.tryChecks, tryChecks),
  route(tryContract.proposeChecks, proposeChecks),
  route(secretsContract.setSecret, setSecret),
  route(secretsContract.listSecrets, listSecrets),
  route(secretsContract.removeSecret, removeSecret),
  route(cachesContract.listCaches, listCaches),
  route(cachesContract.clearCaches, clearCaches),
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
  route(serverContract.getServer, async (app, caller) => {
    const { protection, sentence, runsUntrusted } = app.checkRunner.safety;
    const { underWay } = app.backups;
    const backup = underWay === undefined ? {} : { backup: underWay };
    const runner = { protection, sentence, runsUntrusted };
    return { version: readVersion(), runner, ...backup, caller: viewCaller(caller) };
  }),
  route(serverContract.getServerMetrics, async (app) =>
    describeServer(
      app,
      describeHealth(app).then((health) => [...requestCountsOf(app).describe(), ...health]),
    ),
  ),
  route(serverContract.createBackup, (app, _caller, body) => createBackup(app, body)),
  route(serverContract.restoreBackup, (app, _caller, body) => restoreBackup(app, body)),
];
