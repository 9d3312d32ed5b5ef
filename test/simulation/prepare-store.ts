import { encodeQueue } from '../../src/app/core/queue-codec.ts';
import type { Queue } from '../../src/engine/model/queue.ts';
import type { Instant } from '../../src/lib/clock.ts';
import type { QueueId } from '../../src/storage/queues.ts';
import type { RepositoryId, RepositoryRef } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import { BRANCH, ORGANIZATION } from './clients.ts';

export const QUEUE_ID = 'queue' as QueueId;
const REPOSITORY_ID = 'repository' as RepositoryId;

/** Creates one organization, one repository and one queue. */
export async function prepareStore(
  store: Store,
  { repo, queue, at }: { readonly repo: RepositoryRef; readonly queue: Queue; readonly at: Instant },
): Promise<void> {
  await store.accounts.createOrganization(ORGANIZATION, {
    id: 'token',
    organizationId: ORGANIZATION.id,
    name: 'ada',
    hash: 'hash',
    scopes: ['admin'],
    repositoryIds: null,
    origin: 'first',
    createdAt: at,
    expiresAt: null,
    lastUsedAt: null,
    madeBy: null,
    person: null,
    signedInAt: null,
    isAgent: false,
    revokedAt: null,
  });
  const registered = {
    git: null,
    forgeId: null,
    blockedReason: null,
    checks: [],
    junit: [],
    fileChecks: null,
    trustChecks: false,
    runHooks: false,
    createdAt: at,
    updatedAt: at,
  };
  await store.repositories.save({ id: REPOSITORY_ID, organizationId: ORGANIZATION.id, ...repo, ...registered });
  const row = { id: QUEUE_ID, repositoryId: REPOSITORY_ID, branch: BRANCH, version: 1, createdAt: at };
  await store.queues.create(
    { ...row, body: encodeQueue(queue) },
    { version: 1, at, kind: 'queue_created', body: '{}' },
  );
}
