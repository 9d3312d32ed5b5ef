import type { Permission } from '../../forge/hosting.ts';
import { SSO } from '../../identity/identity.ts';
import type { Clock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { type Grant, highestRole, type Role } from '../../lib/role.ts';
import type { Organization, Scope } from '../../storage/accounts.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import type { Forges, RoleInRepository, RolesOfPeople } from '../core/app.ts';
import { toForgeRepository } from '../core/find-queue.ts';
import { knownGroups, organizationsByTable, roleByTable } from './roles.ts';

interface Parts {
  readonly store: Store;
  readonly forges: Forges;
  readonly clock: Clock;
}

interface Known {
  readonly role: Role | undefined;
  readonly at: number;
}

type Query = { readonly scope: Scope; readonly isToken: boolean };
const READING: Query = { scope: 'read', isToken: false };

const MINUTE_MS = 60_000;
/** An act is allowed by a permission that is no older than this. */
const ACT_FRESH_MS = MINUTE_MS;
/** Every page reads, and each repository costs the App a request. */
const READ_FRESH_MS = 10 * MINUTE_MS;
/** While the forge does not answer, people go on reading for this long. */
const READ_GRACE_MS = 60 * MINUTE_MS;
const MOST_KNOWN = 100_000;
const AT_ONCE = 10;

/** Everybody has `read` in a public repository, so that it allows nothing but reading. */
// SPEC A65
const ROLE_OF: Readonly<Record<Permission, Role | undefined>> = {
  none: undefined,
  read: 'reader',
  triage: 'reader',
  write: 'author',
  maintain: 'maintainer',
  admin: 'admin',
};

/** The roles of people, derived at each request from what their sign-in proved. */
export class People implements RolesOfPeople {
  readonly #parts: Parts;
  #grants: readonly Grant[];
  readonly #known = new Map<string, Known>();

  constructor(parts: Parts, grants: readonly Grant[]) {
    this.#parts = parts;
    this.#grants = grants;
  }

  follow(grants: readonly Grant[]): void {
    this.#grants = grants;
  }

  roleIn({ slug }: Organization, person: ProvenPerson): Role | undefined {
    return this.#byTable(person, { organization: slug, repo: undefined });
  }

  async findRole(
    { slug }: Organization,
    person: ProvenPerson,
    { repository, ...query }: Parameters<RolesOfPeople['findRole']>[2],
  ): Promise<Role | undefined> {
    const byTable = this.#byTable(person, { organization: slug, repo: repository });
    return highestRole([byTable, await this.#byForge(person, repository, query)]);
  }

  async listRoles(
    organization: Organization,
    person: ProvenPerson,
    { within, ...query }: Parameters<RolesOfPeople['listRoles']>[2],
  ): Promise<readonly RoleInRepository[]> {
    const all = (await this.#parts.store.repositories.list(organization.id)).filter(
      ({ id }) => within?.has(id) ?? true,
    );
    const found: RoleInRepository[] = [];
    for (let index = 0; index < all.length; index += AT_ONCE) {
      const some = all.slice(index, index + AT_ONCE);
      const roles = await Promise.all(
        some.map((repository) => orNone(this.findRole(organization, person, { repository, ...query }))),
      );
      found.push(
        ...some.flatMap((repository, at) => (roles[at] === undefined ? [] : [{ repository, role: roles[at] }])),
      );
    }
    return found;
  }

  async listOrganizations(person: ProvenPerson): Promise<readonly string[]> {
    if (person.provider === SSO) return organizationsByTable(this.#grants, person);
    const { repositories, accounts } = this.#parts.store;
    const slugs = new Set<string>();
    const here = (await repositories.listAll()).filter(({ host }) => host === person.provider);
    for (const [id, some] of Map.groupBy(here, ({ organizationId }) => organizationId)) {
      for (const repository of some) {
        if ((await orNone(this.#byForge(person, repository, READING))) === undefined) continue;
        slugs.add((await accounts.findOrganizationById(id))?.slug ?? '');
        break;
      }
    }
    return [...slugs].filter((slug) => slug !== '');
  }

  hasAdministrators({ slug }: Organization): boolean {
    return this.#grants.some(
      ({ organization, place, role }) => organization === slug && place === '' && role === 'admin',
    );
  }

  keepGroups(groups: readonly string[]): readonly string[] {
    return knownGroups(this.#grants, groups);
  }

  /** The table is about the subjects and groups of one provider. */
  #byTable(person: ProvenPerson, of: Parameters<typeof roleByTable>[2]): Role | undefined {
    return person.provider === SSO ? roleByTable(this.#grants, person, of) : undefined;
  }

  /** A person who signed in at a forge has the role that the permission there gives. */
  // SPEC A66
  async #byForge(person: ProvenPerson, repository: Repository, { scope, isToken }: Query): Promise<Role | undefined> {
    const { host, id, blockedReason } = repository;
    const login = person.logins[host];
    const hosting = this.#parts.forges.get(host)?.hosting;
    if (person.provider !== host || login === undefined || hosting === undefined || blockedReason !== null) {
      return undefined;
    }
    const now = this.#parts.clock.now();
    const key = `${id} ${person.subject}`;
    const known = this.#known.get(key);
    const age = known === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - known.at);
    if (known !== undefined && age < (scope === 'read' && !isToken ? READ_FRESH_MS : ACT_FRESH_MS)) return known.role;
    try {
      const role = ROLE_OF[await hosting.findPermission(toForgeRepository(repository), login, person.subject)];
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(key, { role, at: now });
      return role;
    } catch (error) {
      if (known !== undefined && scope === 'read' && age < READ_GRACE_MS && error instanceof Fault) return known.role;
      throw error;
    }
  }
}

/** A repository whose forge does not answer, as after the App was uninstalled, does not hide the others. */
async function orNone(role: Promise<Role | undefined>): Promise<Role | undefined> {
  try {
    return await role;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
