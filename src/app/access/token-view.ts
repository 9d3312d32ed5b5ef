import type { listApiTokens } from '../../contract/access.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { Token } from '../../storage/accounts.ts';
import type { Repository } from '../../storage/repositories.ts';

export type TokenView = ReplyOf<typeof listApiTokens>['tokens'][number];

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
