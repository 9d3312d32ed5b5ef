import type { Repository } from '../../storage/repositories.ts';
import type { App } from './app.ts';

interface Linked {
  readonly repository: Pick<Repository, 'organizationId' | 'host' | 'owner' | 'name'>;
  readonly branch: string;
  readonly prNumber: number;
}

/** The address of a pull request's page on the dashboard. Undefined if the server does not know its own address. */
// SPEC A40
export async function findPageLink({ store, publicUrl }: App, of: Linked): Promise<string | undefined> {
  if (publicUrl === undefined) return undefined;
  const { organizationId, host, owner, name } = of.repository;
  const organization = await store.accounts.findOrganizationById(organizationId);
  if (organization === undefined) return undefined;
  const parts = [organization.slug, host, owner, name, of.branch, 'pr', String(of.prNumber)];
  return `${publicUrl}/${parts.map(encodeURIComponent).join('/')}`;
}
