import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endSession } from '../../app/access/sessions.ts';
import { beginPersonSessions, RefusedSignIns } from '../../app/access/sign-in.ts';
import type { IdentityProvider, SignInProblem, Trip } from '../../identity/identity.ts';
import { RateLimit } from '../core/admission.ts';
import { type BaseUrlOf, createClientAddress } from '../core/base-url.ts';
import { HttpProblem } from '../core/problem.ts';
import type { ServerDeps } from '../core/server-deps.ts';
import { clearTripCookie, readSessionCookies, readTripCookie, setSessionCookie, setTripCookie } from './cookies.ts';

/** Requests a second from one address: each may ask the provider. */
const PER_SECOND = 5;

/** The sentences of the sign-in page, by these words. */
type Ending = SignInProblem['problem'] | 'stale' | 'no-role';

export function registerSignIn(server: FastifyInstance, deps: ServerDeps & { readonly baseUrlOf: BaseUrlOf }): void {
  const { app, baseUrlOf } = deps;
  if (app.providers === undefined || app.providers.size === 0) return;
  const refused = new RefusedSignIns(app);
  const limit = new RateLimit(PER_SECOND, app.clock);
  const addressOf = createClientAddress(deps.trustedProxies);
  const isSecure = (request: FastifyRequest) => baseUrlOf(request).startsWith('https:');
  // SPEC A67
  const slowDown = async (request: FastifyRequest, reply: FastifyReply) => {
    const wait = limit.spend(addressOf(request));
    if (wait === 0) return;
    reply.header('retry-after', wait);
    throw new HttpProblem('RATE_LIMITED', `Too many sign-ins come from your address. Try again in ${wait} s.`);
  };
  const find = (request: FastifyRequest) => {
    const { provider = '' } = request.params as { readonly provider?: string };
    const found = app.providers?.get(provider);
    if (found === undefined) throw new HttpProblem('ROUTE_NOT_FOUND', 'Nobody signs in with such a provider here.');
    return found;
  };

  const tripOf = (request: FastifyRequest, provider: IdentityProvider, secret: string) =>
    createTrip(baseUrlOf(request), provider, secret);

  server.get('/web/sign-in/:provider', { onRequest: slowDown }, async (request, reply) => {
    checkOwnPage(request);
    const provider = find(request);
    const back = toOwnPath((request.query as { readonly back?: unknown }).back);
    const secret = randomBytes(32).toString('base64url');
    reply.header('cache-control', 'no-store');
    const begun = await provider.begin(tripOf(request, provider, secret));
    if ('problem' in begun) return giveUp(reply, begun.problem, provider, back);
    setTripCookie(reply, [secret, Buffer.from(back ?? '').toString('base64url')].join('.'), isSecure(request));
    return reply.redirect(begun.url, 303);
  });

  server.get('/web/sign-in/:provider/callback', { onRequest: slowDown }, async (request, reply) => {
    const provider = find(request);
    const [secret = '', packed = ''] = (readTripCookie(request, isSecure(request)) ?? '').split('.');
    const back = toOwnPath(Buffer.from(packed, 'base64url').toString());
    const trip = tripOf(request, provider, secret);
    reply.header('cache-control', 'no-store');
    clearTripCookie(reply, isSecure(request));
    if (secret === '' || !isSame(trip.state, (request.query as { readonly state?: unknown }).state)) {
      return giveUp(reply, 'stale', provider, back);
    }
    const query = request.url.slice(request.url.indexOf('?'));
    const identity = await provider.finish(trip, new URL(trip.redirectUri + query));
    if ('problem' in identity) {
      if (identity.problem === 'refused') await refused.record(provider.key, identity.detail);
      else app.log.info({ provider: provider.key, ...identity }, 'sign-in ended without a session');
      return giveUp(reply, identity.problem, provider, back);
    }
    const begun = await beginPersonSessions(app, provider.key, identity);
    if (begun.length === 0) {
      await refused.record(provider.key, 'No role is given to this person.', identity);
      return giveUp(reply, 'no-role', provider, back);
    }
    // A session that the browser had before, of whomever, is not continued.
    for (const former of readSessionCookies(request).values()) await endSession(app, former);
    for (const { organization, secret: own } of begun) {
      setSessionCookie(reply, { organization: organization.slug, secret: own, isSecure: isSecure(request) });
    }
    return reply.redirect(back ?? `/${begun[0]?.organization.slug ?? ''}`, 303);
  });
}

function createTrip(baseUrl: string, { key }: IdentityProvider, secret: string): Trip {
  const derive = (what: string) => createHmac('sha256', secret).update(`${key} ${what}`).digest('base64url');
  const redirectUri = `${baseUrl}/web/sign-in/${key}/callback`;
  return { redirectUri, state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

function giveUp(
  reply: FastifyReply,
  ending: Ending,
  { key }: IdentityProvider,
  back: string | undefined,
): FastifyReply {
  const query = new URLSearchParams({ problem: ending, with: key, ...(back === undefined ? {} : { back }) });
  return reply.redirect(`/login?${query}`, 303);
}

// SPEC A60
function checkOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new HttpProblem('FOREIGN_ORIGIN', 'Only pages of this server begin a sign-in.');
}

/** A path of this server, whatever browsers make of slashes and control characters. Undefined for anything else. */
// SPEC A60
function toOwnPath(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > 2_000 || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(given))
    return undefined;
  const here = 'http://here.invalid';
  if (!URL.canParse(given, here)) return undefined;
  const { origin, pathname, search } = new URL(given, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search : undefined;
}

function isSame(expected: string, given: unknown): boolean {
  if (typeof given !== 'string' || given.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(expected), Buffer.from(given));
}
