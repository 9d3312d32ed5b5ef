import { randomBytes } from 'node:crypto';
import type * as accessContract from '../../contract/access.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import { personName } from '../../lib/actor-name.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { Organization, Token } from '../../storage/accounts.ts';
import type { FoundSession, PersonSession, Session } from '../../storage/sessions.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Answer, refuse } from '../core/refusal.ts';
import { endOf as endOfToken, hashTokenSecret, isGood, toCaller } from './authenticate.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A session ends this long after its last use. */
const IDLE_MS = 12 * HOUR_MS;
const LONGEST_MS = 7 * 24 * HOUR_MS;
const LINK_MS = 10 * MINUTE_MS;
/** A write per request would cost more than the request. */
const USE_EVERY_MS = MINUTE_MS;
/** A person who left a group keeps its roles for this long at most. */
const PERSON_LONGEST_MS = 8 * HOUR_MS;
const PERSON_IDLE_MS = 4 * HOUR_MS;

export interface SignedIn {
  readonly caller: Caller;
  readonly endsAt: Instant;
}

/** Begins a session with the rights of a token. Undefined for a token that is unknown, revoked or expired. */
// SPEC A33
export async function beginSession(app: App, tokenSecret: string): Promise<{ readonly secret: string } | undefined> {
  const at = app.clock.now();
  const found = await app.store.accounts.findToken(hashTokenSecret(tokenSecret));
  if (found === undefined || !isGood(found.token, at)) return undefined;
  const secret = makeSecret();
  await app.store.sessions.insert(newSession(found.token.id, { secret, at, isLink: false }));
  await app.store.accounts.recordTokenUse(new Map([[found.token.id, at]]));
  return { secret };
}

// SPEC A34
export async function findSession(app: App, secret: string): Promise<SignedIn | undefined> {
  const found = await app.store.sessions.find(hashTokenSecret(secret));
  const now = app.clock.now();
  if (found === undefined || found.session.isLink) return undefined;
  const endsAt = found.token === undefined ? personEnd(found.session) : endOf(found.session, found.token);
  if (endsAt <= now || (found.token !== undefined && !isGood(found.token, now))) return undefined;
  if (now - found.session.usedAt >= USE_EVERY_MS) await recordUse(app, found, now);
  const { organization } = found;
  const caller =
    found.token === undefined ? toPersonCaller(app, organization, found.session) : toCaller(found.token, organization);
  return caller && { caller, endsAt };
}

/** It may do nothing until the request is known. Undefined if people do not sign in with that provider any more. */
// SPEC A48
function toPersonCaller({ providers }: App, organization: Organization, session: PersonSession): Caller | undefined {
  const { person, createdAt: signedInAt } = session;
  if (providers?.has(person.provider) !== true) return undefined;
  return {
    organization,
    // Repeated requests are known by it, and mean another thing in another organization.
    tokenId: `${person.provider}:${person.subject}@${organization.slug}`,
    name: personName(person),
    scopes: new Set(),
    repositoryIds: new Set(),
    isPerson: true,
    person,
    signedInAt,
  };
}

// SPEC A58
export function personEnd({ createdAt, usedAt }: Session): Instant {
  return Math.min(createdAt + PERSON_LONGEST_MS, usedAt + PERSON_IDLE_MS);
}

function endOf(session: Session, token: Token): Instant {
  const ends = [
    session.usedAt + IDLE_MS,
    session.createdAt + LONGEST_MS,
    endOfToken(token) ?? Number.POSITIVE_INFINITY,
  ];
  return Math.min(...ends);
}

async function recordUse({ store, log }: App, { session, token }: FoundSession, now: Instant): Promise<void> {
  try {
    await store.sessions.recordUse(session.hash, now);
    if (token !== undefined) await store.accounts.recordTokenUse(new Map([[token.id, now]]));
  } catch (error) {
    // The next request records it.
    log.warn({ err: error }, 'could not record the use of a session');
  }
}

export async function endSession(app: App, secret: string): Promise<void> {
  await app.store.sessions.remove(hashTokenSecret(secret));
}

/** The link is for the one who made it: it signs in with the same token. A person has none. */
// SPEC A37
export async function createSignInLink(
  app: App,
  { tokenId, person }: Pick<Caller, 'tokenId' | 'person'>,
  baseUrl: string,
): Answer<ReplyOf<typeof accessContract.createSignInLink>> {
  if (person !== undefined)
    return refuse('INSUFFICIENT_SCOPE', 'A link is made with a token. You are signed in already.');
  const at = app.clock.now();
  const secret = makeSecret();
  await app.store.sessions.insert(newSession(tokenId, { secret, at, isLink: true }));
  // Browsers keep what follows # to themselves: it is in no log and no Referer.
  return { url: `${baseUrl}/login#${secret}`, expiresAt: formatInstant(at + LINK_MS) };
}

// SPEC A37
export async function openSignInLink(app: App, link: string): Promise<{ readonly secret: string } | undefined> {
  const at = app.clock.now();
  const secret = makeSecret();
  const session = { hash: hashTokenSecret(secret), at, madeAfter: at - LINK_MS };
  return (await app.store.sessions.openLink(hashTokenSecret(link), session)) ? { secret } : undefined;
}

export async function removeEndedSessions({ store, clock }: Pick<App, 'store' | 'clock'>): Promise<void> {
  const now = clock.now();
  await store.sessions.tidy({ begun: now - LONGEST_MS, used: now - IDLE_MS });
}

export function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

function newSession(tokenId: string, of: { readonly secret: string; readonly at: Instant; readonly isLink: boolean }) {
  const nobody = { organizationId: null, person: null };
  return { hash: hashTokenSecret(of.secret), tokenId, createdAt: of.at, usedAt: of.at, isLink: of.isLink, ...nobody };
}
