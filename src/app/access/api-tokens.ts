import type * as accessContract from '../../contract/access.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { isPersonName, personName } from '../../lib/actor-name.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import type { Token } from '../../storage/accounts.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope, mayManage } from '../core/caller.ts';
import { actEvent, actorFor, SLUICE } from '../core/feed-event.ts';
import { findRepositories } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { endOf, isGood, makeTokenSecret } from './authenticate.ts';
import { newToken } from './organizations.ts';

type CreateApiToken = RequestOf<typeof accessContract.createApiToken>;

const DAY_MS = 24 * 3_600_000;
const DEFAULT_DAYS = 90;

export async function createApiToken(
  app: App,
  caller: Caller,
  input: CreateApiToken,
): Answer<TokenView & { readonly token: string }> {
  const at = app.clock.now();
  // A person may make it for a service, and not for themselves.
  const person = input.service ? undefined : (caller.person ?? caller.maker);
  const latest = person && at + (app.tokenDays ?? DEFAULT_DAYS) * DAY_MS;
  const problem = findProblem(caller, input, { at, latest });
  if (problem !== undefined) return problem;
  const repositories = await resolveRepositories(app, caller, input.repositories);
  if (isRefusal(repositories)) return repositories;
  // SPEC A69, A78
  if (person === undefined && caller.repositoryIds !== null) {
    const who = 'administrators of the whole organization';
    return refuse('INSUFFICIENT_SCOPE', `Only ${who} make tokens that belong to no person.`);
  }
  const secret = makeTokenSecret();
  const ends = [input.expiresAt ?? caller.expiresAt, latest].filter((end) => end !== undefined);
  const token = newToken(secret, {
    ...{ organizationId: caller.organization.id, name: input.name, origin: 'api', createdAt: at },
    scopes: [...new Set(input.scopes)],
    expiresAt: ends.length === 0 ? null : Math.min(...ends),
    repositoryIds: repositories?.map((repository) => repository.id) ?? null,
    madeBy: caller.name,
    person: person ?? null,
    signedInAt: person === undefined ? null : (caller.signedInAt ?? at),
    isAgent: input.agent === true || caller.isAgent === true,
  });
  await app.store.accounts.insertToken(token, [tokenEvent(app, caller, { token, act: 'created' })]);
  app.feed.wake();
  return { ...viewToken(token, repositories ?? []), token: secret };
}

// SPEC A10, A11, A21, A73
// SPEC A61
function findProblem(
  caller: Caller,
  input: CreateApiToken,
  { at, latest }: { readonly at: Instant; readonly latest: Instant | undefined },
): Refusal | undefined {
  if (input.expiresAt !== undefined && input.expiresAt <= at) {
    return refuseField('/expiresAt', 'must be in the future');
  }
  if (input.expiresAt !== undefined && latest !== undefined && input.expiresAt > latest) {
    const days = Math.round((latest - at) / DAY_MS);
    return refuseField('/expiresAt', `must be within ${days} days, as tokens of people last no longer here`);
  }
  if (isPersonName(input.name)) {
    return refuseField(
      '/name',
      'must not look like a person: the audit would show one. Leave out the @ or the parentheses',
    );
  }
  if (input.scopes.includes('instance') && input.repositories !== undefined) {
    return refuseField(
      '/repositories',
      'cannot limit a token with the scope "instance", which is for the whole server',
    );
  }
  const missing = input.scopes.find((scope) => !hasScope(caller, scope));
  if (missing !== undefined) {
    return refuse('INSUFFICIENT_SCOPE', `Only a token with the scope "${missing}" can make another one with it.`);
  }
  if (caller.expiresAt === undefined || (input.expiresAt ?? at) <= caller.expiresAt) return undefined;
  const until = formatInstant(caller.expiresAt);
  return refuse('INSUFFICIENT_SCOPE', `This token expires at ${until}: one that it makes cannot last longer.`);
}

// SPEC A15
async function resolveRepositories(
  app: App,
  caller: Caller,
  refs: readonly RepositoryRef[] | undefined,
): Answer<readonly Repository[] | undefined> {
  if (refs === undefined) {
    if (caller.repositoryIds === null) return undefined;
    return refuse('INSUFFICIENT_SCOPE', 'This token is limited to some repositories: name those the new one is for.');
  }
  return findRepositories(app, caller, refs);
}

export async function listApiTokens(app: App, caller: Caller): Promise<{ readonly tokens: readonly TokenView[] }> {
  const tokens = await app.store.accounts.listTokens(caller.organization.id);
  const repositories = await app.store.repositories.list(caller.organization.id);
  return { tokens: tokens.filter((token) => mayManage(caller, token)).map((token) => viewToken(token, repositories)) };
}

