import type { FileChecksGrant, RunnerCheck } from '../../checks/check.ts';
import type { OrganizationId, Scope, Token } from '../accounts.ts';
import type { ProvenPerson } from '../proven-person.ts';
import type { QueueId } from '../queues.ts';
import type { RepositoryId, RepositoryRef } from '../repositories.ts';
import type { Account, DeliveryState, WebhookFormat, WebhookId } from '../webhooks.ts';
import { bytes, flag, id, json, number, oneOf, orNull, text } from './columns.ts';

const LEASE = {
  /** Both or neither; a lease that is over stays until the next one, or until it is settled. */
  lease_holder: orNull(text),
  lease_until: orNull(number),
};

export const ORGANIZATION = {
  id: id<OrganizationId>(),
  slug: text,
  created_at: number,
};

export const TOKEN = {
  id: text,
  organization_id: id<OrganizationId>(),
  name: text,
  hash: text,
  scopes: json<readonly Scope[]>(),
  repository_ids: orNull(json<readonly string[]>()),
  origin: oneOf<Token['origin']>(),
  created_at: number,
  expires_at: orNull(number),
  revoked_at: orNull(number),
  last_used_at: orNull(number),
  made_by: orNull(text),
  person: orNull(json<ProvenPerson>()),
  signed_in_at: orNull(number),
  is_agent: flag,
};

export const REPOSITORY = {
  id: id<RepositoryId>(),
  organization_id: id<OrganizationId>(),
  host: text,
  owner: text,
  name: text,
  git: orNull(text),
  forge_id: orNull(text),
  blocked_reason: orNull(text),
  run_hooks: flag,
  checks: json<readonly RunnerCheck[]>(),
  junit: json<readonly string[]>(),
  file_checks: orNull(json<FileChecksGrant>()),
  trust_checks: flag,
  created_at: number,
  updated_at: number,
};

export const QUEUE = {
  id: id<QueueId>(),
  repository_id: id<RepositoryId>(),
  branch: text,
  version: number,
  body: text,
  created_at: number,
};

export const EVENT = { version: number, at: number, kind: text, body: text };

export const PAST_FACT = { subject: text, key: text, from_at: number, until_at: number, body: text };

export const ENTRY = {
  id: text,
  queue_id: id<QueueId>(),
  pr_number: number,
  version: number,
  is_live: flag,
  state: text,
  submitted_at: number,
  targets_digest: orNull(text),
  body: text,
};

export const TRANSITION = {
  queue_id: id<QueueId>(),
  entry_id: text,
  pr_number: number,
  version: number,
  ordinal: number,
  at: number,
  from_state: orNull(text),
  to_state: text,
  is_bisection: flag,
  duration_ms: orNull(number),
  in_queue_ms: orNull(number),
  body: text,
};

export const CANDIDATE = {
  queue_id: id<QueueId>(),
  number,
  id: text,
  version: number,
  is_live: flag,
  state: text,
  is_bisection: flag,
  sha: orNull(text),
  created_at: number,
  ended_at: orNull(number),
  body: text,
};

export const EFFECT = {
  queue_id: id<QueueId>(),
  id: text,
  kind: text,
  stream: text,
  due_at: number,
  body: text,
  attempts: number,
  last_error: orNull(text),
  parked_at: orNull(number),
};

export const IMPACTED_TARGETS = {
  queue_id: id<QueueId>(),
  pr_number: number,
  sha: text,
  body: text,
  targets_digest: orNull(text),
  set_at: number,
  is_of_fork: flag,
};

export const ALARM = {
  id: text,
  queue_id: id<QueueId>(),
  code: text,
  text,
  at: number,
  ended_at: orNull(number),
};

export const AUDIT_MARK = { sha: orNull(text), version: number, at: number };

export const FEED_EVENT = {
  source: text,
  version: number,
  ordinal: number,
  at: number,
  type: text,
  organization_id: orNull(text),
  repository_id: orNull(text),
  queue_id: orNull(text),
  target_branch: orNull(text),
  pr_number: orNull(number),
  test_id: orNull(text),
  body: text,
};

/** The sequencer fills these in. */
export const FEED_PLACE = {
  seq: orNull(number),
  repo: orNull(json<RepositoryRef>()),
  digest: orNull(text),
};

export const HINT = {
  host: text,
  key: text,
  kind: text,
  body: text,
  received_at: number,
  due_at: number,
  version: number,
  attempts: number,
};

