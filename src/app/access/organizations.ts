import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { checkSlug } from '../../lib/text.ts';
import type { Organization, OrganizationId, Scope, Token } from '../../storage/accounts.ts';
import type { Store } from '../../storage/store.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Answer, refuse, refuseField } from '../core/refusal.ts';
import { hashTokenSecret, makeTokenSecret } from './authenticate.ts';

interface NewOrganization {
  readonly slug: string;
  readonly token: string;
}

export async function createOrganization(
  app: App,
  caller: Caller,
  input: { readonly slug: string },
): Answer<NewOrganization> {
  const problem = checkSlug(input.slug);
  if (problem !== undefined) return refuseField('/slug', problem);
  const secret = makeTokenSecret();
  const at = app.clock.now();
  const organization: Organization = { id: randomUUID() as OrganizationId, slug: input.slug, createdAt: at };
  const token = newToken(secret, {
    ...{ organizationId: organization.id, name: 'admin', scopes: ['admin'], origin: 'first', createdAt: at },
    ...{ expiresAt: caller.expiresAt ?? null, madeBy: caller.name },
  });
  const outcome = await app.store.accounts.createOrganization(organization, token);
  if (outcome === 'slug_taken') {
    return refuse(
      'ORGANIZATION_ALREADY_EXISTS',
      `There already is an organization "${input.slug}". Choose another slug.`,
    );
  }
  return { slug: input.slug, token: secret };
}

type GivenToken = Pick<Token, 'organizationId' | 'name' | 'scopes' | 'origin' | 'createdAt'> & Partial<Token>;

export function newToken(secret: string, given: GivenToken): Token {
  return {
    ...{ id: randomUUID(), hash: hashTokenSecret(secret) },
    ...{ expiresAt: null, revokedAt: null, lastUsedAt: null },
    ...{ repositoryIds: null, madeBy: null, person: null, signedInAt: null, isAgent: false },
    ...given,
  };
}

export const FIRST_SCOPES: readonly Scope[] = ['admin', 'instance'];

interface EnsureOrganization {
  readonly slug: string;
  /** The value of SLUICE_ADMIN_TOKEN. */
  readonly adminToken: string | undefined;
}

/** Two servers may start at once. Returns the secret of the first token if one had to be generated. */
// SPEC A6
export async function ensureOrganization(
  deps: { readonly store: Store; readonly clock: Clock },
  wanted: EnsureOrganization,
): Promise<{ readonly newSecret: string | undefined }> {
  const { accounts } = deps.store;
  await checkToken(deps.store, wanted);
  const existing = await accounts.findOrganization(wanted.slug);
  const at = deps.clock.now();
  if (existing === undefined) {
    const secret = wanted.adminToken ?? makeTokenSecret();
    const origin = wanted.adminToken === undefined ? 'first' : 'environment';
    const organization: Organization = { id: randomUUID() as OrganizationId, slug: wanted.slug, createdAt: at };
    const given = {
      organizationId: organization.id,
      name: 'admin',
      scopes: FIRST_SCOPES,
      origin,
      createdAt: at,
    } as const;
    const token = newToken(secret, given);
    const outcome = await accounts.createOrganization(organization, token);
    if (outcome === 'created') return { newSecret: wanted.adminToken === undefined ? secret : undefined };
    return ensureOrganization(deps, wanted);
  }
  if (wanted.adminToken !== undefined) await ensureEnvironmentToken(deps, existing, wanted.adminToken);
  return { newSecret: undefined };
}

/** A token belongs to one organization for good: its holder must not end up in another one. */
async function checkToken(store: Store, { slug, adminToken }: EnsureOrganization): Promise<void> {
  const known = adminToken === undefined ? undefined : await store.accounts.findToken(hashTokenSecret(adminToken));
  if (known === undefined || known.organization.slug === slug) return;
  throw new Fault(
    'MISCONFIGURED',
    `SLUICE_ADMIN_TOKEN belongs to the organization "${known.organization.slug}". Set another token for "${slug}".`,
  );
}

// SPEC A7
async function ensureEnvironmentToken(
  deps: { readonly store: Store; readonly clock: Clock },
  organization: Organization,
  secret: string,
): Promise<void> {
  const { accounts } = deps.store;
  const known = await accounts.findToken(hashTokenSecret(secret));
  if (known !== undefined && known.token.revokedAt === null) return;
  const token = newToken(secret, {
    ...{ organizationId: organization.id, name: 'environment', scopes: FIRST_SCOPES },
    ...{ origin: 'environment', createdAt: deps.clock.now() },
  });
  await accounts.replaceToken(token);
}
