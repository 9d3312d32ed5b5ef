import type { Migration } from './migration.ts';

export const initial: Migration = {
  name: '001-initial',
  statements: ({ hasLongKeys, hasPartitions }) => [
    ...accounts(),
    ...queues(),
    ...entries(),
    ...candidates(),
    ...logs(),
    ...feed(),
    ...webhooks(),
    ...forgeEvents(),
    ...tests(hasLongKeys),
    ...testFigures(),
    ...(hasPartitions ? partedRuns() : clusteredRuns()),
    ...runParts(),
    ...failures(),
    ...uploads(),
    ...testSettings(),
  ],
};

function accounts() {
  return [
    'create table meta (name TEXT primary key, value TEXT not null)',
    'create table organizations (id TEXT primary key, slug TEXT not null unique, created_at bigint not null)',
    `create table tokens (
      id TEXT primary key, organization_id TEXT not null references organizations (id), name TEXT not null,
      hash TEXT not null unique, scopes TEXT not null, repository_ids TEXT, origin TEXT not null,
      created_at bigint not null, expires_at bigint, revoked_at bigint, last_used_at bigint
    )`,
    'create index tokens_by_organization on tokens (organization_id, created_at, id)',
    `create table repositories (
      id TEXT primary key, organization_id TEXT not null references organizations (id),
      host TEXT not null, owner TEXT not null, name TEXT not null, git TEXT, forge_id TEXT, blocked_reason TEXT,
      run_hooks boolean not null, checks TEXT not null, junit TEXT not null, trust_checks boolean not null,
      created_at bigint not null, updated_at bigint not null,
      unique (organization_id, host, owner, name)
    )`,
    // Finds one whatever the letters of its name.
    'create index repositories_by_spelling on repositories (organization_id, host, lower(owner), lower(name))',
  ];
}

/** Rows of a queue need no foreign key to it: every commit updates the queue's row in the same transaction. */
function queues() {
  return [
    `create table queues (
      id TEXT primary key, repository_id TEXT not null references repositories (id), branch TEXT not null,
      version bigint not null, body TEXT not null, created_at bigint not null, deleted_at bigint
    )`,
    'create unique index queues_by_branch on queues (repository_id, branch) where deleted_at is null',
    'create index queues_deleted on queues (repository_id, branch, deleted_at) where deleted_at is not null',
    `create table queue_events (
      queue_id TEXT not null, version bigint not null, at bigint not null, kind TEXT not null, body TEXT not null,
      primary key (queue_id, version)
    ) CLUSTERED`,
    `create table effects (
      queue_id TEXT not null, id TEXT not null, version bigint not null, ordinal bigint not null,
      kind TEXT not null, stream TEXT not null, due_at bigint not null, body TEXT not null,
      attempts bigint not null, last_error TEXT, parked_at bigint, lease_holder TEXT, lease_until bigint,
      primary key (queue_id, id)
    )`,
    // A worker that settles an effect names it alone.
    'create unique index effects_by_id on effects (id)',
    'create index effects_by_stream on effects (queue_id, stream, version, ordinal)',
    'create index effects_by_due_time on effects (due_at, version, ordinal) where parked_at is null',
    'create index effects_leased on effects (lease_until) where lease_until is not null',
  ];
}

