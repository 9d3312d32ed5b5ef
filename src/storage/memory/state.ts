import type { Instant } from '../../lib/clock.ts';
import type { Organization, Token } from '../accounts.ts';
import type { AlarmRow, AuditMark } from '../alarms.ts';
import type { StoredHint } from '../hints.ts';
import type { PullRequestNote } from '../pull-request-notes.ts';
import type {
  CandidateRow,
  EntryRow,
  EventRow,
  ImpactedTargetsRow,
  QueueRow,
  StoredEffect,
  TargetSetRow,
  TransitionRow,
} from '../queues.ts';
import type { Repository } from '../repositories.ts';
import type { BatchFacts, CheckResults, StoredFailure, StoredRun, TestMemory } from '../test-ingest.ts';
import type { SettingsChange, StoredTestSettings } from '../test-settings.ts';
import type { TestEventRow, TestRow, TestStatus } from '../tests.ts';
import type { Upload } from '../uploads.ts';

export interface MemoryEffect {
  row: StoredEffect;
  /** The commit that asked for it, and its place there. */
  readonly version: number;
  readonly ordinal: number;
  lease: { readonly holder: string; readonly until: Instant } | undefined;
}

export interface MemoryQueue {
  row: QueueRow;
  isDeleted: boolean;
  readonly events: EventRow[];
  readonly entries: Map<number, EntryRow>;
  readonly transitions: TransitionRow[];
  /** The same transitions, by entry. */
  readonly timelines: Map<string, TransitionRow[]>;
  /** By number. */
  readonly candidates: Map<number, CandidateRow>;
  /** By id, in the order in which they were asked for. */
  readonly effects: Map<string, MemoryEffect>;
  /** By pull request and commit. */
  readonly impactedTargets: Map<string, ImpactedTargetsRow>;
}

export interface MemoryTargetSet {
  readonly row: TargetSetRow;
  createdAt: Instant;
}

export type TestKind = TestStatus | 'QUARANTINED';

/** Of this kind for the watermarks from `fromSeq` until before `toSeq`. */
export interface TestInterval {
  readonly kind: TestKind;
  readonly fromSeq: number;
  toSeq: number | null;
}

export interface MemoryTest {
  row: TestRow;
  memory: TestMemory;
  readonly intervals: TestInterval[];
}

export interface MemoryBatch {
  readonly seq: number;
  facts: BatchFacts;
  readonly receivedAt: Instant;
  /** By number of the test, and in their order. */
  runs: readonly StoredRun[];
  /** Its runs are not merged for every test. */
  isBlock: boolean;
}

/** Of one repository. Lists are in the order of storing. */
export interface MemoryTests {
  lastSeq: number;
  lastTestNo: number;
  quarantineVersion: number;
  readonly byId: Map<string, MemoryTest>;
  batches: MemoryBatch[];
  failures: (StoredFailure & { readonly seq: number; readonly prNumber: number | null })[];
  events: (TestEventRow & { readonly seq: number })[];
  /** By candidate and check. */
  readonly checkResults: Map<string, CheckResults>;
}

export interface MemoryUpload {
  row: Upload;
  /** In order of acceptance; 0: not accepted yet. */
  no: number;
  retryAt: Instant | null;
  isToRecount: boolean;
}

export interface MemoryBody {
  readonly pieces: { readonly fileNo: number; readonly bytes: Uint8Array }[];
  lastAt: Instant;
}

export interface MemorySettings {
  stored: StoredTestSettings;
  /** Oldest first, each with the settings it made: the first is version 1. */
  readonly changes: { readonly change: SettingsChange; readonly monitors: StoredTestSettings['monitors'] }[];
}

export interface MemoryNotice {
  row: StoredHint;
  lease: { readonly holder: string; readonly until: Instant } | undefined;
  /** Nobody looks before. */
  rememberedUntil: Instant | undefined;
}

export interface MemoryLog {
  /** In their order; copies that nobody else holds. */
  readonly chunks: { readonly start: number; readonly bytes: Uint8Array }[];
  size: number;
  lastAt: Instant;
}

/** Rows are frozen copies: they are replaced, never changed, and may be handed out. */
export interface MemoryState {
  readonly organizations: Map<string, Organization>;
  /** By hash. */
  readonly tokens: Map<string, Token>;
  readonly repositories: Map<string, Repository>;
  readonly queues: Map<string, MemoryQueue>;
  /** The candidates of all queues, by id. */
  readonly candidates: Map<string, CandidateRow>;
  /** By digest. */
  readonly targetSets: Map<string, MemoryTargetSet>;
  /** By repository. */
  readonly tests: Map<string, MemoryTests>;
  /** By id. */
  readonly uploads: Map<string, MemoryUpload>;
  /** The number of the upload accepted last, by repository. */
  readonly uploadNumbers: Map<string, number>;
  readonly bodies: Map<string, MemoryBody>;
  /** By repository. */
  readonly leases: Map<string, { readonly holder: string; readonly until: Instant }>;
  /** By repository. */
  readonly testSettings: Map<string, MemorySettings>;
  /** By candidate and check. */
  readonly logs: Map<string, MemoryLog>;
  /** By id. */
  readonly alarms: Map<string, AlarmRow>;
  /** By queue. */
  readonly auditMarks: Map<string, AuditMark>;
  /** By host and key. */
  readonly notices: Map<string, MemoryNotice>;
  /** By repository, and there by number. */
  readonly pullRequestNotes: Map<string, Map<number, PullRequestNote>>;
}

export function createMemoryState(): MemoryState {
  return {
    organizations: new Map(),
    tokens: new Map(),
    repositories: new Map(),
    queues: new Map(),
    candidates: new Map(),
    targetSets: new Map(),
    tests: new Map(),
    uploads: new Map(),
    uploadNumbers: new Map(),
    bodies: new Map(),
    leases: new Map(),
    testSettings: new Map(),
    logs: new Map(),
    alarms: new Map(),
    auditMarks: new Map(),
    notices: new Map(),
    pullRequestNotes: new Map(),
  };
}
