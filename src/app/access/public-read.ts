import type { Organization } from '../../storage/accounts.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';

interface Named {
  readonly text: string;
  readonly organization: string;
  readonly repo: RepositoryRef;
}

interface Shared {
  readonly organization: Organization;
  readonly repositoryIds: ReadonlySet<string>;
}

interface PublicRepository {
  readonly organization: string;
  readonly repo: RepositoryRef;
}

/** Every page of every stranger asks for the list, and names rarely change. */
const FRESH_MS = 5_000;

export class PublicRead {
  readonly #clock: App['clock'];
  readonly #directory: App['directory'];
  #listed: { readonly at: number; readonly list: Promise<readonly PublicRepository[]> } | undefined;
  readonly #shared: ReadonlyMap<string, Shared>;

  constructor({ clock, directory }: Pick<App, 'clock' | 'directory'>, shared: readonly Shared[]) {
    this.#clock = clock;
    this.#directory = directory;
    this.#shared = new Map(shared.map((each) => [each.organization.slug, each]));
  }

  /** The caller without a session. Undefined where nothing of the organization is public. */
  findStranger(slug: string): Caller | undefined {
    const shared = this.#shared.get(slug);
    return shared && { ...shared, tokenId: 'stranger', name: 'stranger', scopes: new Set(['read']), isStranger: true };
  }

  /** By their present names. */
  list(): Promise<readonly PublicRepository[]> {
    const now = this.#clock.now();
    if (this.#listed === undefined || Math.abs(now - this.#listed.at) >= FRESH_MS) {
      const list = this.#read();
      this.#listed = { at: now, list };
      // A store that does not answer is asked again.
      list.catch(() => {
        this.#listed = undefined;
      });
    }
    return this.#listed.list;
  }

  async #read(): Promise<readonly PublicRepository[]> {
    const found: PublicRepository[] = [];
    for (const { organization, repositoryIds } of this.#shared.values()) {
      for (const { id, host, owner, name } of await this.#directory.listRepositories(organization.id)) {
        if (repositoryIds.has(id)) found.push({ organization: organization.slug, repo: { host, owner, name } });
      }
    }
    return found;
  }
}

// SPEC A42
export async function bindPublicRead(app: App, names: readonly Named[]): Promise<PublicRead> {
  const { repositories, accounts } = app.store;
  const configured = new Set(names.map(({ text }) => text));
  for (const name of (await repositories.listPublicNames()).keys()) {
    if (!configured.has(name)) await repositories.releasePublicName(name);
  }
  const shared = new Map<string, { readonly organization: Organization; readonly repositoryIds: Set<string> }>();
  for (const name of names) {
    const organization = await accounts.findOrganization(name.organization);
    const id = organization && (await bind(app, organization, name));
    if (organization === undefined || id === undefined) {
      app.log.warn(
        { name: name.text },
        `SLUICE_PUBLIC_READ names ${name.text}, but there is no such repository, or the one that was meant has been removed. Nobody can read it without a token. Register it, or take the name out, start the server, and put it back to mean the repository that has it now.`,
      );
      continue;
    }
    const known = shared.get(organization.slug) ?? { organization, repositoryIds: new Set() };
    known.repositoryIds.add(id);
    shared.set(organization.slug, known);
  }
  return new PublicRead(app, [...shared.values()]);
}

async function bind(app: App, { id: organizationId }: Organization, { text, repo }: Named) {
  const { repositories } = app.store;
  const bound = (await repositories.listPublicNames()).get(text);
  const known = bound && (await app.directory.findRepositoryById(bound));
  if (bound !== undefined) return known?.organizationId === organizationId ? bound : undefined;
  const found = await app.directory.findRepository(organizationId, repo);
  if (found === undefined) return undefined;
  await repositories.bindPublicName(text, found.id);
  // Another server may have been first.
  return (await repositories.listPublicNames()).get(text);
}
