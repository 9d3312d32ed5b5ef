import { randomUUID } from 'node:crypto';
import type { Organization, OrganizationId, Token } from '../../src/storage/accounts.ts';
import type { FeedDraft } from '../../src/storage/feed-draft.ts';
import type {
  CandidateRow,
  EffectRow,
  EntryRow,
  EventRow,
  QueueCommit,
  QueueId,
  QueueRow,
  StoredEffect,
  TransitionRow,
} from '../../src/storage/queues.ts';
import type { Repository, RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import type { TestRow } from '../../src/storage/tests.ts';
import type { TestRunRow } from './test-results.ts';

export interface OpenStore {
  readonly store: Store;
  /** Closes the store and opens the same data again; absent where nothing outlives the store. */
  reopen?(): Promise<Store>;
  close(): Promise<void>;
}

/** An instant like any other; rows are placed around it. */
export const NOON = 1_700_000_000_000;
export const DAY_MS = 24 * 60 * 60 * 1000;

export function anOrganization(values: Partial<Organization> = {}): Organization {
  return { id: randomUUID() as OrganizationId, slug: `org-${randomUUID()}`, createdAt: NOON, ...values };
}

export function aToken(values: Partial<Token> & Pick<Token, 'organizationId'>): Token {
  return {
    id: randomUUID(),
    name: 'a token',
    hash: `${randomUUID()}${randomUUID()}`,
    scopes: ['read', 'submit'],
    repositoryIds: null,
    origin: 'api',
    createdAt: NOON,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    madeBy: null,
    person: null,
    signedInAt: null,
    isAgent: false,
    ...values,
  };
}

export function aRepository(values: Partial<Repository> & Pick<Repository, 'organizationId'>): Repository {
  return {
    id: randomUUID() as RepositoryId,
    host: 'git.example',
    owner: 'acme',
    name: `repo-${randomUUID()}`,
    git: '/srv/git/acme.git',
    forgeId: null,
    blockedReason: null,
    runHooks: false,
    checks: [{ name: 'unit', command: 'make test', timeoutMinutes: 30 }],
    junit: ['**/junit.xml'],
    fileChecks: null,
    trustChecks: false,
    createdAt: NOON,
    updatedAt: NOON,
    ...values,
  };
}

export function aQueue(values: Partial<QueueRow> & Pick<QueueRow, 'repositoryId'>): QueueRow {
  return {
    id: randomUUID() as QueueId,
    branch: 'main',
    version: 1,
    body: '{"mode":"single"}',
    createdAt: NOON,
    ...values,
  };
}

export function anEvent(version: number, values: Partial<EventRow> = {}): EventRow {
  return { version, at: NOON + version, kind: 'pull_request_submitted', body: `{"version":${version}}`, ...values };
}

export function anEntry(queueId: QueueId, prNumber: number, values: Partial<EntryRow> = {}): EntryRow {
  return {
    id: randomUUID(),
    queueId,
    prNumber,
    version: 2,
    isLive: true,
    state: 'QUEUED',
    submittedAt: NOON,
    targetsDigest: null,
    body: `{"pr":${prNumber}}`,
    ...values,
  };
}

export function aTransition(entry: EntryRow, values: Partial<TransitionRow> = {}): TransitionRow {
  return {
    queueId: entry.queueId,
    entryId: entry.id,
    prNumber: entry.prNumber,
    version: entry.version,
    ordinal: 0,
    at: NOON,
    from: null,
    to: entry.state,
    isBisection: false,
    durationMs: null,
    inQueueMs: null,
    body: '{"reason":"submitted"}',
    ...values,
  };
}

export function anEffect(values: Partial<EffectRow> = {}): EffectRow {
  const id = randomUUID();
  return { id, kind: 'build_candidate', stream: id, dueAt: NOON, body: '{}', ...values };
}

/** An effect as it is stored, and was not tried yet. */
export function asStored(queueId: QueueId, effect: EffectRow, values: Partial<StoredEffect> = {}): StoredEffect {
  return { ...effect, queueId, attempts: 0, lastError: null, parkedAt: null, ...values };
}

export function aCandidate(queueId: QueueId, number: number, values: Partial<CandidateRow> = {}): CandidateRow {
  return {
    queueId,
    number,
    id: randomUUID(),
    version: 2,
    isLive: true,
    state: 'building',
    isBisection: false,
    sha: null,
    createdAt: NOON,
    endedAt: null,
    body: `{"candidate":${number}}`,
    ...values,
  };
}

/** A commit of one event and whatever else is given. */
export function aCommit(queueId: QueueId, expectedVersion: number, values: Partial<QueueCommit> = {}): QueueCommit {
  return {
    queueId,
    expectedVersion,
    body: `{"at":${expectedVersion + 1}}`,
    events: [anEvent(expectedVersion + 1)],
    entries: [],
    candidates: [],
    transitions: [],
    effects: [],
    targetSets: [],
    impactedTargets: [],
    ...values,
  };
}

/** An event of the feed as a step of the queue tells it. */
export function aStepDraft({ id, repositoryId, branch }: QueueRow, values: Partial<FeedDraft> = {}): FeedDraft {
  return {
    ...{ source: id, version: 2, ordinal: 0, at: NOON, type: 'note', organizationId: null, repositoryId },
    ...{ queueId: id, targetBranch: branch, prNumber: null, testId: null, body: '{"text":"é"}' },
    ...values,
  };
}

export async function storeOrganization(store: Store, values: Partial<Organization> = {}): Promise<Organization> {
  const organization = anOrganization(values);
  const first = aToken({ organizationId: organization.id, origin: 'first', scopes: ['admin', 'instance'] });
  await store.accounts.createOrganization(organization, first);
  return organization;
}

export async function storeRepository(store: Store, values: Partial<Repository> = {}): Promise<Repository> {
  const organizationId = values.organizationId ?? (await storeOrganization(store)).id;
  return store.repositories.save(aRepository({ organizationId, ...values }));
}

export async function storeQueue(store: Store, values: Partial<QueueRow> = {}): Promise<QueueRow> {
  const repositoryId = values.repositoryId ?? (await storeRepository(store)).id;
  const queue = aQueue({ repositoryId, ...values });
  await store.queues.create(queue, anEvent(1, { kind: 'queue_created' }));
  return queue;
}

export function aTest(repositoryId: RepositoryId, values: Partial<TestRow> = {}): TestRow {
  return {
    id: randomUUID(),
    repositoryId,
    no: 1,
    name: 'adds numbers',
    variant: '',
    parent: 'math',
    classname: 'MathTest',
    file: 'math.test.ts',
    codeowners: ['@acme/math'],
    firstSeenAt: NOON,
    status: 'HEALTHY',
    statusReason: '',
    statusAt: NOON,
    quarantineOverride: 'UNSPECIFIED',
    override: null,
    quarantinedAt: null,
    isFlagged: false,
    labels: [],
    ticketUrl: null,
    ...values,
  };
}

export function aRun(testId: string, values: Partial<TestRunRow> = {}): TestRunRow {
  return {
    testId,
    startedAt: NOON,
    conclusion: 'SUCCESS',
    durationMs: 12,
    branch: 'main',
    sha: 'a'.repeat(40),
    prNumber: null,
    isBlocking: false,
    failureGroup: null,
    failureSummary: null,
    ...values,
  };
}

export function aFailure(testId: string, values: Partial<TestRunRow> = {}): TestRunRow {
  return aRun(testId, { conclusion: 'FAILURE', failureGroup: 'g', failureSummary: 'expected 2', ...values });
}
