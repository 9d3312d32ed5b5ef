import type { Instant } from '../../lib/clock.ts';
import type { Organization, Scope, Token } from '../../storage/accounts.ts';
import type { Repository } from '../../storage/repositories.ts';

/** Whoever holds the token that came with a request. */
export interface Caller {
  readonly organization: Organization;
  readonly tokenId: string;
  /** The token's name: the actor of everything done with it. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Null: every repository of the organization. */
  readonly repositoryIds: ReadonlySet<string> | null;
  /** Of the token; nothing that it makes lasts longer. Absent: for ever. */
  readonly expiresAt?: Instant;
  /** Somebody who asked for it at the forge, and has no token. */
  readonly isPerson?: true;
}

/**
 * `admin` holds every scope of the organization; `instance` stands beside it, for what concerns the whole server.
 * `evidence` is an `upload` that proves where results come from.
 */
export function hasScope(caller: Caller, scope: Scope): boolean {
  if (scope === 'upload' && caller.scopes.has('evidence')) return true;
  return caller.scopes.has(scope) || (scope !== 'instance' && caller.scopes.has('admin'));
}

/** A token that is limited to some repositories has to do only with tokens that are limited to some of the same. */
export function mayManage({ organization, repositoryIds }: Caller, token: Token): boolean {
  if (token.organizationId !== organization.id) return false;
  return repositoryIds === null || (token.repositoryIds?.every((id) => repositoryIds.has(id)) ?? false);
}

export function maySee(caller: Caller, repository: Repository): boolean {
  return (
    repository.organizationId === caller.organization.id &&
    (caller.repositoryIds === null || caller.repositoryIds.has(repository.id))
  );
}
