import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { Scope, Token } from '../../storage/accounts.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';

export interface TokenView {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: every repository of the organization. */
  readonly repositories: readonly RepositoryRef[] | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

export function viewToken(token: Token, repositories: readonly Repository[]): TokenView {
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