export const WEBHOOK = {
  id: id<WebhookId>(),
  organization_id: id<OrganizationId>(),
  name: text,
  format: oneOf<WebhookFormat>(),
  types: json<readonly string[]>(),
  repository_ids: orNull(json<readonly RepositoryId[]>()),
  account: orNull(json<Account>()),
  may_reach_private: flag,
  url: text,
  masked_url: text,
  secret: text,
  old_secret: orNull(text),
  old_secret_until: orNull(number),
  cursor: number,
  failing_since: orNull(number),
  disabled_at: orNull(number),
  created_by: text,
  created_at: number,
};

export const WEBHOOK_DELIVERY = {
  id: text,
  webhook_id: id<WebhookId>(),
  seq: number,
  type: text,
  line: text,
  pr_numbers: orNull(json<readonly number[]>()),
  state: oneOf<DeliveryState>(),
  attempts: number,
  due_at: number,
  created_at: number,
  tried_at: orNull(number),
  last_status: orNull(number),
  last_error: orNull(text),
};

export const PULL_REQUEST_NOTE = {
  repository_id: id<RepositoryId>(),
  pr_number: number,
  version: number,
  body: text,
};

export const IDEMPOTENT_REQUEST = {
  token_id: text,
  key: text,
  digest: text,
  started_at: number,
  answer: orNull(text),
};

export const SESSION = {
  hash: text,
  token_id: text,
  created_at: number,
  used_at: number,
  is_link: flag,
  organization_id: orNull(id<OrganizationId>()),
  person: orNull(json<ProvenPerson>()),
};

export const QUEUE_TABLES = {
  migrations: { version: number, name: text, applied_at: number },
  meta: { name: text, value: text },
  organizations: ORGANIZATION,
  tokens: TOKEN,
  repositories: REPOSITORY,
  queues: {
    ...QUEUE,
    deleted_at: orNull(number),
    /** The instant of the newest commit, which is never earlier than that of the one before. */
    last_at: number,
  },
  queue_changes: {
    queue_id: text,
    version: number,
    at: number,
    size: number,
    body: text,
    /** The events of the commit that have no place in the feed yet (`encodeFeed`). */
    feed: orNull(text),
  },
  /** A whole queue at `version` and its changes up to `until_version`, where the next pack begins. */
  queue_packs: { queue_id: text, version: number, until_version: number, at: number, until_at: number, data: bytes },
  /** The rows that changed within each pack. */
  queue_pack_keys: { queue_id: text, key: text, version: number },
  past_facts: PAST_FACT,
  queue_events: { queue_id: text, ...EVENT },
  entries: ENTRY,
  transitions: TRANSITION,
  candidates: CANDIDATE,
  effects: {
    ...EFFECT,
    /** The commit that asked for it, and its place there: the order of effects. */
    version: number,
    ordinal: number,
    ...LEASE,
  },
  target_sets: {
    digest: text,
    body: text,
    /** Or the last time that it was named again. */
    created_at: number,
  },
  impacted_targets: IMPACTED_TARGETS,
  logs: {
    candidate_id: text,
    check_name: text,
    /** The next chunk begins at this offset. */
    size: number,
    last_at: number,
  },
  log_chunks: {
    candidate_id: text,
    check_name: text,
    start: number,
    /** Of the bytes as they were given. */
    length: number,
    encoding: oneOf<'plain' | 'zstd'>(),
    data: bytes,
  },
  alarms: ALARM,
  feed: { ...FEED_EVENT, ...FEED_PLACE },
  /** Events of one source, but not of a queue, that have no place yet, as one transaction stored them. */
  feed_waiting: {
    source: text,
    /** Of the first of them. */
    version: number,
    part: number,
    organization_id: orNull(text),
    repository_id: orNull(text),
    /** How many events. */
    size: number,
    events: text,
  },
  feed_heads: { organization_id: text, last_seq: number, digest: orNull(text) },
  audit_marks: { queue_id: text, ...AUDIT_MARK },
  hints: { ...HINT, ...LEASE, remembered_until: orNull(number) },
  webhooks: WEBHOOK,
  webhook_deliveries: { ...WEBHOOK_DELIVERY, ...LEASE },
  pull_request_notes: PULL_REQUEST_NOTE,
  idempotent_requests: IDEMPOTENT_REQUEST,
  sessions: SESSION,
};
