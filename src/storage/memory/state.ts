import type { Instant } from '../../lib/clock.ts';
import type { Organization, Token } from '../accounts.ts';
import type { AlarmRow, AuditMark } from '../alarms.ts';
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
import type { TestRow, TestRunRow, TestStatus } from '../tests.ts';

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
  readonly intervals: TestInterval[];
  readonly runs: (TestRunRow & { readonly seq: number })[];
}

export interface MemoryTests {
  lastSeq: number;
  readonly byId: Map<string, MemoryTest>;
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
  /** By candidate and check. */
  readonly logs: Map<string, MemoryLog>;
  /** By id. */
  readonly alarms: Map<string, AlarmRow>;
  /** By queue. */
  readonly auditMarks: Map<string, AuditMark>;
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
    logs: new Map(),
    alarms: new Map(),
    auditMarks: new Map(),
  };
}
