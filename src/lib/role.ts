/** The roles of a person in a repository, from the least to the most. */
export const ROLES = ['reader', 'author', 'maintainer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

export function highestRole(roles: Iterable<Role | undefined>): Role | undefined {
  let highest = -1;
  for (const role of roles) highest = Math.max(highest, role === undefined ? -1 : ROLES.indexOf(role));
  return ROLES[highest];
}

export interface Grant {
  readonly who: { readonly kind: 'everyone' | 'group' | 'user'; readonly name: string };
  readonly organization: string;
  /** `host`, `host/owner` or `host/owner/name`. Empty: the whole organization. */
  readonly place: string;
  /** The place is one repository, and not all that begin with it. */
  readonly isExact: boolean;
  readonly role: Role;
}
