import type { Role } from '../../lib/role.ts';
import type { Organization, Scope } from '../../storage/accounts.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { ProvenPerson } from '../../storage/sessions.ts';
import type { App, RoleInRepository, RolesOfPeople } from '../core/app.ts';
import { type Grant, knownGroups, organizationsByTable, roleByTable } from './roles.ts';

/** The roles of people, derived at each request from what their sign-in proved. */
export class People implements RolesOfPeople {
  readonly #directory: App['directory'];
  readonly #grants: readonly Grant[];

  constructor({ directory }: Pick<App, 'directory'>, grants: readonly Grant[]) {
    this.#directory = directory;
    this.#grants = grants;
  }

  roleIn({ slug }: Organization, person: ProvenPerson): Role | undefined {
    return this.#byTable(person, { organization: slug, repo: undefined });
  }

  async findRole(
    { slug }: Organization,
    person: ProvenPerson,
    { repository }: { readonly repository: Repository; readonly scope: Scope },
  ): Promise<Role | undefined> {
    return this.#byTable(person, { organization: slug, repo: repository });
  }

  async listRoles(organization: Organization, person: ProvenPerson): Promise<readonly RoleInRepository[]> {
    const found: RoleInRepository[] = [];
    for (const repository of await this.#directory.listRepositories(organization.id)) {
      const role = await this.findRole(organization, person, { repository, scope: 'read' });
      if (role !== undefined) found.push({ repository, role });
    }
    return found;
  }

  /** The slugs of the organizations in which the person has any role. */
  async listOrganizations(person: ProvenPerson): Promise<readonly string[]> {
    return organizationsByTable(this.#grants, person);
  }

  keepGroups(groups: readonly string[]): readonly string[] {
    return knownGroups(this.#grants, groups);
  }

  #byTable(person: ProvenPerson, of: Parameters<typeof roleByTable>[2]): Role | undefined {
    return roleByTable(this.#grants, person, of);
  }
}
