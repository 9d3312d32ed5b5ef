import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Forge } from '../../forge/forge.ts';
import type { ForgeRepository } from '../../forge/forge-repository.ts';
import { formatInstant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { present } from '../../lib/present.ts';
import type { Repository, RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from './app.ts';
import { type Caller, maySee } from './caller.ts';
import type { LoadedQueue } from './commit-draft.ts';
import { PLAIN_GIT_HOST } from './directory.ts';
import type { MakeEvent, RunResult } from './queue-host.ts';
import { type Answer, isRefusal, type Refusal, refuse } from './refusal.ts';

export interface EntryRef extends QueueRef {
  readonly prNumber: PrNumber;
}

export interface QueueRef {
  readonly repo: RepositoryRef;
  readonly targetBranch: string;
}

export interface FoundQueue extends LoadedQueue {
  readonly repository: Repository;
}

// SPEC A2
export async function findRepository(app: App, caller: Caller, ref: RepositoryRef): Answer<Repository> {
  const repository = await app.directory.findRepository(caller.organization.id, ref);
  return repository !== undefined && maySee(caller, repository) ? repository : repositoryNotFound(ref);
}

export async function findRepositories(
  app: App,
  caller: Caller,
  refs: readonly RepositoryRef[],
): Answer<readonly Repository[]> {
  const found = await Promise.all(refs.map((ref) => findRepository(app, caller, ref)));
  return found.find(isRefusal) ?? (found as readonly Repository[]);
}

export function repositoryNotFound(ref: RepositoryRef): Refusal {
  return refuse(
    'REPOSITORY_NOT_FOUND',
    `There is no repository ${formatRef(ref)} here. Register it first, or check the spelling of host, owner and name.`,
  );
}

/** With a pull request, the refusal for a deleted queue also says what became of it. */
export async function findQueue(app: App, caller: Caller, ref: QueueRef, prNumber?: number): Answer<FoundQueue> {
  const place = await app.directory.guessQueue(caller.organization.id, ref.repo, ref.targetBranch);
  const isSeen = place !== undefined && maySee(caller, place.repository);
  const loaded = isSeen ? await app.queues.find(place.queueId) : undefined;
  if (place !== undefined && loaded !== undefined) return { ...loaded, repository: place.repository };
  if (place?.isGuess && loaded === undefined) {
    app.directory.forgetQueue(place, ref.targetBranch);
    if (maySee(caller, place.repository)) return findQueue(app, caller, ref, prNumber);
  }
  // The refusal says which of the two is missing, the repository or the queue.
  const repository = await findRepository(app, caller, ref.repo);
  return isRefusal(repository) ? repository : queueGone(app, repository, { ...ref, prNumber });
}

// SPEC Q12
async function queueGone(
  app: App,
  { id }: Repository,
  ref: QueueRef & { readonly prNumber: number | undefined },
): Promise<Refusal> {
  const deleted = await app.store.queues.findDeleted(id, ref.targetBranch);
  if (deleted === undefined) return queueNotFound(ref);
  const where = `The queue for branch "${ref.targetBranch}" of ${formatRef(ref.repo)}`;
  const when = `was deleted by ${deleted.by} at ${formatInstant(deleted.at)}.`;
  const entry =
    ref.prNumber === undefined ? undefined : await app.store.queueRecords.findEntry(deleted.id, ref.prNumber);
  const ended = entry === undefined ? '' : ` Pull request #${ref.prNumber} ended in it as ${entry.state}.`;
  return refuse('QUEUE_NOT_FOUND', `${where} ${when}${ended} Create it again with createQueue.`);
}

export function queueNotFound(ref: QueueRef): Refusal {
  return refuse(
    'QUEUE_NOT_FOUND',
    `There is no queue for branch "${ref.targetBranch}" of ${formatRef(ref.repo)}. Create it with createQueue first.`,
  );
}

// SPEC N22
export async function nameRepository({ directory }: Pick<App, 'directory'>, id: RepositoryId): Promise<string> {
  const found = await directory.findRepositoryById(id).catch(() => undefined);
  return found === undefined ? id : formatRef(found);
}

export function formatRef(ref: RepositoryRef): string {
  return `${ref.host}/${ref.owner}/${ref.name}`;
}

export function getForge(app: App, host: string): Forge {
  const forge = app.forges.get(host);
  if (forge !== undefined) return forge;
  const hint = `Connect it, or use the host "${PLAIN_GIT_HOST}" for plain git repositories.`;
  throw new Fault('FORGE_UNAVAILABLE', `This server has no connection to ${host}. ${hint}`);
}

/** Every call to a forge takes its repository from here: a blocked repository faults with the reason. */
// SPEC G111, G115
export function toForgeRepository(repository: Repository): ForgeRepository {
  if (repository.blockedReason !== null) throw new Fault('FORGE_UNAVAILABLE', repository.blockedReason);
  return describeRepository(repository);
}

/** Also describes a blocked repository, for the poll that finds out whether it is still blocked. */
export function describeRepository(repository: Repository): ForgeRepository {
  const { id, host, owner, name, git, forgeId, runHooks, checks, fileChecks } = repository;
  return { id, host, owner, name, git: git ?? undefined, runHooks, checks, fileChecks, ...present({ forgeId }) };
}

/** Runs an event through the queue. A no of the engine and a deleted queue become a refusal. */
export async function runEvent(app: App, found: FoundQueue, makeEvent: MakeEvent): Answer<RunResult> {
  const result = await app.queues.run(found.id, makeEvent);
  if (result === undefined) {
    const detail = `The queue for branch "${found.queue.branch}" of ${formatRef(found.repository)} was deleted.`;
    return refuse('QUEUE_NOT_FOUND', detail);
  }
  if (result.outcome.kind === 'parked') {
    const sentence = `The queue stopped itself instead of doing this: ${result.outcome.detail}. An operator must look at it.`;
    throw new Fault('QUEUE_PARKED', sentence);
  }
  return result.outcome.kind === 'refused' ? refuse(result.outcome.code, result.outcome.detail) : result;
}
