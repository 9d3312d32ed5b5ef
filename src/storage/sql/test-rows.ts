import type { Selectable } from 'kysely';
import type { RepositoryId } from '../repositories.ts';
import type { BatchFacts, StoredFailure, TestMemory } from '../test-ingest.ts';
import type { OverrideFacts, TestEventRow, TestRow } from '../tests.ts';
import type {
  TestBatchesTable,
  TestEventsTable,
  TestFailuresTable,
  TestFailureTextsTable,
  TestMemoriesTable,
  TestStatesTable,
  TestsTable,
} from './schema.ts';

/** Rows about tests, of the database to rows of the ports and back, as in rows.ts. */

export function toTest(row: Selectable<TestsTable>): TestRow {
  return {
    id: row.id,
    repositoryId: row.repository_id as RepositoryId,
    no: row.no,
    name: row.name,
    variant: row.variant,
    parent: row.parent,
    classname: row.classname,
    file: row.file,
    codeowners: JSON.parse(row.codeowners) as string[],
    firstSeenAt: row.first_seen_at,
    status: row.status,
    statusReason: row.status_reason,
    statusAt: row.status_at,
    quarantineOverride: row.quarantine_override,
    override: row.override === null ? null : (JSON.parse(row.override) as OverrideFacts),
    quarantinedAt: row.quarantined_at,
    isFlagged: Boolean(row.is_flagged),
    labels: JSON.parse(row.labels) as string[],
    ticketUrl: row.ticket_url,
  };
}

export function fromTest(test: TestRow): TestsTable {
  return {
    repository_id: test.repositoryId,
    id: test.id,
    no: test.no,
    name: test.name,
    variant: test.variant,
    parent: test.parent,
    classname: test.classname,
    file: test.file,
    codeowners: JSON.stringify(test.codeowners),
    first_seen_at: test.firstSeenAt,
    status: test.status,
    status_reason: test.statusReason,
    status_at: test.statusAt,
    quarantine_override: test.quarantineOverride,
    override: test.override === null ? null : JSON.stringify(test.override),
    quarantined_at: test.quarantinedAt,
    is_flagged: test.isFlagged,
    labels: JSON.stringify(test.labels),
    ticket_url: test.ticketUrl,
    search_text: searchTextOf(test),
  };
}

function searchTextOf({ name, classname, file, parent }: TestRow): string {
  return [...new Set([name, classname, file, parent])].filter(Boolean).join('\n').toLowerCase();
}

export function kindsOf(status: TestRow['status'], quarantinedAt: number | null): TestStatesTable['kind'][] {
  return quarantinedAt === null ? [status] : [status, 'QUARANTINED'];
}

export function toMemory(row: Omit<Selectable<TestMemoriesTable>, 'repository_id'>): TestMemory {
  return {
    testNo: row.test_no,
    seq: row.seq,
    state: row.state,
    nextCheckAt: row.next_check_at,
    settingsVersion: row.settings_version,
    lastRunAt: row.last_run_at,
  };
}

export function fromMemory(repositoryId: string, memory: TestMemory): TestMemoriesTable {
  return {
    repository_id: repositoryId,
    test_no: memory.testNo,
    seq: memory.seq,
    next_check_at: memory.nextCheckAt,
    settings_version: memory.settingsVersion,
    last_run_at: memory.lastRunAt,
    state: memory.state,
  };
}

/** Columns of a batch that hold for all its runs. */
export const FACT_COLUMNS = [
  ...(['upload_id', 'branch', 'sha', 'job', 'job_attempt', 'job_name', 'job_url'] as const),
  ...(['pr_number', 'flaw', 'is_proven'] as const),
];

export function toFacts(row: Pick<Selectable<TestBatchesTable>, (typeof FACT_COLUMNS)[number]>): BatchFacts {
  return {
    uploadId: row.upload_id,
    branch: row.branch,
    sha: row.sha,
    job: row.job,
    jobAttempt: row.job_attempt,
    jobName: row.job_name,
    jobUrl: row.job_url,
    prNumber: row.pr_number,
    flaw: row.flaw,
    isProven: Boolean(row.is_proven),
  };
}

interface BatchPlace {
  readonly repositoryId: string;
  readonly seq: number;
  readonly receivedAt: number;
  readonly part: number | null;
  readonly runCount: number;
}

export function fromBatch(place: BatchPlace, facts: BatchFacts): TestBatchesTable {
  return {
    repository_id: place.repositoryId,
    seq: place.seq,
    upload_id: facts.uploadId,
    branch: facts.branch,
    sha: facts.sha,
    job: facts.job,
    job_attempt: facts.jobAttempt,
    job_name: facts.jobName,
    job_url: facts.jobUrl,
    pr_number: facts.prNumber,
    flaw: facts.flaw,
    is_proven: facts.isProven,
    received_at: place.receivedAt,
    part: place.part,
    run_count: place.runCount,
  };
}

interface RowPlace {
  readonly repositoryId: string;
  readonly seq: number;
  readonly ordinal: number;
}

export function fromFailure(
  { repositoryId, seq, ordinal, prNumber }: RowPlace & { readonly prNumber: number | null },
  failure: StoredFailure,
): TestFailuresTable {
  return {
    repository_id: repositoryId,
    test_no: failure.testNo,
    started_at: failure.startedAt,
    seq,
    ordinal,
    pr_number: prNumber,
    is_blocking: failure.isBlocking,
    is_quarantined: failure.isQuarantined,
    failure_group: failure.group,
    summary: failure.summary,
  };
}

export function fromFailureText(
  { repositoryId, seq, ordinal }: RowPlace,
  { testNo, startedAt, text, path }: StoredFailure,
): TestFailureTextsTable {
  const place = { repository_id: repositoryId, seq, ordinal };
  return { ...place, test_no: testNo, started_at: startedAt, text, suite_path: path };
}

export function fromTestEvent({ repositoryId, seq, ordinal }: RowPlace, event: TestEventRow): TestEventsTable {
  return {
    repository_id: repositoryId,
    test_id: event.testId,
    at: event.at,
    seq,
    ordinal,
    kind: event.kind,
    actor: event.actor,
    detail: event.detail,
  };
}

export function toTestEvent(row: Selectable<TestEventsTable>): TestEventRow {
  return { testId: row.test_id, at: row.at, kind: row.kind, actor: row.actor, detail: row.detail };
}
