import type { Selectable } from 'kysely';
import type { Organization, OrganizationId, Scope, Token } from '../accounts.ts';
import type { AlarmRow, AuditMark } from '../alarms.ts';
import type { HintRow, StoredHint } from '../hints.ts';
import type { PullRequestNote } from '../pull-request-notes.ts';
import type {
  CandidateRow,
  EntryRow,
  EventRow,
  ImpactedTargetsRow,
  QueueId,
  QueueRow,
  StoredEffect,
  TransitionRow,
} from '../queues.ts';
import type { Repository, RepositoryId, RunnerCheck } from '../repositories.ts';
import type {
  AlarmsTable,
  AuditMarksTable,
  CandidatesTable,
  EffectsTable,
  EntriesTable,
  HintsTable,
  ImpactedTargetsTable,
  PullRequestNotesTable,
  QueuesTable,
  RepositoriesTable,
  Schema,
  TokensTable,
  TransitionsTable,
} from './schema.ts';

/** Rows of the database to rows of the ports and back: the one place that knows how each value is kept. */

export function toOrganization(row: Selectable<Schema['organizations']>): Organization {
  return { id: row.id as OrganizationId, slug: row.slug, createdAt: row.created_at };
}

export function toToken(row: Selectable<TokensTable>): Token {
  return {
    id: row.id,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    hash: row.hash,
    scopes: JSON.parse(row.scopes) as Scope[],
    repositoryIds: row.repository_ids === null ? null : (JSON.parse(row.repository_ids) as string[]),
    origin: row.origin,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

export function fromToken(token: Token): TokensTable {
  return {
    id: token.id,
    organization_id: token.organizationId,
    name: token.name,
    hash: token.hash,
    scopes: JSON.stringify(token.scopes),
    repository_ids: token.repositoryIds === null ? null : JSON.stringify(token.repositoryIds),
    origin: token.origin,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    revoked_at: token.revokedAt,
    last_used_at: token.lastUsedAt,
  };
}

export function toRepository(row: Selectable<RepositoriesTable>): Repository {
  return {
    id: row.id as RepositoryId,
    organizationId: row.organization_id as OrganizationId,
    host: row.host,
    owner: row.owner,
    name: row.name,
    git: row.git,
    forgeId: row.forge_id,
    blockedReason: row.blocked_reason,
    runHooks: Boolean(row.run_hooks),
    checks: JSON.parse(row.checks) as RunnerCheck[],
    junit: JSON.parse(row.junit) as string[],
    trustChecks: Boolean(row.trust_checks),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function fromRepository(repository: Repository): RepositoriesTable {
  return {
    id: repository.id,
    organization_id: repository.organizationId,
    host: repository.host,
    owner: repository.owner,
    name: repository.name,
    git: repository.git,
    forge_id: repository.forgeId,
    blocked_reason: repository.blockedReason,
    run_hooks: repository.runHooks,
    checks: JSON.stringify(repository.checks),
    junit: JSON.stringify(repository.junit),
    trust_checks: repository.trustChecks,
    created_at: repository.createdAt,
    updated_at: repository.updatedAt,
  };
}

export function toQueue(row: Selectable<QueuesTable>): QueueRow {
  return {
    id: row.id as QueueId,
    repositoryId: row.repository_id as RepositoryId,
    branch: row.branch,
    version: row.version,
    body: row.body,
    createdAt: row.created_at,
  };
}

export function toEvent(row: Selectable<Schema['queue_events']>): EventRow {
  return { version: row.version, at: row.at, kind: row.kind, body: row.body };
}

export function fromEvent(queueId: string, event: EventRow): Schema['queue_events'] {
  return { queue_id: queueId, version: event.version, at: event.at, kind: event.kind, body: event.body };
}

export function toEntry(row: Selectable<EntriesTable>): EntryRow {
  return {
    id: row.id,
    queueId: row.queue_id as QueueId,
    prNumber: row.pr_number,
    version: row.version,
    isLive: Boolean(row.is_live),
    state: row.state,
    submittedAt: row.submitted_at,
    targetsDigest: row.targets_digest,
    body: row.body,
  };
}

export function fromEntry(entry: EntryRow): EntriesTable {
  return {
    id: entry.id,
    queue_id: entry.queueId,
    pr_number: entry.prNumber,
    version: entry.version,
    is_live: entry.isLive,
    state: entry.state,
    submitted_at: entry.submittedAt,
    targets_digest: entry.targetsDigest,
    body: entry.body,
  };
}

export function toTransition(row: Selectable<TransitionsTable>): TransitionRow {
  return {
    queueId: row.queue_id as QueueId,
    entryId: row.entry_id,
    prNumber: row.pr_number,
    version: row.version,
    ordinal: row.ordinal,
    at: row.at,
    from: row.from_state,
    to: row.to_state,
    isBisection: Boolean(row.is_bisection),
    durationMs: row.duration_ms,
    inQueueMs: row.in_queue_ms,
    body: row.body,
  };
}

export function fromTransition(transition: TransitionRow): TransitionsTable {
  return {
    queue_id: transition.queueId,
    entry_id: transition.entryId,
    pr_number: transition.prNumber,
    version: transition.version,
    ordinal: transition.ordinal,
    at: transition.at,
    from_state: transition.from,
    to_state: transition.to,
    is_bisection: transition.isBisection,
    duration_ms: transition.durationMs,
    in_queue_ms: transition.inQueueMs,
    body: transition.body,
  };
}

export function toCandidate(row: Selectable<CandidatesTable>): CandidateRow {
  return {
    queueId: row.queue_id as QueueId,
    number: row.number,
    id: row.id,
    version: row.version,
    isLive: Boolean(row.is_live),
    state: row.state,
    isBisection: Boolean(row.is_bisection),
    sha: row.sha,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    body: row.body,
  };
}

export function fromCandidate(candidate: CandidateRow): CandidatesTable {
  return {
    queue_id: candidate.queueId,
    number: candidate.number,
    id: candidate.id,
    version: candidate.version,
    is_live: candidate.isLive,
    state: candidate.state,
    is_bisection: candidate.isBisection,
    sha: candidate.sha,
    created_at: candidate.createdAt,
    ended_at: candidate.endedAt,
    body: candidate.body,
  };
}

export function toEffect(row: Selectable<EffectsTable>): StoredEffect {
  return {
    id: row.id,
    queueId: row.queue_id as QueueId,
    kind: row.kind,
    stream: row.stream,
    dueAt: row.due_at,
    body: row.body,
    attempts: row.attempts,
    lastError: row.last_error,
    parkedAt: row.parked_at,
  };
}

export function toImpactedTargets(row: Selectable<ImpactedTargetsTable>): ImpactedTargetsRow {
  return {
    queueId: row.queue_id as QueueId,
    prNumber: row.pr_number,
    sha: row.sha,
    body: row.body,
    targetsDigest: row.targets_digest,
    setAt: row.set_at,
    isOfFork: Boolean(row.is_of_fork),
  };
}

export function fromImpactedTargets(row: ImpactedTargetsRow): ImpactedTargetsTable {
  return {
    queue_id: row.queueId,
    pr_number: row.prNumber,
    sha: row.sha,
    body: row.body,
    targets_digest: row.targetsDigest,
    set_at: row.setAt,
    is_of_fork: row.isOfFork,
  };
}

export function toAlarm(row: Selectable<AlarmsTable>): AlarmRow {
  const { id, queue_id, code, text, at, ended_at: endedAt } = row;
  return { id, queueId: queue_id as QueueId, code, text, at, endedAt };
}

export function toAuditMark(row: Selectable<AuditMarksTable>): AuditMark {
  return { sha: row.sha, version: row.version, at: row.at };
}

export function toHint(row: Selectable<HintsTable>): StoredHint {
  return {
    host: row.host,
    key: row.key,
    kind: row.kind,
    body: row.body,
    receivedAt: row.received_at,
    dueAt: row.due_at,
    version: row.version,
    attempts: row.attempts,
  };
}

/** As it is stored first. */
export function fromHint(hint: HintRow): HintsTable {
  return {
    host: hint.host,
    key: hint.key,
    kind: hint.kind,
    body: hint.body,
    received_at: hint.receivedAt,
    due_at: hint.dueAt,
    version: 1,
    attempts: 0,
    lease_holder: null,
    lease_until: null,
    remembered_until: null,
  };
}

export function toPullRequestNote(row: Selectable<PullRequestNotesTable>): PullRequestNote {
  return {
    repositoryId: row.repository_id as RepositoryId,
    prNumber: row.pr_number,
    version: row.version,
    body: row.body,
  };
}
