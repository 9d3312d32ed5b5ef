import type { EvidenceFlaw } from '../../flaky/core/evidence.ts';
import type { Monitor } from '../../flaky/core/monitor.ts';
import type { DailyCounts } from '../../flaky/daily-counts.ts';
import type { Issue } from '../../flaky/identity/issue.ts';
import type { TestSettings } from '../../flaky/settings.ts';
import type { RepositoryId } from '../repositories.ts';
import type { OverrideFacts, QuarantineOverride, RunConclusion, TestStatus } from '../tests.ts';
import type { UploadFields, UploadFile, UploadIgnored, UploadKind, UploadStatus } from '../uploads.ts';
import { bytes, flag, id, json, number, oneOf, orNull, text } from './columns.ts';

export const TEST = {
  repository_id: id<RepositoryId>(),
  id: text,
  no: number,
  name: text,
  variant: text,
  parent: orNull(text),
  classname: orNull(text),
  file: orNull(text),
  codeowners: json<readonly string[]>(),
  first_seen_at: number,
  status: oneOf<TestStatus>(),
  status_reason: text,
  status_at: number,
  quarantine_override: oneOf<QuarantineOverride>(),
  override: orNull(json<OverrideFacts>()),
  quarantined_at: orNull(number),
  is_flagged: flag,
  labels: json<readonly string[]>(),
  ticket_url: orNull(text),
};

export const TEST_MEMORY = {
  test_no: number,
  seq: number,
  next_check_at: orNull(number),
  settings_version: number,
  last_run_at: orNull(number),
  state: text,
};

export const BATCH_FACTS = {
  upload_id: text,
  branch: text,
  sha: text,
  job: text,
  job_attempt: orNull(number),
  job_name: text,
  job_url: orNull(text),
  pr_number: orNull(number),
  flaw: orNull(oneOf<EvidenceFlaw>()),
  tree: orNull(text),
  candidate_id: orNull(text),
};

export const TEST_EVENT = { test_id: text, at: number, kind: text, actor: orNull(text), detail: text };

export const UPLOAD = {
  id: text,
  repository_id: id<RepositoryId>(),
  kind: oneOf<UploadKind>(),
  status: oneOf<UploadStatus>(),
  received_at: number,
  processed_at: orNull(number),
  fields: orNull(json<UploadFields>()),
  body_id: orNull(text),
  files: json<readonly UploadFile[]>(),
  size_bytes: number,
  parts_done: number,
  test_runs: number,
  issues: json<readonly Issue[]>(),
  digest: orNull(text),
  client_version: orNull(text),
  attempts: number,
  trouble: orNull(text),
  flaw: orNull(oneOf<EvidenceFlaw>()),
  ignored: orNull(json<UploadIgnored>()),
};

export const TEST_SETTINGS = {
  version: number,
  settings: json<TestSettings>(),
  monitors: json<readonly Monitor[]>(),
  applied_version: number,
  applied_monitors: json<readonly Monitor[]>(),
  actor: orNull(text),
  changed_at: orNull(number),
};

