import { randomUUID } from 'node:crypto';
import type * as accessContract from '../../contract/access.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import { isPersonName } from '../../lib/actor-name.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { Scope, Token } from '../../storage/accounts.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope, mayManage } from '../core/caller.ts';
import { actEvent, actorFor } from '../core/feed-event.ts';
import { findRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { hashTokenSecret, makeTokenSecret } from './authenticate.ts';

interface CreateApiToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly repositories: readonly RepositoryRef[] | undefined;
  readonly expiresAt: Instant | undefined;
}

export async function createApiToken(
  app: App,
  caller: Caller,
  input: CreateApiToken,
): Answer<TokenView & { readonly token: string }> {
  const at = app.clock.now();
  const problem = findProblem(caller, input, at);
  if (problem !== undefined) return problem;
  const repositories = await resolveRepositories(app, caller, input.repositories);
  if (isRefusal(repositories)) return repositories;
  const secret = makeTokenSecret();
  const token: Token = {
    id: randomUUID(),
    organizationId: caller.organization.id,
    name: input.name,
    hash: hashTokenSecret(secret),
    scopes: [...new Set(input.scopes)],
    repositoryIds: repositories?.map((repository) => repository.id) ?? null,
    origin: 'api',
    createdAt: at,
    expiresAt: input.expiresAt ?? caller.expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
  };
  await app.store.accounts.insertToken(token, [tokenEvent(app, caller, { token, act: 'created' })]);
  app.feed.wake();
  return { ...viewToken(token, repositories ?? []), token: secret };
}

/** A token cannot create one with more permissions or a longer life than its own. */
// SPEC A10, A11, A21
// SPEC A61
function findProblem(caller: Caller, input: CreateApiToken, at: Instant): Refusal | undefined {
  if (input.expiresAt !== undefined && input.expiresAt <= at) {
    return refuseField('/expiresAt', 'must be in the future');
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

/** A limited token cannot create one that reaches further. */
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
  const repositories: Repository[] = [];
  for (const ref of refs) {
    const repository = await findRepository(app, caller, ref);
    if (isRefusal(repository)) return repository;
    repositories.push(repository);
  }
  return repositories;
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
  input: { readonly id: string },
): Answer<Record<string, never>> {
  const { accounts } = app.store;
  const tokens = await accounts.listTokens(caller.organization.id);
  const token = tokens.find(({ id }) => id === input.id);
  if (token === undefined || !mayManage(caller, token)) {
    return refuse('TOKEN_NOT_FOUND', `This organization has no token with the id ${input.id}.`);
  }
  if (token.scopes.includes('instance') && !hasScope(caller, 'instance')) {
    return refuse('INSUFFICIENT_SCOPE', 'Only a token with the scope "instance" can revoke another one with it.');
  }
  const feed = [tokenEvent(app, caller, { token, act: 'revoked' })];
  await accounts.revokeToken(caller.organization.id, input.id, app.clock.now(), feed);
  app.auth.forget();
  app.feed.wake();
  return {};
}

/** Neither the secret nor its hash is in it. */
function tokenEvent(
  app: App,
  caller: Caller,
  { token, act }: { readonly token: Token; readonly act: 'created' | 'revoked' },
): FeedDraft {
  const { id, name, scopes, expiresAt } = token;
  const happening = {
    type: `token.${act}`,
    actor: actorFor(caller),
    text: `${caller.name} ${act} the token "${name}" (${scopes.join(', ')}).`,
    data: { tokenId: id, name, scopes, expiresAt: optionalInstant(expiresAt) },
  };
  return actEvent(app.clock.now(), happening, { organizationId: caller.organization.id });
}

type TokenView = ReplyOf<typeof accessContract.listApiTokens>['tokens'][number];

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
    expiresAt: optionalInstant(token.expiresAt),
    lastUsedAt: optionalInstant(token.lastUsedAt),
    revokedAt: optionalInstant(token.revokedAt),
  };
}

function optionalInstant(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant);
}
