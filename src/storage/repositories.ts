import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { OrganizationId } from './accounts.ts';

export type RepositoryId = Brand<string, 'RepositoryId'>;

export interface RepositoryRef {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export interface RunnerCheck {
  readonly name: string;
  readonly command: string;
  readonly timeoutMinutes: number | null;
  /** Whether it may use the network of the machine it runs on. */
  readonly network?: boolean;
}

export interface Repository extends RepositoryRef {
  readonly id: RepositoryId;
  readonly organizationId: OrganizationId;
  /** Plain git only: path or URL of the bare repository. */
  readonly git: string | null;
  /** The forge's own, which stays when names change; null on plain git, and where nobody has asked the forge yet. */
  readonly forgeId: string | null;
  /** The sentence why nothing may be done there, as the last look at the forge found; null where nothing is in the way. */
  readonly blockedReason: string | null;
  /** Plain git by a path only: whether its hooks run when the queue changes a branch. */
  readonly runHooks: boolean;
  readonly checks: readonly RunnerCheck[];
  /** Globs of the reports that the built-in runner hands to ingestion. */
  readonly junit: readonly string[];
  /** Whether an operator said that its checks may run where nothing keeps them from the server. */
  readonly trustChecks: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface RepositoryStore {
  /**
   * Inserts, or updates the one with the same organization and reference (whose `id` and `createdAt` stay), and
   * answers what is stored now. References are compared exactly.
   */
  save(repository: Repository): Promise<Repository>;
  /** Inserts, or answers the one with the same organization and reference, which stays as it is. */
  ensure(repository: Repository): Promise<Repository>;
  find(organizationId: OrganizationId, ref: RepositoryRef): Promise<Repository | undefined>;
  /** As `find`, without telling A-Z of owner and name from a-z; where several fit, the first that was made. */
  findSpelled(organizationId: OrganizationId, ref: RepositoryRef): Promise<Repository | undefined>;
  /** Ordered by host, owner, name. */
  list(organizationId: OrganizationId): Promise<readonly Repository[]>;
  /** All organizations': what the server serves. */
  listAll(): Promise<readonly Repository[]>;
  /** Gives it another reference; all else stays. `taken` (nothing written) where its organization has one of that name. */
  rename(id: RepositoryId, ref: RepositoryRef, at: Instant): Promise<'renamed' | 'taken' | 'gone'>;
  /** Learns the forge's id of one that has none; one that is known stays, whoever says so. */
  identify(id: RepositoryId, forgeId: string): Promise<void>;
  /** Null: nothing is in the way any more. */
  bar(id: RepositoryId, sentence: string | null): Promise<void>;
  /** Refused while a queue that is not deleted belongs to it. Its tests and uploads go with it. */
  remove(id: RepositoryId): Promise<'removed' | 'has_queues'>;
}