/** Each index serves one query. Keys begin with what grows: by random ids a commit would touch pages everywhere. */
function entries() {
  return [
    `create table entries (
      id TEXT primary key, queue_id TEXT not null, pr_number bigint not null, version bigint not null,
      is_live boolean not null, state TEXT not null, submitted_at bigint not null, targets_digest TEXT, body TEXT not null,
      unique (queue_id, pr_number)
    )`,
    'create index entries_by_version on entries (queue_id, is_live, version)',
    'create index entries_by_submission on entries (queue_id, submitted_at desc, id)',
    'create index entries_by_state on entries (queue_id, state, submitted_at desc, id)',
    'create index entries_by_target_set on entries (targets_digest) where targets_digest is not null',
    `create table transitions (
      queue_id TEXT not null, entry_id TEXT not null, pr_number bigint not null, version bigint not null,
      ordinal bigint not null, at bigint not null, from_state TEXT, to_state TEXT not null, is_bisection boolean not null,
      duration_ms bigint, in_queue_ms bigint, body TEXT not null,
      primary key (queue_id, pr_number, version, ordinal)
    ) CLUSTERED`,
    'create index transitions_by_instant on transitions (queue_id, at, from_state)',
    `create index transitions_concluding on transitions (queue_id, at)
      where to_state in ('MERGED', 'FAILED', 'CANCELLED')`,
    'create table target_sets (digest TEXT primary key, body TEXT not null, created_at bigint not null)',
    'create index target_sets_by_age on target_sets (created_at)',
    `create table impacted_targets (
      queue_id TEXT not null, pr_number bigint not null, sha TEXT not null, body TEXT not null, targets_digest TEXT,
      set_at bigint not null, is_of_fork boolean not null,
      primary key (queue_id, pr_number, sha)
    )`,
    'create index impacted_targets_by_target_set on impacted_targets (targets_digest) where targets_digest is not null',
  ];
}

function candidates() {
  return [
    `create table candidates (
      queue_id TEXT not null, number bigint not null, id TEXT not null unique, version bigint not null,
      is_live boolean not null, state TEXT not null, is_bisection boolean not null, sha TEXT,
      created_at bigint not null, ended_at bigint, body TEXT not null,
      primary key (queue_id, number)
    )`,
    'create index candidates_by_version on candidates (queue_id, is_live, version)',
    'create index candidates_by_sha on candidates (sha, queue_id) where sha is not null',
  ];
}

/** Logs outlive what they are about until they are old, and an alarm may be about a queue that is being removed. */
function logs() {
  return [
    `create table logs (
      candidate_id TEXT not null, check_name TEXT not null, size bigint not null, last_at bigint not null,
      primary key (candidate_id, check_name)
    ) CLUSTERED`,
    'create index logs_by_age on logs (last_at)',
    // Not clustered: with rows this large in it, the tree that is searched would be deep.
    `create table log_chunks (
      candidate_id TEXT not null, check_name TEXT not null, start bigint not null, length bigint not null,
      encoding TEXT not null, data BYTES not null,
      primary key (candidate_id, check_name, start)
    )`,
    `create table alarms (
      id TEXT primary key, queue_id TEXT not null, code TEXT not null, text TEXT not null, at bigint not null,
      ended_at bigint
    )`,
    'create index alarms_by_time on alarms (queue_id, at)',
    'create index alarms_by_code on alarms (queue_id, code)',
    'create table audit_marks (queue_id TEXT primary key, sha TEXT, version bigint not null, at bigint not null)',
  ];
}

/**
 * An event is stored without a place in the transaction in which it happened: two servers may commit at once, and a
 * reader must never see a later place before an earlier one. The sequencer assigns places, one organization at a time.
 */
function feed() {
  return [
    `create table feed (
      source TEXT not null, version bigint not null, ordinal bigint not null, at bigint not null, type TEXT not null,
      organization_id TEXT, repository_id TEXT, queue_id TEXT, target_branch TEXT, pr_number bigint, test_id TEXT,
      body TEXT not null, seq bigint, repo TEXT, digest TEXT,
      primary key (source, version, ordinal)
    ) CLUSTERED`,
    'create index feed_without_place on feed (source, version, ordinal) where seq is null',
    'create unique index feed_by_place on feed (organization_id, seq) where seq is not null',
    'create index feed_by_type on feed (organization_id, type, seq) where seq is not null',
    'create index feed_by_repository on feed (repository_id, seq) where seq is not null',
    'create index feed_by_pull_request on feed (repository_id, pr_number, seq) where seq is not null and pr_number is not null',
    'create index feed_by_test on feed (repository_id, test_id, seq) where seq is not null and test_id is not null',
    'create index feed_of_audit on feed (organization_id, seq) where digest is not null',
    'create index feed_by_age on feed (at) where digest is null and seq is not null',
    'create table feed_heads (organization_id TEXT primary key, last_seq bigint not null, digest TEXT)',
  ];
}

