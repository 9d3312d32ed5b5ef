import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { ProvenPerson } from './proven-person.ts';

export type OrganizationId = Brand<string, 'OrganizationId'>;

export const SCOPES = [
  'read',
  'upload',
  'evidence',
  'targets',
  'report',
  'submit',
  'maintain',
  'admin',
  'instance',
] as const;
export type Scope = (typeof SCOPES)[number];

export interface Organization {
  readonly id: OrganizationId;
  readonly slug: string;
  readonly createdAt: Instant;
}

/** A stored token: the secret is kept only as a SHA-256 in hexadecimal. */
export interface Token {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** Repository ids the token is limited to, or null for all of the organization. */
  readonly repositoryIds: readonly string[] | null;
  /** `environment`: follows SLUICE_ADMIN_TOKEN and is replaced with it. */
  readonly origin: 'first' | 'environment' | 'api';
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
  readonly lastUsedAt: Instant | null;
  /** The one who made it, as the audit names them. Null: the server, or a version that did not record it. */
  readonly madeBy: string | null;
  /** The person who made it for themselves, as their last sign-in proved them. Null: it is for a service. */
  readonly person: ProvenPerson | null;
  /** The last sign-in of that person. */
  readonly signedInAt: Instant | null;
  /** A program that writes pull requests has it. */
  readonly isAgent: boolean;
}

export interface AccountStore {
  /** Creates both or neither. `slug_taken` (nothing written) if the organization exists. */
  createOrganization(
    organization: Organization,
    token: Token,
    feed?: readonly FeedDraft[],
  ): Promise<'created' | 'slug_taken'>;
  findOrganization(slug: string): Promise<Organization | undefined>;
  findOrganizationById(id: OrganizationId): Promise<Organization | undefined>;
  insertToken(token: Token, feed?: readonly FeedDraft[]): Promise<void>;
  /** Revokes every other token of the same organization and origin, and stores this one, in one transaction. */
  replaceToken(token: Token): Promise<void>;
  /** Returns the organization too, because every request needs both. Revoked and expired tokens are found too. */
  findToken(hash: string): Promise<{ readonly token: Token; readonly organization: Organization } | undefined>;
  /** In order of creation, revoked ones included. */
  listTokens(organizationId: OrganizationId): Promise<readonly Token[]>;
  /** False (and no event) if the organization has no such token. Revoking again keeps the first instant. */
  revokeToken(organizationId: OrganizationId, id: string, at: Instant, feed?: readonly FeedDraft[]): Promise<boolean>;
  /** Unrevoked tokens of people, of all organizations. */
  listTokensOfPeople(): Promise<readonly Token[]>;
  /** Replaces what is known of the person who made these tokens. */
  recordSignIn(ids: readonly string[], person: ProvenPerson, at: Instant): Promise<void>;
  /** Keeps the latest instant for each token; unknown ids are ignored. */
  recordTokenUse(uses: ReadonlyMap<string, Instant>): Promise<void>;
}