// SPEC A11
export async function revokeApiToken(
  app: App,
  caller: Caller,
  input: RequestOf<typeof accessContract.revokeApiToken>,
): Answer<Record<string, never>> {
  const tokens = await app.store.accounts.listTokens(caller.organization.id);
  const token = tokens.find(({ id }) => id === input.id);
  if (token === undefined || !mayManage(caller, token)) {
    return refuse('TOKEN_NOT_FOUND', `This organization has no token with the id ${input.id}.`);
  }
  if (token.scopes.includes('instance') && !hasScope(caller, 'instance')) {
    return refuse('INSUFFICIENT_SCOPE', 'Only a token with the scope "instance" can revoke another one with it.');
  }
  if (!input.evenIfLast && isLastWayIn(app, caller, { token, tokens })) {
    return refuse(
      'LAST_ADMINISTRATOR',
      `Without the token "${token.name}" no administrator gets into this organization: the way back is a restart of the server with another SLUICE_ADMIN_TOKEN. Make another token with the scope "admin" first, or send evenIfLast (sluice token revoke --even-if-last).`,
    );
  }
  await revokeTokens(app, caller, [token]);
  return {};
}

// SPEC A72
function isLastWayIn(
  { clock, people }: App,
  { organization }: Caller,
  { token, tokens }: { readonly token: Token; readonly tokens: readonly Token[] },
): boolean {
  const opens = (each: Token) =>
    each.scopes.includes('admin') && each.repositoryIds === null && isGood(each, clock.now());
  if (!opens(token) || people?.hasAdministrators(organization) === true) return false;
  return !tokens.some((each) => each.id !== token.id && opens(each));
}

export async function revokeTokens(app: App, caller: Caller, tokens: readonly Token[]): Promise<void> {
  for (const token of tokens) {
    const feed = [tokenEvent(app, caller, { token, act: 'revoked' })];
    await app.store.accounts.revokeToken(caller.organization.id, token.id, app.clock.now(), feed);
  }
  app.auth.forget();
  app.feed.wake();
}

/** Neither the secret nor its hash is in it. */
function tokenEvent(
  app: App,
  caller: Caller,
  { token, act }: { readonly token: Token; readonly act: 'created' | 'revoked' },
): FeedDraft {
  const { id, name, scopes, madeBy } = token;
  const happening = {
    type: `token.${act}`,
    actor: actorFor(caller),
    text: `${caller.name} ${act} the token "${name}" (${scopes.join(', ')}).`,
    data: { tokenId: id, name, scopes, expiresAt: optionalInstant(endOf(token)), madeBy },
  };
  return actEvent(app.clock.now(), happening, { organizationId: caller.organization.id });
}

type TokenView = ReplyOf<typeof accessContract.listApiTokens>['tokens'][number];

// SPEC A68
function viewToken(token: Token, repositories: readonly Repository[]): TokenView {
  const allowed = token.repositoryIds;
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    repositories:
      allowed === null
        ? null
        : repositories
            .filter((repository) => allowed.includes(repository.id))
            .map(({ host, owner, name }) => ({ host, owner, name })),
    createdAt: formatInstant(token.createdAt),
    expiresAt: optionalInstant(endOf(token)),
    lastUsedAt: optionalInstant(token.lastUsedAt),
    revokedAt: optionalInstant(token.revokedAt),
    madeBy: token.madeBy,
    isPersonal: token.person !== null,
    isAgent: token.isAgent,
  };
}

/** Rounds come once a day, and the event is to come 14 days before the end. */
const TOLD_BEFORE_MS = 15 * DAY_MS;

export function isOf(person: ProvenPerson, { person: maker }: Token): boolean {
  return maker?.provider === person.provider && maker.subject === person.subject;
}

// SPEC A71
export async function renewTokens(app: App, person: ProvenPerson): Promise<void> {
  const own = (await app.store.accounts.listTokensOfPeople()).filter((token) => isOf(person, token));
  if (own.length === 0) return;
  const ids = own.map(({ id }) => id);
  await app.store.accounts.recordSignIn(ids, person, app.clock.now());
  app.auth.forget();
}

/** Tells once of each token of a person that ends soon. A short-lived one was meant to. */
// SPEC A74
export async function tellOfEnds({ store, clock, feed }: App): Promise<void> {
  const now = clock.now();
  for (const token of await store.accounts.listTokensOfPeople()) {
    const end = endOf(token);
    const { id: tokenId, organizationId, name, person, expiresAt, createdAt } = token;
    if (end === null || person === null || !isGood(token, now) || end - now > TOLD_BEFORE_MS) continue;
    if (end - createdAt <= TOLD_BEFORE_MS) continue;
    const isIdle = end !== expiresAt;
    const next = isIdle ? 'It goes on if they sign in before.' : 'Make another one before.';
    const happening = {
      type: 'token.expiring',
      actor: SLUICE,
      text: `The token "${name}" of ${personName(person)} ends at ${formatInstant(end)}. ${next}`,
      data: { tokenId, name, madeBy: token.madeBy, expiresAt: formatInstant(end) },
    };
    const once = { source: `token-end/${tokenId}`, version: Math.floor(end / DAY_MS) };
    await store.feed.addOnce(organizationId, [{ ...actEvent(now, happening, { organizationId }), ...once }]);
  }
  feed.wake();
}
