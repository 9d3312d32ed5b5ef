import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';

/** A variable for checks of a repository. Its value is encrypted before it comes here. */
export interface Secret {
  readonly name: string;
  readonly sealed: string;
  readonly setBy: string;
  readonly setAt: Instant;
}

export interface SecretStore {
  /** Ordered by name. */
  list(repositoryId: RepositoryId): Promise<readonly Secret[]>;
  /** Inserts, or replaces the one of that name. */
  set(repositoryId: RepositoryId, secret: Secret): Promise<void>;
  /** False if there is none. */
  remove(repositoryId: RepositoryId, name: string): Promise<boolean>;
}
