import type * as accessContract from '../../contract/access.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { Identity } from '../../identity/identity.ts';
import { personName } from '../../lib/actor-name.ts';
import { formatInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Organization } from '../../storage/accounts.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { PersonSession } from '../../storage/sessions.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { actEvent, actorFor, type Happening, SLUICE } from '../core/feed-event.ts';
import { type Answer, refuse } from '../core/refusal.ts';
import { isOf, renewTokens, revokeTokens } from './api-tokens.ts';
import { hashTokenSecret } from './authenticate.ts';
import { makeSecret, personEnd } from './sessions.ts';

interface BegunSession {
  readonly organization: Organization;
  readonly secret: string;
}

/** A browser sends no more cookies than this. */
const MOST_ORGANIZATIONS = 20;

// SPEC A58
export async function beginPersonSessions(
  app: App,
  provider: string,
  { subject, name, groups, logins }: Identity,
): Promise<readonly BegunSession[]> {
  const person: ProvenPerson = { provider, subject, name, groups: app.people?.keepGroups(groups) ?? [], logins };
  await renewTokens(app, person);
  const slugs = (await app.people?.listOrganizations(person)) ?? [];
  const begun: BegunSession[] = [];
  for (const slug of slugs.slice(0, MOST_ORGANIZATIONS)) {
    const organization = await app.store.accounts.findOrganization(slug);
    if (organization !== undefined) begun.push(await begin(app, organization, person));
  }
  if (begun.length > 0) app.feed.wake();
  return begun;
}

async function begin(app: App, organization: Organization, person: ProvenPerson): Promise<BegunSession> {
  const at = app.clock.now();
  const secret = makeSecret();
  const hash = hashTokenSecret(secret);
  const { id: organizationId } = organization;
  const times = { createdAt: at, usedAt: at };
  const name = personName(person);
  await app.store.sessions.insert({ hash, tokenId: '', ...times, isLink: false, organizationId, person }, [
    sessionEvent(app, organization, {
      type: 'session.begun',
      actor: actorFor({ isPerson: true, name }),
      text: `${name} signed in.`,
      data: { ...factsOf(person), sessionId: hash, groups: person.groups },
    }),
  ]);
  return { organization, secret };
}

/** Strangers can fail as often as they like, and records of the audit stay for ever. */
const MOST_REFUSALS_AN_HOUR = 100;
const HOUR_MS = 3_600_000;

/** Records sign-ins that were refused, in the audit of the configured organization. */
export class RefusedSignIns {
  readonly #app: App;
  #hour = { from: 0, count: 0 };

  constructor(app: App) {
    this.#app = app;
  }

  // SPEC A61
  async record(provider: string, detail: string, person?: Pick<Identity, 'subject' | 'name'>): Promise<void> {
    const app = this.#app;
    const now = app.clock.now();
    app.log.warn({ provider, detail, subject: person?.subject }, 'sign-in refused');
    if (Math.abs(now - this.#hour.from) >= HOUR_MS) this.#hour = { from: now, count: 0 };
    this.#hour.count += 1;
    const organization = await app.store.accounts.findOrganization(app.admin.slug);
    if (organization === undefined || this.#hour.count > MOST_REFUSALS_AN_HOUR) return;
    const who = person === undefined ? '' : ` of ${personName({ provider, ...person })}`;
    const happening = {
      type: 'session.refused',
      actor: SLUICE,
      text: `A sign-in${who} with ${provider} was refused. ${detail}`,
      data: { provider, detail, ...present({ subject: person?.subject }) },
    };
    await app.store.feed.add([sessionEvent(app, organization, happening)]);
    app.feed.wake();
  }
}

// SPEC A62
export async function listSessions(app: App, caller: Caller): Answer<ReplyOf<typeof accessContract.listSessions>> {
  if (!isWhole(caller)) return forWhole();
  const now = app.clock.now();
  const all = await app.store.sessions.listPeople(caller.organization.id);
  return { sessions: all.filter((session) => personEnd(session) > now).map(viewSession) };
}

export async function revokeSession(
  app: App,
  caller: Caller,
  { id }: { readonly id: string },
): Answer<ReplyOf<typeof accessContract.revokeSession>> {
  if (!isWhole(caller)) return forWhole();
  const { organization } = caller;
  const known = (await app.store.sessions.listPeople(organization.id)).find(({ hash }) => hash === id);
  if (known === undefined) return refuse('SESSION_NOT_FOUND', 'There is no such session of a person any more.');
  const event = sessionEvent(app, organization, {
    type: 'session.revoked',
    actor: actorFor(caller),
    text: `${caller.name} ended the session of ${personName(known.person)}.`,
    data: { ...factsOf(known.person), sessionId: id },
  });
  await app.store.sessions.revoke(organization.id, id, [event]);
  const own = (await app.store.accounts.listTokens(organization.id)).filter(
    (token) => token.revokedAt === null && isOf(known.person, token),
  );
  await revokeTokens(app, caller, own);
  return { revokedTokens: own.length };
}

function isWhole(caller: Caller): boolean {
  return caller.repositoryIds === null && hasScope(caller, 'admin');
}

function forWhole() {
  return refuse('INSUFFICIENT_SCOPE', 'Sessions are for those with the scope "admin" in all repositories.');
}

function viewSession(session: PersonSession) {
  const { hash, person, createdAt, usedAt } = session;
  return {
    id: hash,
    name: personName(person),
    provider: person.provider,
    subject: person.subject,
    createdAt: formatInstant(createdAt),
    lastUsedAt: formatInstant(usedAt),
    expiresAt: formatInstant(personEnd(session)),
  };
}

function factsOf({ provider, subject, name }: ProvenPerson) {
  return { provider, subject, name };
}

function sessionEvent({ clock }: App, { id }: Organization, happening: Happening): FeedDraft {
  return actEvent(clock.now(), happening, { organizationId: id });
}
