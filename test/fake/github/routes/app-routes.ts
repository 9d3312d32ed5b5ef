import { randomBytes } from 'node:crypto';
import { findInstallation, issueInstallationToken } from '../auth.ts';
import type { Ask, Params, Route } from '../exchange.ts';
import type { App, Installation } from '../model.ts';
import { notFound, Refused } from '../refused.ts';
import { appView, installationView, timeView, userView } from '../views/account-view.ts';
import type { DeliveryRecord, Webhooks } from '../webhooks.ts';
import { created, findNamed, numberIn, ok, route, sizeOf } from './call.ts';

/** GitHub keeps deliveries for three days. */
const KEPT_MS = 3 * 24 * 3_600_000;

/** The app itself, its installations, tokens and deliveries. */
export function appRoutes(webhooks: Webhooks): readonly Route[] {
  return [
    route('GET /app', getApp),
    route('GET /app/hook/config', (ask) => ok(hookConfig(appOf(ask)))),
    route('GET /app/hook/deliveries', (ask) => listDeliveries(ask, webhooks)),
    route('POST /app/installations/{installation_id}/access_tokens', createToken),
    route('POST /app-manifests/{code}/conversions', convertManifest),
    route('GET /repos/{owner}/{repo}/installation', getInstallation),
    route('GET /user', getUser),
  ];
}

function appOf({ caller }: Ask): App {
  if (caller.kind !== 'app') throw new Refused(401, 'A JSON web token could not be decoded');
  return caller.app;
}

function getApp(ask: Ask) {
  const app = appOf(ask);
  const installations = [...ask.world.installations.values()].filter((installation) => installation.app === app);
  return ok({ ...appView(app), installations_count: installations.length });
}

function hookConfig({ hook }: App) {
  return {
    content_type: 'json',
    insecure_ssl: '0',
    ...(hook.secret === undefined ? {} : { secret: '********' }),
    ...(hook.url === undefined ? {} : { url: hook.url }),
  };
}

function getInstallation(ask: Ask, params: Params) {
  const app = appOf(ask);
  const installation = findInstallation(ask.world, app, findNamed(ask, params));
  if (installation === undefined) throw notFound();
  return ok(installationView(installation));
}

/** Sluice asks for tokens with all permissions. A narrowed token would look like a complete one here. */
function createToken(ask: Ask, params: Params) {
  const installation = ask.world.installations.get(numberIn(params['installation_id']));
  if (installation?.app !== appOf(ask)) throw notFound();
  if (installation.suspendedAt !== undefined) throw new Refused(403, 'This installation has been suspended');
  if (ask.body.length > 0 && ask.body.toString() !== '{}') throw new Refused(501, 'The fake GitHub narrows no tokens');
  return created(tokenView(ask, installation));
}

function tokenView({ world }: Ask, installation: Installation) {
  const { value, expiresAt } = issueInstallationToken(world, installation);
  const { permissions, repositoryIds } = installation;
  const selection = repositoryIds === undefined ? 'all' : 'selected';
  return { token: value, expires_at: timeView(expiresAt), permissions, repository_selection: selection };
}

/** The code works once. */
function convertManifest({ world }: Ask, { code = '' }: Params) {
  const manifest = world.manifests.get(code);
  if (manifest === undefined) throw notFound();
  world.manifests.delete(code);
  const { app, privateKey } = manifest;
  app.hook.secret ??= randomBytes(20).toString('hex');
  return created({
    ...appView(app),
    client_secret: app.clientSecret,
    webhook_secret: app.hook.secret,
    pem: privateKey,
  });
}

function getUser({ caller }: Ask) {
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  if (caller.kind !== 'user') throw new Refused(403, 'Resource not accessible by integration');
  return ok(userView(caller.user));
}

/** The deliveries that were sent to the app, newest first. */
function deliveriesTo(ask: Ask, { deliveries }: Webhooks): readonly DeliveryRecord[] {
  const { id } = appOf(ask);
  return deliveries
    .filter(({ target }) => target.id === id)
    .filter(({ status, at }) => status !== 'waiting' && status !== 'lost' && at > ask.world.now() - KEPT_MS)
    .toSorted((one, other) => other.at - one.at || other.number - one.number);
}

/** Pages continue from a delivery instead of a number, since new ones arrive meanwhile. */
function listDeliveries(ask: Ask, webhooks: Webhooks) {
  const { query, world, path } = ask;
  const wanted = query.get('status');
  const all = deliveriesTo(ask, webhooks).filter(
    ({ status }) => wanted === null || isGood(status) === (wanted === 'success'),
  );
  const cursor = query.get('cursor');
  const start = cursor === null ? 0 : all.findIndex(({ number }) => `v1_${number}` === cursor);
  if (start < 0) throw new Refused(422, 'The cursor is not one of the list.');
  const next = all[start + sizeOf(ask)];
  const search = new URLSearchParams(query);
  if (next !== undefined) search.set('cursor', `v1_${next.number}`);
  const link: Record<string, string> =
    next === undefined ? {} : { link: `<${world.url}${path}?${search.toString()}>; rel="next"` };
  return ok(all.slice(start, start + sizeOf(ask)).map(deliveryView), link);
}

/** GitHub's words for the outcome of an attempt. */
function wordsOf(status: DeliveryRecord['status']): string {
  if (typeof status !== 'number') return 'failed to connect to host';
  return isGood(status) ? 'OK' : `Invalid HTTP Response: ${status}`;
}

function isGood(status: DeliveryRecord['status']): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}

/** The form in lists. */
function deliveryView(delivery: DeliveryRecord) {
  const { number, id, at, status, event, action, payload } = delivery;
  return {
    id: number,
    guid: id,
    delivered_at: timeView(at),
    redelivery: false,
    status: wordsOf(status),
    status_code: typeof status === 'number' ? status : 0,
    event,
    action: action ?? null,
    installation_id: idOf(payload['installation']),
    repository_id: idOf(payload['repository']),
  };
}

function idOf(thing: unknown): number | null {
  const { id } = (thing ?? {}) as { readonly id?: unknown };
  return typeof id === 'number' ? id : null;
}
