import type { Instant } from '../lib/clock.ts';
import type { Organization, OrganizationId, Token } from './accounts.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { ProvenPerson } from './proven-person.ts';

/** A stay on the dashboard, with the rights of a token or of a person. Its secret is kept only as a hash. */
export interface Session {
  readonly hash: string;
  /** Empty in the session of a person. */
  readonly tokenId: string;
  readonly createdAt: Instant;
  readonly usedAt: Instant;
  /** A sign-in link that was not opened yet. It admits to nothing. */
  readonly isLink: boolean;
  /** Null in the session of a token. */
  readonly organizationId: OrganizationId | null;
  readonly person: ProvenPerson | null;
}

export interface PersonSession extends Session {
  readonly organizationId: OrganizationId;
  readonly person: ProvenPerson;
}

export type FoundSession = {
  readonly organization: Organization;
} & (
  | { readonly session: Session; readonly token: Token }
  | { readonly session: PersonSession; readonly token: undefined }
);

export interface SessionStore {
  insert(session: Session, feed?: readonly FeedDraft[]): Promise<void>;
  /** Old, ended and revoked ones are found too. */
  find(hash: string): Promise<FoundSession | undefined>;
  /** Turns a link that was made after `madeAfter` into a session. False if there is none, or it was opened before. */
  openLink(
    link: string,
    session: { readonly hash: string; readonly at: Instant; readonly madeAfter: Instant },
  ): Promise<boolean>;
  recordUse(hash: string, at: Instant): Promise<void>;
  remove(hash: string): Promise<void>;
  /** The sessions of people, the latest first. */
  listPeople(organizationId: OrganizationId): Promise<readonly PersonSession[]>;
  /** False (and no event) if the organization has no such session of a person. */
  revoke(organizationId: OrganizationId, hash: string, feed: readonly FeedDraft[]): Promise<boolean>;
  /** Removes sessions that were begun, or used, earlier; returns how many. */
  tidy(before: { readonly begun: Instant; readonly used: Instant }): Promise<number>;
}
