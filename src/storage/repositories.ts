import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { OrganizationId } from './accounts.ts';
import type { FeedDraft } from './feed-draft.ts';

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
  /** Whether the check may use the network of its machine. */
  readonly network?: boolean;
  /** Whether the check may make user namespaces, as the sandboxes of browsers do. */
  readonly userNamespaces?: boolean;
  /** Runs first, in the same place. */
  readonly prepare?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the globs of the repository. */
  readonly junit?: readonly string[];
  /** Programs that must be on PATH, and whose content is part of the key of the cache. */
  readonly tools?: readonly string[];
  readonly cache?: RunnerCache;
}

export interface RunnerCache {
  /** Globs of the files that it follows from. */
  readonly key: readonly string[];
  /** `~/…`: in the home of the check. Any other: in its work tree. */
  readonly paths: readonly string[];
  /** Whether one of another key is of use, as whatever reads it looks at its content. */
  readonly verified?: boolean;
  /** Whether it holds all that `prepare` does. */
  readonly result?: boolean;
}

/** Lets the repository's file choose the checks, and says how much they may ask for. */
export interface FileChecksGrant {
  readonly network: boolean;
  readonly userNamespaces: boolean;
  readonly longestMinutes: number;
}

export interface Repository extends RepositoryRef {
  readonly id: RepositoryId;
  readonly organizationId: OrganizationId;
  /** Plain git only: path or URL of the bare repository. */
  readonly git: string | null;
  /** The forge's own id, which survives renames; null on plain git, and until the forge was asked. */
  readonly forgeId: string | null;
  /** Why Sluice must not act on the repository, as a sentence from the last poll of the forge; null: not blocked. */
  readonly blockedReason: string | null;
  /** Plain git by a path only: whether its hooks run when the queue changes a branch. */
  readonly runHooks: boolean;
  readonly checks: readonly RunnerCheck[];
  /** Globs of the reports that the built-in runner hands to ingestion. */
  readonly junit: readonly string[];
  /** Null: the file's checks are ignored. */
  readonly fileChecks: FileChecksGrant | null;
  /** An operator allows its checks to run without protection of the server. */
  readonly trustChecks: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface RepositoryStore {
  /** Inserts, or updates the one of the organization and exact reference (keeping `id` and `createdAt`). */
  save(repository: Repository, feed?: readonly FeedDraft[]): Promise<Repository>;
  /** Inserts, or returns the unchanged one with the same organization and reference. */
  ensure(repository: Repository): Promise<Repository>;
  find(organizationId: OrganizationId, ref: RepositoryRef): Promise<Repository | undefined>;
  /** Like `find`, but ignores the case of A-Z in owner and name; if several match, the oldest. */
  findSpelled(organizationId: OrganizationId, ref: RepositoryRef): Promise<Repository | undefined>;
  /** Ordered by host, owner, name. */
  list(organizationId: OrganizationId): Promise<readonly Repository[]>;
  listAll(): Promise<readonly Repository[]>;
  /** Changes only the reference. `taken` (nothing written) if its organization has another one of that name. */
  rename(
    id: RepositoryId,
    ref: RepositoryRef,
    at: Instant,
    feed?: readonly FeedDraft[],
  ): Promise<'renamed' | 'taken' | 'gone'>;
  /** Stores the forge's id if none is stored; a stored id never changes. */
  identify(id: RepositoryId, forgeId: string): Promise<void>;
  /** Null: not blocked any more. */
  bar(id: RepositoryId, sentence: string | null, at: Instant): Promise<void>;
  /** The names of the configuration that are bound to a repository, which may be gone. */
  listPublicNames(): Promise<ReadonlyMap<string, RepositoryId>>;
  /** Binds a name, unless it is bound. */
  bindPublicName(name: string, id: RepositoryId): Promise<void>;
  releasePublicName(name: string): Promise<void>;
  /** Refused while it has a queue that is not deleted. Its tests and uploads are removed with it, its events stay. */
  remove(id: RepositoryId, feed?: readonly FeedDraft[]): Promise<'removed' | 'has_queues'>;
}
