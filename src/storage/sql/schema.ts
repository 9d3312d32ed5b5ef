import type { Generated } from 'kysely';
import type { EvidenceFlaw } from '../../flaky/core/evidence.ts';
import type { QuarantineOverride, RunConclusion, TestStatus } from '../tests.ts';
import type { UploadKind, UploadStatus } from '../uploads.ts';

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
  test_sequences: TestSequencesTable;
  tests: TestsTable;
  test_states: TestStatesTable;
  test_memories: TestMemoriesTable;
  test_batches: TestBatchesTable;
  runs: RunsTable;
  run_parts: RunPartsTable;
  run_conclusions: { conclusion: number; name: RunConclusion };
  test_failures: TestFailuresTable;
  test_failure_texts: TestFailureTextsTable;
  test_events: TestEventsTable;
  check_results: CheckResultsTable;
  uploads: UploadsTable;
  upload_sequences: { repository_id: string; last_no: number };
  upload_bodies: { id: string; pieces: number; size_bytes: number; last_at: number };
  upload_pieces: { body_id: string; file_no: number; piece: number; data: Uint8Array };
  ingest_leases: { repository_id: string; holder: string; until: number };
  test_settings: TestSettingsTable;
  test_setting_changes: TestSettingChangesTable;
  logs: LogsTable;
  log_chunks: LogChunksTable;
  alarms: AlarmsTable;
  audit_marks: AuditMarksTable;
  hints: HintsTable;
  pull_request_notes: PullRequestNotesTable;
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
  forge_id: string | null;
  blocked_reason: string | null;
  run_hooks: StoredBoolean;
  checks: JsonText;
  junit: JsonText;
  trust_checks: StoredBoolean;
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
  is_of_fork: StoredBoolean;
}

export interface TestSequencesTable {
  repository_id: string;
  last_seq: number;
  last_test_no: number;
  /** Grows when the set of quarantined tests changes. */
  quarantine_version: number;
  /** Batches up to this one are forgotten, and their runs with them. */
  forgotten_seq: number;
  /** The runs of batches up to this one are counted in the stored memories of their tests. */
  counted_seq: number;
}

export interface TestsTable {
  repository_id: string;
  id: string;
  no: number;
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
  override: JsonText | null;
  quarantined_at: number | null;
  is_flagged: StoredBoolean;
  labels: JsonText;
  ticket_url: string | null;
  /** Searches match this text, in lower case. */
  search_text: string;
}

export interface TestMemoriesTable {
  repository_id: string;
  test_no: number;
  seq: number;
  next_check_at: number | null;
  settings_version: number;
  last_run_at: number | null;
  state: JsonText;
}

export interface TestBatchesTable {
  repository_id: string;
  seq: number;
  upload_id: string;
  branch: string;
  sha: string;
  job: string;
  job_attempt: number | null;
  job_name: string;
  job_url: string | null;
  pr_number: number | null;
  flaw: EvidenceFlaw | null;
  is_proven: StoredBoolean;
  received_at: number;
  /** The part that holds its runs; null: it has none. */
  part: number | null;
  run_count: number;
}

/** One execution of a test. */
export interface RunsTable {
  part: number;
  test_no: number;
  started_at: number;
  /** The batch that brought it. */
  seq: number;
  /** The how manieth run of its test in the batch, from 0. */
  ordinal: number;
  /** Its place in RUN_CONCLUSIONS; the table `run_conclusions` has the names. */
  conclusion: number;
  /** Null: not told. */
  duration_us: number | null;
  is_quarantined: StoredBoolean;
}

/** Runs of one repository that came one after the other. */
export interface RunPartsTable {
  part: number;
  /** Null: the part is retired. Its runs are invisible and about to be removed. */
  repository_id: string | null;
  retired_from: string | null;
  last_seq: number;
  first_started_at: number;
  last_started_at: number;
  batch_count: number;
  run_count: number;
}

export interface TestFailuresTable {
  repository_id: string;
  test_no: number;
  started_at: number;
  seq: number;
  ordinal: number;
  pr_number: number | null;
  is_blocking: StoredBoolean;
  is_quarantined: StoredBoolean;
  failure_group: string;
  summary: string;
}

export interface TestFailureTextsTable {
  repository_id: string;
  seq: number;
  ordinal: number;
  test_no: number;
  started_at: number;
  text: string;
  suite_path: string | null;
}

export interface TestEventsTable {
  repository_id: string;
  test_id: string;
  at: number;
  seq: number;
  ordinal: number;
  kind: string;
  actor: string | null;
  detail: JsonText;
}

export interface CheckResultsTable {
  repository_id: string;
  candidate_id: string;
  check_name: string;
  body: JsonText;
  at: number;
}

export interface UploadsTable {
  id: string;
  repository_id: string;
  /** In order of acceptance; null: not accepted yet. */
  no: number | null;
  kind: UploadKind;
  status: UploadStatus;
  received_at: number;
  processed_at: number | null;
  fields: JsonText | null;
  /** Of the fields, to find it by. */
  candidate_id: string | null;
  check_name: string | null;
  body_id: string | null;
  files: JsonText;
  size_bytes: number;
  parts_done: number;
  test_runs: number;
  issues: JsonText;
  digest: string | null;
  client_version: string | null;
  attempts: number;
  trouble: string | null;
  retry_at: number | null;
  is_proven: StoredBoolean;
  flaw: EvidenceFlaw | null;
  tests_ran: number | null;
  tests_failed: number | null;
  ignored: JsonText | null;
  /** Its evidence was taken back, and its tests are not counted again yet. */
  is_to_recount: StoredBoolean;
}

export interface TestSettingsTable {
  repository_id: string;
  version: number;
  settings: JsonText;
  monitors: JsonText;
  applied_version: number;
  applied_monitors: JsonText;
  actor: string | null;
  changed_at: number | null;
}

export interface TestSettingChangesTable {
  repository_id: string;
  version: number;
  at: number;
  actor: string;
  detail: JsonText;
  monitors: JsonText;
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
  /** The next chunk begins at this offset. */
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
  ended_at: number | null;
}

export interface AuditMarksTable {
  queue_id: string;
  sha: string | null;
  version: number;
  at: number;
}

export interface HintsTable {
  host: string;
  key: string;
  kind: string;
  body: JsonText;
  received_at: number;
  due_at: number;
  version: number;
  attempts: number;
  lease_holder: string | null;
  lease_until: number | null;
  remembered_until: number | null;
}

export interface PullRequestNotesTable {
  repository_id: string;
  pr_number: number;
  version: number;
  body: JsonText;
}
