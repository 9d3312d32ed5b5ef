import type { Generated } from 'kysely';
import type { QuarantineOverride, TestRunRow, TestStatus } from '../tests.ts';

/** A boolean as a database answers it: SQLite has only 0 and 1. Rows are read through rows.ts, which knows. */
export type StoredBoolean = boolean;
/** JSON as text, in both databases: only Sluice reads it. */
export type JsonText = string;

export interface Schema {
  migrations: { version: number; name: string; applied_at: number };
  meta: { name: string; value: string };
  organizations: { id: string; slug: string; created_at: number };
  tokens: TokensTable;
  repositories: RepositoriesTable;
  queues: QueuesTable;
  queue_events: { queue_id: string; version: number; at: number; kind: string; body: JsonText };
  entries: EntriesTable;
  transitions: TransitionsTable;
  candidates: CandidatesTable;
  effects: EffectsTable;
  target_sets: TargetSetsTable;
  impacted_targets: ImpactedTargetsTable;
  test_sequences: { repository_id: string; last_seq: number };
  tests: TestsTable;
  test_runs: TestRunsTable;
  test_states: TestStatesTable;
  logs: LogsTable;
  log_chunks: LogChunksTable;
  alarms: AlarmsTable;
  audit_marks: AuditMarksTable;
}

export interface TokensTable {
  id: string;
  organization_id: string;
  name: string;
  hash: string;
  scopes: JsonText;
  repository_ids: JsonText | null;
  origin: 'first' | 'environment' | 'api';
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

export interface RepositoriesTable {
  id: string;
  organization_id: string;
  host: string;
  owner: string;
  name: string;
  git: string | null;
  checks: JsonText;
  junit: JsonText;
  created_at: number;
  updated_at: number;
}

export interface QueuesTable {
  id: string;
  repository_id: string;
  branch: string;
  version: number;
  body: JsonText;
  created_at: number;
  deleted_at: number | null;
}

export interface EntriesTable {
  id: string;
  queue_id: string;
  pr_number: number;
  version: number;
  is_live: StoredBoolean;
  state: string;
  submitted_at: number;
  targets_digest: string | null;
  body: JsonText;
}

export interface TransitionsTable {
  queue_id: string;
  entry_id: string;
  pr_number: number;
  version: number;
  ordinal: number;
  at: number;
  from_state: string | null;
  to_state: string;
  is_bisection: StoredBoolean;
  duration_ms: number | null;
  in_queue_ms: number | null;
  body: JsonText;
}

export interface CandidatesTable {
  queue_id: string;
  number: number;
  id: string;
  version: number;
  is_live: StoredBoolean;
  state: string;
  is_bisection: StoredBoolean;
  sha: string | null;
  created_at: number;
  ended_at: number | null;
  body: JsonText;
}

export interface EffectsTable {
  queue_id: string;
  id: string;
  /** The commit that asked for it, and its place there: the order of effects. */
  version: number;
  ordinal: number;
  kind: string;
  due_at: number;
  body: JsonText;
  stream: string;
  attempts: Generated<number>;
  last_error: string | null;
  parked_at: number | null;
  /** Both or neither; a lease that is over stays until the next one, or until it is settled. */
  lease_holder: string | null;
  lease_until: number | null;
}

export interface TargetSetsTable {
  digest: string;
  body: JsonText;
  /** Or the last time that it was named again. */
  created_at: number;
}

export interface ImpactedTargetsTable {
  queue_id: string;
  pr_number: number;
  sha: string;
  body: JsonText;
  targets_digest: string | null;
  set_at: number;
}

export interface TestsTable {
  id: string;
  repository_id: string;
  name: string;
  variant: string;
  parent: string | null;
  classname: string | null;
  file: string | null;
  codeowners: JsonText;
  first_seen_at: number;
  status: TestStatus;
  status_reason: string;
  status_at: number;
  quarantine_override: QuarantineOverride;
  quarantined_at: number | null;
  ticket_url: string | null;
}

export interface TestRunsTable {
  repository_id: string;
  test_id: string;
  seq: number;
  started_at: number;
  conclusion: TestRunRow['conclusion'];
  duration_ms: number | null;
  branch: string;
  sha: string;
  pr_number: number | null;
  is_blocking: StoredBoolean;
  failure_group: string | null;
  failure_summary: string | null;
}

/** The test was of this kind for the watermarks from `from_seq` until before `to_seq`. */
export interface TestStatesTable {
  repository_id: string;
  test_id: string;
  kind: TestStatus | 'QUARANTINED';
  from_seq: number;
  to_seq: number | null;
}

export interface LogsTable {
  candidate_id: string;
  check_name: string;
  /** Where the next chunk begins. */
  size: number;
  last_at: number;
}

export interface LogChunksTable {
  candidate_id: string;
  check_name: string;
  start: number;
  /** Of the bytes as they were given. */
  length: number;
  encoding: 'plain' | 'zstd';
  data: Uint8Array;
}

export interface AlarmsTable {
  id: string;
  queue_id: string;
  code: string;
  text: string;
  at: number;
}

export interface AuditMarksTable {
  queue_id: string;
  sha: string | null;
  version: number;
  at: number;
}
