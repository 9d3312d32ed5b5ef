import type { Instant } from '../lib/clock.ts';
import type { Organization, Token } from './accounts.ts';

/** A person's stay on the dashboard, with the rights of a token. Its secret is kept only as a hash. */
export interface Session {
  readonly hash: string;
  readonly tokenId: string;
  readonly createdAt: Instant;
  readonly usedAt: Instant;
  /** A sign-in link that was not opened yet. It admits to nothing. */
  readonly isLink: boolean;
}

export interface FoundSession {
  readonly session: Session;
  readonly token: Token;
  readonly organization: Organization;
}

export interface SessionStore {
  insert(session: Session): Promise<void>;
  /** Old, ended and revoked ones are found too. */
  find(hash: string): Promise<FoundSession | undefined>;
  /** Turns a link that was made after `madeAfter` into a session. False if there is none, or it was opened before. */
  openLink(
    link: string,
    session: { readonly hash: string; readonly at: Instant; readonly madeAfter: Instant },
  ): Promise<boolean>;
  recordUse(hash: string, at: Instant): Promise<void>;
  remove(hash: string): Promise<void>;
  /** Removes sessions that were begun, or used, earlier; returns how many. */
  tidy(before: { readonly begun: Instant; readonly used: Instant }): Promise<number>;
}
