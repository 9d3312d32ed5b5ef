import { randomUUID } from 'node:crypto';
import { createQueue as newQueue, type RequestableQueueState } from '../../engine/queue.ts';
import { checkSettings, DEFAULT_SETTINGS, type QueueSettings } from '../../engine/settings.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findRepository, formatRef, getForge, type QueueRef, toForgeRepository } from '../core/find-queue.ts';
import { PLAIN_GIT_HOST } from '../core/plain-git-host.ts';
import { encodeQueue } from '../core/queue-codec.ts';
import { type FieldError, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { checkPlace } from '../repositories/check-place.ts';
import { type QueueView, viewQueue } from './queue-view.ts';
import { observeTargetBranch } from './read-target-branch.ts';

export interface QueueChanges {
  readonly settings: Partial<QueueSettings>;
  readonly state: RequestableQueueState | undefined;
}

export interface CreateQueue extends QueueRef, QueueChanges {}

// SPEC Q1
export async function createQueue(app: App, caller: Caller, input: CreateQueue): Promise<QueueView | Refusal> {
  const known = await findRepository(app, caller, input.repo);
  if (isRefusal(known)) return known;
  const problem = checkChanges(input.settings, known);
  if (problem !== undefined) return problem;
  const repository = await checkPlace(app, caller, known);
  if (isRefusal(repository)) return repository;
  const forge = getForge(app, repository.host);
  const head = await forge.findBranchHead(toForgeRepository(repository), input.targetBranch);
  if (head === undefined) return branchNotFound(input);
  const at = app.clock.now();
  const hasPages = forge.hosting !== undefined;
  // On a hosted forge a landed pull request should show as merged.
  const landingMode = hasPages ? 'API' : 'PUSH';
  const settings = { ...DEFAULT_SETTINGS, landingMode, ...input.settings } as const;
  const queue = newQueue(input.targetBranch, settings, input.state ?? 'RUNNING', { hasPages });
  const row = {
    id: randomUUID() as QueueId,
    repositoryId: repository.id,
    branch: input.targetBranch,
    version: 1,
    body: encodeQueue(queue),
    createdAt: at,
  };
  const body = JSON.stringify({ actor: caller.name, settings, state: queue.state, ...(hasPages ? { hasPages } : {}) });
  const created = await app.store.queues.create(row, { version: 1, at, kind: 'queue_created', body });
  app.directory.forget();
  if (created !== 'created') return queueExists(input);
  // With a known head, the first submitted entry is tested at once.
  await observeTargetBranch(app, { ...row, queue, repository }, head);
  return viewQueue(queue, []);
}

/** Some settings make no sense on plain git, which the settings table does not know. */
// SPEC S5, S6
export function checkChanges(settings: Partial<QueueSettings>, repository: Repository): Refusal | undefined {
  const errors: FieldError[] = checkSettings(settings).map(({ name, message }) => ({ path: `/${name}`, message }));
  if (repository.host === PLAIN_GIT_HOST && settings.landingMode === 'API') {
    errors.push({ path: '/landingMode', message: 'must be PUSH: plain git has no merge API' });
  }
  if (repository.host === PLAIN_GIT_HOST && settings.requiredStatuses?.some((status) => typeof status !== 'string')) {
    errors.push({ path: '/requiredStatuses', message: 'must be names alone: plain git has no apps' });
  }
  const [first] = errors;
  if (first === undefined) return undefined;
  return refuse('VALIDATION_FAILED', `${first.path.slice(1)} ${first.message}. Nothing was changed.`, errors);
}

function branchNotFound({ repo, targetBranch }: QueueRef): Refusal {
  const isOdd = /\s|^-/.test(targetBranch) || Buffer.byteLength(targetBranch) > 200;
  const hint = isOdd
    ? 'Names of branches hold no space, do not begin with "-" and have at most 200 bytes.'
    : 'Push the branch first, or check its spelling.';
  return refuse('BRANCH_NOT_FOUND', `${formatRef(repo)} has no branch "${targetBranch}". ${hint}`);
}

function queueExists({ repo, targetBranch }: QueueRef): Refusal {
  return refuse(
    'QUEUE_ALREADY_EXISTS',
    `A merge queue already exists for branch "${targetBranch}" in ${formatRef(repo)}. Change it with updateQueue.`,
  );
}
