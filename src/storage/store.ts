import type { AccountStore } from './accounts.ts';
import type { AlarmStore } from './alarms.ts';
import type { HintStore } from './hints.ts';
import type { LogStore } from './logs.ts';
import type { PullRequestNoteStore } from './pull-request-notes.ts';
import type { QueueStore } from './queues.ts';
import type { RepositoryStore } from './repositories.ts';
import type { TestIngest } from './test-ingest.ts';
import type { TestSettingsStore } from './test-settings.ts';
import type { TestStore } from './tests.ts';
import type { UploadStore } from './uploads.ts';

/**
 * Everything Sluice keeps. Both adapters (SQLite, PostgreSQL) make the same promises, which one contract suite checks
 * (test/contract/store.ts). A promise that resolved to success is durable; one that rejected wrote nothing.
 * A store that cannot do its work throws `STORE_UNAVAILABLE`.
 */
export interface Store {
  /** Other servers may write too: what a server keeps in memory must be compared with the store before it is used. */
  readonly isShared: boolean;
  readonly accounts: AccountStore;
  readonly repositories: RepositoryStore;
  readonly queues: QueueStore;
  readonly tests: TestStore;
  readonly testIngest: TestIngest;
  readonly testSettings: TestSettingsStore;
  readonly uploads: UploadStore;
  readonly logs: LogStore;
  readonly alarms: AlarmStore;
  readonly hints: HintStore;
  readonly pullRequestNotes: PullRequestNoteStore;
  /** The secret that signs page tokens: made once, the same on every server and after a restart. */
  readonly signingKey: Uint8Array;
  /** Answers while the store does; the readiness probe. */
  ping(): Promise<void>;
  /** The embedded store can be copied while it is used; undefined where the database has tools of its own. */
  readonly snapshots: SnapshotStore | undefined;
  close(): Promise<void>;
}

export interface SnapshotStore {
  /**
   * Writes one consistent copy to a file that must not exist yet. Where the file cannot be there, it is refused with
   * `BACKUP_UNUSABLE`; where the machine cannot write it, as on a full disk, with `STORE_UNAVAILABLE`.
   */
  backup(file: string): Promise<{ readonly sizeBytes: number }>;
  /**
   * Replaces everything by what a backup holds, in one transaction: afterwards it is all there, or nothing changed.
   * A file that is no backup, is damaged, was written by a newer version, is one of the store's own, or has no
   * organization or no valid token with the scope `instance`, is refused with `BACKUP_UNUSABLE`. What is replaced is
   * kept as a backup before, for the latest three restores.
   */
  restore(file: string): Promise<void>;
}
