import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { describeRights } from '../../app/access/admit.ts';
import { beginSession, endSession, findSession, openSignInLink, type SignedIn } from '../../app/access/sessions.ts';
import type { App } from '../../app/core/app.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { BaseUrlOf } from '../core/base-url.ts';
import { HttpProblem } from '../core/problem.ts';
import type { ServerDeps } from '../core/server-deps.ts';
import { createValidator } from '../core/validate.ts';
import { clearSessionCookie, readSessionCookies, setSessionCookie } from './cookies.ts';
import { findForeignOrigin } from './session-admission.ts';

const SignIn = Type.Object(
  {
    token: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'A token of Sluice.' })),
    link: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'The secret of a sign-in link.' })),
  },
  { additionalProperties: false },
);
const SignOut = Type.Object({ organization: Type.String({ minLength: 1, maxLength: 63 }) });

export function registerSessions(
  server: FastifyInstance,
  { app, baseUrlOf, publicRead }: ServerDeps & { readonly baseUrlOf: BaseUrlOf },
): void {
  const guard = async (request: FastifyRequest) => {
    const problem = findForeignOrigin(request, baseUrlOf);
    if (problem !== undefined) throw problem;
  };
  const isSecure = (request: FastifyRequest) => baseUrlOf(request).startsWith('https:');
  const checkSignIn = createValidator(SignIn);
  const checkSignOut = createValidator(SignOut);

  server.get('/web/sessions', { onRequest: guard }, async (request, reply) => {
    const found = await Promise.all(
      [...readSessionCookies(request).values()].map((secret) => findSession(app, secret)),
    );
    reply.header('cache-control', 'no-store');
    const publicRepositories = (await publicRead?.list()) ?? [];
    const present = found.filter((session) => session !== undefined);
    const providers = [...(app.providers?.values() ?? [])].map(({ key, label }) => ({ key, label }));
    return {
      publicRepositories,
      providers,
      sessions: await Promise.all(present.map((each) => viewSession(app, each))),
    };
  });

  server.post('/web/sessions', { onRequest: guard }, async (request, reply) => {
    checkSignIn(request.body);
    const { token, link } = request.body as { readonly token?: string; readonly link?: string };
    const begun = link === undefined ? await beginSession(app, token?.trim() ?? '') : await openSignInLink(app, link);
    const session = begun === undefined ? undefined : await findSession(app, begun.secret);
    if (begun === undefined || session === undefined) throw refused(link !== undefined);
    const organization = session.caller.organization.slug;
    await endFormer(request, organization);
    setSessionCookie(reply, { organization, secret: begun.secret, isSecure: isSecure(request) });
    return noStore(reply).send(await viewSession(app, session));
  });

  server.post('/web/sessions/end', { onRequest: guard }, async (request, reply) => {
    checkSignOut(request.body);
    const { organization } = request.body as { readonly organization: string };
    const { ended, signOutUrl } = await signOut(request, organization);
    for (const slug of ended) clearSessionCookie(reply, { organization: slug, isSecure: isSecure(request) });
    return noStore(reply).send(signOutUrl === undefined ? {} : { signOutUrl });
  });

  // SPEC A59
  async function signOut(request: FastifyRequest, organization: string) {
    const cookies = readSessionCookies(request);
    const found = await findSession(app, cookies.get(organization) ?? '');
    const leaving = found?.caller.person;
    const ended = [organization.replace(/[^a-z0-9-]/g, '')];
    for (const [slug, secret] of leaving === undefined ? [] : cookies) {
      const other = (await findSession(app, secret))?.caller.person;
      const isSame = other?.provider === leaving?.provider && other?.subject === leaving?.subject;
      if (slug !== organization && isSame) ended.push(slug);
    }
    for (const slug of ended) await endFormer(request, slug);
    const provider = leaving && app.providers?.get(leaving.provider);
    return { ended, signOutUrl: await provider?.findSignOut(`${baseUrlOf(request)}/login`) };
  }

  async function endFormer(request: FastifyRequest, organization: string): Promise<void> {
    const former = readSessionCookies(request).get(organization);
    if (former !== undefined) await endSession(app, former);
  }
}

function noStore(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8');
}

function refused(isLink: boolean): HttpProblem {
  const detail = isLink
    ? 'This link was opened before, or is older than 10 minutes. Make another one with `sluice open`.'
    : 'This token is unknown, revoked or expired. Ask an administrator for another one.';
  return new HttpProblem('INVALID_TOKEN', detail);
}

/** With the rights of a person, so that the dashboard shows no button that would be refused. */
async function viewSession(app: App, { caller, endsAt }: SignedIn) {
  const { name, organization, scopes, person } = caller;
  const view = { name, organization: organization.slug, scopes: [...scopes], endsAt: formatInstant(endsAt) };
  return person === undefined ? view : { ...view, ...(await describeRights(app, organization, person)) };
}
