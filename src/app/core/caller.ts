import type { Instant } from '../../lib/clock.ts';
import type { Organization, Scope, Token } from '../../storage/accounts.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { Repository } from '../../storage/repositories.ts';

/** The holder of the token that came with a request, a person who signed in, or a person at the forge. */
export interface Caller {
  readonly organization: Organization;
  /** Of a person who signed in: the provider, the subject and the organization. */
  readonly tokenId: string;
  /** The token's name: the actor of everything done with it. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Null: every repository of the organization. */
  readonly repositoryIds: ReadonlySet<string> | null;
  /** When the token expires: a token that it creates expires no later. Absent: never. */
  readonly expiresAt?: Instant;
  /** The caller is a person, who commented or labelled at the forge or signed in, and has no token. */
  readonly isPerson?: true;
  /** The person signed in. Without scopes until the request is known (`admit`). */
  readonly person?: ProvenPerson;
  /** The person who made the token: it allows no more than that person may do (`admit`). Absent: it is for a service. */
  readonly maker?: ProvenPerson;
  /** The last sign-in of `person` or `maker`. */
  readonly signedInAt?: Instant;
  /** A program that writes pull requests: by its token, or a bot of the forge. */
  readonly isAgent?: true;
  /** The caller has no session. The dashboard shows public repositories to anybody. */
  readonly isStranger?: true;
}

// SPEC A3, A14
export function hasScope(caller: Caller, scope: Scope): boolean {
  if (scope === 'upload' && caller.scopes.has('evidence')) return true;
  return caller.scopes.has(scope) || (scope !== 'instance' && caller.scopes.has('admin'));
}

// SPEC A15, X27
export function mayManage(
  { organization, repositoryIds }: Caller,
  managed: Pick<Token, 'organizationId'> & { readonly repositoryIds: readonly string[] | null },
): boolean {
  if (managed.organizationId !== organization.id) return false;
  return repositoryIds === null || (managed.repositoryIds?.every((id) => repositoryIds.has(id)) ?? false);
}

// SPEC A4
export function maySee(caller: Caller, repository: Repository): boolean {
  return (
    repository.organizationId === caller.organization.id &&
    (caller.repositoryIds === null || caller.repositoryIds.has(repository.id))
  );
}
