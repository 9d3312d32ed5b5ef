import { randomUUID } from 'node:crypto';
import type { Instant } from '../../lib/clock.ts';
import { checkSlug } from '../../lib/text.ts';
import type { Organization, OrganizationId, Scope, Token } from '../../storage/accounts.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { hashTokenSecret, makeTokenSecret } from './token-secret.ts';

export interface NewOrganization {
  readonly slug: string;
  readonly token: string;
}

export async function createOrganization(
  app: App,
  caller: Caller,
  input: { readonly slug: string },
): Promise<NewOrganization | Refusal> {
  const problem = checkSlug(input.slug);
  if (problem !== undefined) return refuseField('/slug', problem);
  const secret = makeTokenSecret();
  const at = app.clock.now();
  const organization: Organization = { id: randomUUID() as OrganizationId, slug: input.slug, createdAt: at };
  const token = newToken({
    organization,
    name: 'admin',
    secret,
    scopes: ['admin'],
    origin: 'first',
    at,
    expiresAt: caller.expiresAt,
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

export function newToken(of: {
  readonly organization: Organization;
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly Scope[];
  readonly origin: Token['origin'];
  readonly at: number;
  readonly expiresAt?: Instant | undefined;
}): Token {
  return {
    id: randomUUID(),
    organizationId: of.organization.id,
    name: of.name,
    hash: hashTokenSecret(of.secret),
    scopes: of.scopes,
    repositoryIds: null,
    origin: of.origin,
    createdAt: of.at,
    expiresAt: of.expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
  };
}