/** Deliveries need no foreign key to their webhook: both are removed in one transaction. */
function webhooks() {
  return [
    `create table webhooks (
      id TEXT primary key, organization_id TEXT not null references organizations (id), name TEXT not null,
      format TEXT not null, types TEXT not null, repository_ids TEXT, may_reach_private boolean not null,
      url TEXT not null, masked_url TEXT not null, secret TEXT not null, old_secret TEXT, old_secret_until bigint,
      cursor bigint not null, failing_since bigint, disabled_at bigint, created_by TEXT not null,
      created_at bigint not null
    )`,
    'create index webhooks_by_organization on webhooks (organization_id, created_at, id)',
    `create table webhook_deliveries (
      id TEXT primary key, webhook_id TEXT not null, seq bigint not null, type TEXT not null, line TEXT not null,
      pr_numbers TEXT, state TEXT not null, attempts bigint not null, due_at bigint not null,
      created_at bigint not null, tried_at bigint, last_status bigint, last_error TEXT,
      lease_holder TEXT, lease_until bigint
    )`,
    'create index webhook_deliveries_by_place on webhook_deliveries (webhook_id, seq, id)',
    `create index webhook_deliveries_by_due_time on webhook_deliveries (webhook_id, due_at, seq)
      where state = 'PENDING'`,
    `create index webhook_deliveries_by_line on webhook_deliveries (webhook_id, line, seq)
      where state = 'PENDING' and attempts = 0`,
    `create index webhook_deliveries_leased on webhook_deliveries (webhook_id, lease_until)
      where lease_until is not null`,
    `create index webhook_deliveries_ended on webhook_deliveries (created_at) where state <> 'PENDING'`,
  ];
}

/** Hints name repositories as a forge does: which of ours that is, is known when a worker looks. */
function forgeEvents() {
  return [
    `create table hints (
      host TEXT not null, key TEXT not null, kind TEXT not null, body TEXT not null, received_at bigint not null,
      due_at bigint not null, version bigint not null, attempts bigint not null,
      lease_holder TEXT, lease_until bigint, remembered_until bigint,
      primary key (host, key)
    ) CLUSTERED`,
    'create index hints_by_due_time on hints (due_at, host, key) where remembered_until is null',
    'create index hints_leased on hints (lease_until) where lease_until is not null',
    'create index hints_remembered on hints (remembered_until) where remembered_until is not null',
    `create table pull_request_notes (
      repository_id TEXT not null, pr_number bigint not null, version bigint not null, body TEXT not null,
      primary key (repository_id, pr_number)
    )`,
  ];
}

