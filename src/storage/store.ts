import type { AccountStore, Organization, Token } from './accounts.ts';
import type { AlarmStore } from './alarms.ts';
import type { FeedStore } from './feed.ts';
import type { HintStore } from './hints.ts';
import type { IdempotentRequestStore } from './idempotent-requests.ts';
import type { LogStore } from './logs.ts';
import type { PastStore } from './past.ts';
import type { PullRequestNoteStore } from './pull-request-notes.ts';
import type { EffectStore, QueueRecordStore, QueueStore } from './queues.ts';
import type { RepositoryStore } from './repositories.ts';
import type { SecretStore } from './secrets.ts';
import type { SessionStore } from './sessions.ts';
import type { TestIngest, TestUpkeepStore } from './test-ingest.ts';
import type { TestSettingsStore } from './test-settings.ts';
import type { TestStore } from './tests.ts';
import type { UploadBodyStore, UploadStore, UploadWorkStore } from './uploads.ts';
import type { StoreSignals, WaitingStore } from './waiting.ts';
import type { DeliveryStore, WebhookStore } from './webhooks.ts';

/**
 * Both adapters keep the same contract (test/contract/store.ts). A call that resolved to success is durable; one that
 * rejected wrote nothing. A store that cannot work throws `STORE_UNAVAILABLE`.
 */
export interface Store {
  /** Other servers may write too: a server must compare its memory with the store before it uses it. */
  readonly isShared: boolean;
  readonly accounts: AccountStore;
  readonly repositories: RepositoryStore;
  readonly queues: QueueStore;
  readonly queueRecords: QueueRecordStore;
  readonly effects: EffectStore;
  readonly past: PastStore;
  readonly tests: TestStore;
  readonly testIngest: TestIngest;
  readonly testUpkeep: TestUpkeepStore;
  readonly testSettings: TestSettingsStore;
  readonly uploads: UploadStore;
  readonly uploadBodies: UploadBodyStore;
  readonly uploadWork: UploadWorkStore;
  readonly logs: LogStore;
  readonly alarms: AlarmStore;
  readonly feed: FeedStore;
  readonly hints: HintStore;
  readonly webhooks: WebhookStore;
  readonly webhookDeliveries: DeliveryStore;
  readonly idempotentRequests: IdempotentRequestStore;
  readonly secrets: SecretStore;
  readonly sessions: SessionStore;
  readonly pullRequestNotes: PullRequestNoteStore;
  readonly waiting: WaitingStore;
  readonly signals: StoreSignals;
  /** The secret that signs page tokens: made once, the same on every server and after a restart. */
  readonly signingKey: Uint8Array;
  measureSize(): Promise<number>;
  /** The readiness probe: resolves while the store works. */
  ping(): Promise<void>;
  /** The embedded store can be copied while it is used; undefined if the database has tools of its own. */
  readonly snapshots: SnapshotStore | undefined;
  /** Writes one consistent copy with the program of the database. Absent: the store has none. */
  readonly writeDump?: (file: string, signal?: AbortSignal) => Promise<{ readonly sizeBytes: number }>;
  close(): Promise<void>;
}

export interface SnapshotStore {
  /** `BACKUP_UNUSABLE` if the file cannot be at that path, `STORE_UNAVAILABLE` if the machine cannot write it. */
  backup(file: string, onProgress?: (progress: CopyProgress) => void): Promise<{ readonly sizeBytes: number }>;
  /**
   * All in one transaction. Throws `BACKUP_UNUSABLE` for a file that is no backup, is damaged, was written by a newer
   * version, is one of the store's own, or has no organization or no valid token with the scope `instance`. The
   * replaced content is kept, for the latest three restores. `kept` is valid afterwards too, in the organization of the
   * same id or slug, or else in the oldest one.
   */
  restore(file: string, kept?: KeptToken): Promise<void>;
}

export interface CopyProgress {
  readonly copiedPages: number;
  readonly totalPages: number;
}

export interface KeptToken {
  readonly token: Token;
  readonly organization: Organization;
}
