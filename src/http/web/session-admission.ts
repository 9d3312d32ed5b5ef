import type { FastifyRequest } from 'fastify';
import { findSession } from '../../app/access/sessions.ts';
import type { App } from '../../app/core/app.ts';
import { type Caller, hasScope } from '../../app/core/caller.ts';
import type { Operation } from '../../contract/operation.ts';
import { actFor, findOrganization, type Hook, type RateLimit, refusalOf } from '../core/admission.ts';
import type { BaseUrlOf } from '../core/base-url.ts';
import { HttpProblem } from '../core/problem.ts';
import type { ServerDeps } from '../core/server-deps.ts';
import { readSessionCookies } from './cookies.ts';
import { signedOut } from './signed-out.ts';
import type { Strangers } from './strangers.ts';

// SPEC A35
export function createSessionAdmission(
  deps: ServerDeps & {
    readonly baseUrlOf: BaseUrlOf;
    readonly limit: RateLimit | undefined;
    readonly strangers: Strangers;
  },
): (operation: Operation) => Hook {
  const { app, limit, strangers } = deps;
  return (operation) => (request, reply, done) => {
    const foreign = findForeignOrigin(request, deps.baseUrlOf);
    if (foreign !== undefined) return done(foreign);
    request.readmit = finderOf(request, { app, strangers, operation });
    request.readmit().then(
      (caller) => {
        request.caller = caller;
        if (caller === undefined) done(signedOut());
        else if (caller.isStranger) done(strangers.refusalOf(operation, request, reply));
        else done(refusalOf(caller, { operation, limit, reply }));
      },
      (error) => done(error),
    );
  };
}

/** Apart from the hook, for the reason that `finderOf` in admission.ts has. */
function finderOf(
  request: FastifyRequest,
  { app, strangers, operation }: { readonly app: App; readonly strangers: Strangers; readonly operation: Operation },
): () => Promise<Caller | undefined> {
  return async () => (await findPerson(app, request)) ?? strangers.find(operation, findOrganization(request));
}

/** The session of the organization that the page shows. One with the scope `instance` admits to any organization. */
async function findPerson(app: App, request: FastifyRequest): Promise<Caller | undefined> {
  const cookies = readSessionCookies(request);
  const slug = findOrganization(request);
  const own = slug === undefined ? undefined : cookies.get(slug);
  if (own !== undefined) {
    const found = await findSession(app, own);
    if (found !== undefined) return found.caller;
  }
  for (const secret of cookies.values()) {
    const found = await findSession(app, secret);
    if (found === undefined) continue;
    if (slug === undefined) return found.caller;
    if (hasScope(found.caller, 'instance')) return actFor(app, slug, found.caller);
  }
  return undefined;
}

/** A page of another site cannot send the cookie either: this is the second lock. */
// SPEC A36
export function findForeignOrigin(request: FastifyRequest, baseUrlOf: BaseUrlOf): HttpProblem | undefined {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const isOwnSite = site === undefined || site === 'same-origin';
  if (isOwnSite && (origin === undefined || isOwnOrigin(origin, request, baseUrlOf))) return undefined;
  return new HttpProblem('FOREIGN_ORIGIN', 'Only pages of this server may send this request.');
}

function isOwnOrigin(origin: string, request: FastifyRequest, baseUrlOf: BaseUrlOf): boolean {
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  return host !== '' && (host === request.host || host === new URL(baseUrlOf(request)).host);
}