/** Tables with large rows are not clustered: the tree that is searched would be deep. */
function tests(hasLongKeys: boolean) {
  return [
    `create table test_sequences (
      repository_id TEXT primary key references repositories (id), last_seq bigint not null,
      last_test_no bigint not null, quarantine_version bigint not null, forgotten_seq bigint not null,
      counted_seq bigint not null, test_count bigint not null, names_version bigint not null
    )`,
    `create table tests (
      repository_id TEXT not null, id TEXT not null, no bigint not null, name TEXT not null, variant TEXT not null,
      parent TEXT, classname TEXT, file TEXT, codeowners TEXT not null, first_seen_at bigint not null,
      status TEXT not null, status_reason TEXT not null, status_at bigint not null,
      quarantine_override TEXT not null, override TEXT, quarantined_at bigint, is_flagged boolean not null,
      labels TEXT not null, ticket_url TEXT, search_text TEXT not null,
      primary key (repository_id, id)
    )`,
    'create unique index tests_by_number on tests (repository_id, no)',
    // Tests are searched in the order of their names, without their rows.
    ...(hasLongKeys ? ['create index tests_by_name on tests (repository_id, name, id, search_text)'] : []),
    `create table test_states (
      repository_id TEXT not null, kind TEXT not null, test_id TEXT not null, from_seq bigint not null, to_seq bigint,
      primary key (repository_id, kind, test_id, from_seq)
    ) CLUSTERED`,
    `create table test_memories (
      repository_id TEXT not null, test_no bigint not null, seq bigint not null, next_check_at bigint,
      settings_version bigint not null, last_run_at bigint, state TEXT not null, days TEXT not null,
      primary key (repository_id, test_no)
    )`,
    'create index test_memories_due on test_memories (next_check_at) where next_check_at is not null',
    `create table test_batches (
      repository_id TEXT not null, seq bigint not null, upload_id TEXT not null, branch TEXT not null, sha TEXT not null,
      job TEXT not null, job_attempt bigint, job_name TEXT not null, job_url TEXT, pr_number bigint, flaw TEXT,
      is_proven boolean not null, received_at bigint not null, part integer, run_count integer not null,
      primary key (repository_id, seq)
    )`,
    'create index test_batches_by_commit on test_batches (repository_id, sha, job, seq)',
    'create index test_batches_by_upload on test_batches (repository_id, upload_id)',
  ];
}

/** One index for each order in which tests are listed. They end with the facts that lists are filtered by. */
function testFigures() {
  const order = (name: string, keys: string) =>
    `create index test_figures_${name} on test_figures (repository_id, ${keys}, test_no, status, is_quarantined)`;
  return [
    `create table test_figures (
      repository_id TEXT not null, test_no bigint not null, status TEXT not null, is_quarantined boolean not null,
      first_day bigint not null, failures bigint not null, failure_ppm bigint not null, pull_requests bigint not null,
      duration_us bigint not null, last_failure_at bigint not null,
      primary key (repository_id, test_no)
    ) CLUSTERED`,
    order('impact', 'pull_requests desc, failures desc'),
    order('failures', 'failures desc'),
    order('rate', 'failure_ppm desc, failures desc'),
    order('duration', 'duration_us desc'),
    order('last_failure', 'last_failure_at desc'),
    'create index test_figures_by_day on test_figures (first_day, repository_id, test_no)',
    `create table test_pull_requests (
      repository_id TEXT not null, test_no bigint not null, pr_number bigint not null, day bigint not null,
      primary key (repository_id, test_no, pr_number)
    ) CLUSTERED`,
    `create table test_owners (
      repository_id TEXT not null, owner TEXT not null, test_no bigint not null,
      primary key (repository_id, owner, test_no)
    ) CLUSTERED`,
  ];
}

const RUN_COLUMNS = `part integer not null, test_no integer not null, started_at bigint not null, duration_us bigint,
      seq integer not null, ordinal integer not null, conclusion smallint not null, is_quarantined boolean not null`;

/** Clustered by part and test, so that a batch writes few pages and a test's history is one seek a part. */
function clusteredRuns() {
  return [`create table runs (${RUN_COLUMNS}, primary key (part, test_no, started_at, seq, ordinal)) CLUSTERED`];
}

/** PostgreSQL keeps no table in the order of a key; its index is not unique, because equal keys share one entry there. */
function partedRuns() {
  return [
    `create table runs (${RUN_COLUMNS}) partition by range (part)`,
    'create index runs_by_test on runs (part, test_no)',
  ];
}

function runParts() {
  return [
    `create table run_parts (
      part integer primary key, repository_id TEXT, retired_from TEXT, last_seq integer not null,
      first_started_at bigint not null, last_started_at bigint not null, batch_count integer not null,
      run_count integer not null
    )`,
    'create index run_parts_by_repository on run_parts (repository_id, part)',
    'create table run_conclusions (conclusion smallint primary key, name TEXT not null)',
    `insert into run_conclusions values (0, 'SUCCESS'), (1, 'FAILURE'), (2, 'SKIPPED')`,
  ];
}