export const TEST_TABLES = {
  test_sequences: {
    repository_id: text,
    last_seq: number,
    last_test_no: number,
    /** Grows when the set of quarantined tests changes. */
    quarantine_version: number,
    /** Batches up to this one are forgotten, and their runs with them. */
    forgotten_seq: number,
    /** The runs of batches up to this one are counted in the stored memories of their tests. */
    counted_seq: number,
    /** Tests that exist. */
    test_count: number,
    /** 0.2.0 and earlier versions count renamed and forgotten tests here. */
    names_version: number,
  },
  tests: {
    ...TEST,
    /** The text that a search matches, in lower case. */
    search_text: text,
  },
  /** The test was of this kind for the watermarks from `from_seq` until before `to_seq`. */
  test_states: {
    repository_id: text,
    test_id: text,
    kind: oneOf<TestStatus | 'QUARANTINED'>(),
    from_seq: number,
    to_seq: orNull(number),
  },
  test_memories: {
    repository_id: text,
    ...TEST_MEMORY,
    /** A list that sorts all tests would have to read all of `runs` to count them. */
    days: json<DailyCounts>(),
  },
  /** Figures that follow from the days of `test_memories`, and facts of `tests`: lists sort and filter by them, in their indexes alone. */
  test_figures: {
    repository_id: text,
    test_no: number,
    status: oneOf<TestStatus>(),
    is_quarantined: flag,
    /** The oldest of the days. A large number if there are none: nothing of them will leave the window. */
    first_day: number,
    failures: number,
    /** Failures in a million runs. */
    failure_ppm: number,
    /** Pull requests in which it failed while it was unhealthy and not quarantined. */
    pull_requests: number,
    /** The average to within a twentieth, so that a pass rarely moves the test in the index; -1: unknown. */
    duration_us: number,
    /** 0: never. */
    last_failure_at: number,
  },
  /** Behind `pull_requests` of the figures: the last day on which the test blocked the pull request. */
  test_pull_requests: { repository_id: text, test_no: number, pr_number: number, day: number },
  test_owners: { repository_id: text, owner: text, test_no: number },
  test_batches: {
    repository_id: text,
    seq: number,
    ...BATCH_FACTS,
    /** Of version 0.2, which may write beside this one. */
    is_proven: flag,
    received_at: number,
    /** The part that holds its runs; null: it has none. */
    part: orNull(number),
    run_count: number,
  },
  /** Each row is one execution of a test. */
  runs: {
    part: number,
    test_no: number,
    started_at: number,
    /** The batch that brought it. */
    seq: number,
    /** The how manieth run of its test in the batch, from 0. */
    ordinal: number,
    /** Its place in RUN_CONCLUSIONS; the table `run_conclusions` has the names. */
    conclusion: number,
    /** Null: not told. */
    duration_us: orNull(number),
    is_quarantined: flag,
  },
  /** Each row stands for runs of one repository that came one after the other. */
  run_parts: {
    part: number,
    /** Null: the part is retired. Its runs are invisible and about to be removed. */
    repository_id: orNull(text),
    retired_from: orNull(text),
    last_seq: number,
    first_started_at: number,
    last_started_at: number,
    batch_count: number,
    run_count: number,
  },
  run_conclusions: { conclusion: number, name: oneOf<RunConclusion>() },
  test_failures: {
    repository_id: text,
    test_no: number,
    started_at: number,
    seq: number,
    ordinal: number,
    pr_number: orNull(number),
    is_blocking: flag,
    is_quarantined: flag,
    failure_group: text,
    summary: text,
  },
  test_failure_texts: {
    repository_id: text,
    seq: number,
    ordinal: number,
    test_no: number,
    started_at: number,
    text,
    suite_path: orNull(text),
  },
  test_events: { repository_id: text, seq: number, ordinal: number, ...TEST_EVENT },
  check_results: { repository_id: text, candidate_id: text, check_name: text, body: text, at: number },
  uploads: {
    ...UPLOAD,
    /** In order of acceptance; null: not accepted yet. */
    no: orNull(number),
    /** Of the fields, to find it by. */
    candidate_id: orNull(text),
    check_name: orNull(text),
    tests_ran: orNull(number),
    tests_failed: orNull(number),
    retry_at: orNull(number),
    /** Its evidence was taken back, and its tests are not counted again yet. */
    is_to_recount: flag,
    /** Of version 0.2, which may write beside this one. */
    is_proven: flag,
  },
  upload_sequences: { repository_id: text, last_no: number },
  upload_bodies: { id: text, pieces: number, size_bytes: number, last_at: number },
  upload_pieces: { body_id: text, file_no: number, piece: number, data: bytes },
  ingest_leases: { repository_id: text, lease_holder: text, lease_until: number },
  test_settings: { repository_id: text, ...TEST_SETTINGS },
  test_setting_changes: {
    repository_id: text,
    version: number,
    at: number,
    actor: text,
    detail: text,
    monitors: json<readonly Monitor[]>(),
  },
};
