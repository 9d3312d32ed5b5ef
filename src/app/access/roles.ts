import { type Grant, highestRole, type Role } from '../../lib/role.ts';
import type { Scope } from '../../storage/accounts.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';

// SPEC A49
const SCOPES_OF: Readonly<Record<Role, readonly Scope[]>> = {
  reader: ['read'],
  author: ['read', 'submit'],
  maintainer: ['read', 'submit', 'maintain'],
  admin: ['admin'],
};

export function scopesOf(role: Role): readonly Scope[] {
  return SCOPES_OF[role];
}

export function roleFor(scope: Scope): Role {
  if (scope === 'read') return 'reader';
  if (scope === 'submit') return 'author';
  return scope === 'maintain' ? 'maintainer' : 'admin';
}

type Who = Pick<ProvenPerson, 'subject' | 'groups'>;

/** The role that the table gives in a repository; without one, in the organization as a whole. */
// SPEC A53
export function roleByTable(
  grants: readonly Grant[],
  { subject, groups }: Who,
  of: { readonly organization: string; readonly repo: RepositoryRef | undefined },
): Role | undefined {
  const isFor = ({ who: { kind, name } }: Grant) =>
    kind === 'everyone' || (kind === 'user' ? name === subject : groups.includes(name));
  const given = grants.filter((grant) => grant.organization === of.organization && isFor(grant));
  return highestRole(given.filter((grant) => isWithin(grant, of.repo)).map(({ role }) => role));
}

/** The organizations in which the table gives a role in any place. */
export function organizationsByTable(grants: readonly Grant[], who: Who): readonly string[] {
  const all = [...new Set(grants.map(({ organization }) => organization))];
  return all.filter((organization) =>
    grants.some(
      (grant) =>
        grant.organization === organization &&
        roleByTable([{ ...grant, place: '', isExact: false }], who, { organization, repo: undefined }) !== undefined,
    ),
  );
}

/** The groups that can matter. A provider may name thousands. */
export function knownGroups(grants: readonly Grant[], groups: readonly string[]): readonly string[] {
  const known = new Set(grants.flatMap(({ who }) => (who.kind === 'group' ? [who.name] : [])));
  return [...new Set(groups)].filter((group) => known.has(group));
}

function isWithin({ place, isExact }: Grant, repo: RepositoryRef | undefined): boolean {
  if (place === '') return true;
  if (repo === undefined) return false;
  const name = `${repo.host}/${repo.owner}/${repo.name}`.toLowerCase();
  return isExact ? name === place.toLowerCase() : name.startsWith(`${place.toLowerCase()}/`);
}
