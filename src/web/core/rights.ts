import type { Repo } from './route.ts';

interface RepositoryRights {
  readonly repo: Repo;
  readonly role: string;
  readonly scopes: readonly string[];
}

/** The rights of a session. `repositories` is there for a person, whose role differs among them. */
export interface Rights {
  readonly scopes: readonly string[];
  readonly role?: string;
  readonly repositories?: readonly RepositoryRights[];
  /** The proven logins at forges, by host. */
  readonly logins?: Readonly<Record<string, string>>;
}

function rightsIn({ repositories, scopes, role }: Rights, repo: Repo | undefined) {
  const found = repositories?.find(
    (each) => each.repo.host === repo?.host && each.repo.owner === repo.owner && each.repo.name === repo.name,
  );
  return found ?? { scopes, role };
}

/** The role of a person in what is shown. Undefined for the session of a token. */
export function roleIn(rights: Rights, repo: Repo | undefined): string | undefined {
  return rightsIn(rights, repo).role;
}

/** Whether the server would allow it. `admin` includes every scope of its organization. */
// SPEC A63
export function isAllowed(
  rights: Rights,
  scope: string,
  of: { readonly repo?: Repo; readonly author?: string },
): boolean {
  const { scopes, role } = rightsIn(rights, of.repo);
  if (!scopes.includes(scope) && (scope === 'instance' || !scopes.includes('admin'))) return false;
  if (role !== 'author' || scope !== 'submit') return true;
  const login = rights.logins?.[of.repo?.host ?? '']?.toLowerCase();
  return login !== undefined && (of.author === undefined || of.author.toLowerCase() === login);
}