/** Counts and groups are stored by test, apart from the failure texts, which are many times larger. */
function failures() {
  return [
    `create table test_failures (
      repository_id TEXT not null, test_no bigint not null, started_at bigint not null, seq bigint not null,
      ordinal bigint not null, pr_number bigint, is_blocking boolean not null, is_quarantined boolean not null,
      failure_group TEXT not null, summary TEXT not null,
      primary key (repository_id, test_no, started_at, seq, ordinal)
    ) CLUSTERED`,
    'create index test_failures_by_time on test_failures (repository_id, started_at, test_no, seq)',
    `create table test_failure_texts (
      repository_id TEXT not null, seq bigint not null, ordinal bigint not null, test_no bigint not null,
      started_at bigint not null, text TEXT not null, suite_path TEXT,
      primary key (repository_id, seq, ordinal)
    )`,
    `create table test_events (
      repository_id TEXT not null, test_id TEXT not null, at bigint not null, seq bigint not null, ordinal bigint not null,
      kind TEXT not null, actor TEXT, detail TEXT not null,
      primary key (repository_id, test_id, at, seq, ordinal)
    )`,
    'create index test_events_by_time on test_events (repository_id, at)',
    `create table check_results (
      repository_id TEXT not null, candidate_id TEXT not null, check_name TEXT not null, body TEXT not null,
      at bigint not null,
      primary key (repository_id, candidate_id, check_name)
    )`,
    'create index check_results_by_time on check_results (repository_id, at)',
  ];
}

function uploads() {
  return [
    `create table uploads (
      id TEXT primary key, repository_id TEXT not null references repositories (id), no bigint, kind TEXT not null,
      status TEXT not null, received_at bigint not null, processed_at bigint, fields TEXT, candidate_id TEXT,
      check_name TEXT, body_id TEXT, files TEXT not null, size_bytes bigint not null, parts_done bigint not null,
      test_runs bigint not null, issues TEXT not null, digest TEXT, client_version TEXT, attempts bigint not null,
      trouble TEXT, retry_at bigint, is_proven boolean not null, flaw TEXT, tests_ran bigint, tests_failed bigint,
      ignored TEXT, is_to_recount boolean not null
    )`,
    'create unique index uploads_by_number on uploads (repository_id, no)',
    `create index uploads_waiting on uploads (received_at) where status = 'ACCEPTED'`,
    `create index uploads_waiting_of on uploads (repository_id, no) where status = 'ACCEPTED'`,
    'create index uploads_by_digest on uploads (repository_id, digest) where digest is not null',
    'create unique index uploads_by_body on uploads (body_id)',
    'create index uploads_by_age on uploads (received_at)',
    'create index uploads_to_recount on uploads (id) where is_to_recount',
    'create table upload_sequences (repository_id TEXT primary key references repositories (id), last_no bigint not null)',
    `create table upload_bodies (
      id TEXT primary key, pieces bigint not null, size_bytes bigint not null, last_at bigint not null
    )`,
    'create index upload_bodies_by_age on upload_bodies (last_at)',
    `create table upload_pieces (
      body_id TEXT not null, file_no bigint not null, piece bigint not null, data BYTES not null,
      primary key (body_id, file_no, piece)
    )`,
    `create table ingest_leases (
      repository_id TEXT primary key, lease_holder TEXT not null, lease_until bigint not null
    )`,
  ];
}

function testSettings() {
  return [
    `create table test_settings (
      repository_id TEXT primary key references repositories (id), version bigint not null, settings TEXT not null,
      monitors TEXT not null, applied_version bigint not null, applied_monitors TEXT not null, actor TEXT,
      changed_at bigint
    )`,
    'create index test_settings_behind on test_settings (repository_id) where applied_version < version',
    `create table test_setting_changes (
      repository_id TEXT not null, version bigint not null, at bigint not null, actor TEXT not null, detail TEXT not null,
      monitors TEXT not null,
      primary key (repository_id, version)
    )`,
  ];
}
