import { randomUUID } from 'node:crypto';
import type { RequestOf } from '../../contract/operation.ts';
import type * as contract from '../../contract/queues.ts';
import { nameOf, type RequiredStatus } from '../../engine/model/check.ts';
import type { Freeze } from '../../engine/model/freeze.ts';
import { createQueue as newQueue, type Queue, type RequestableQueueState } from '../../engine/model/queue.ts';
import { entriesInOrder } from '../../engine/model/roster.ts';
import { checkSettings, DEFAULT_SETTINGS, type QueueSettings } from '../../engine/model/settings.ts';
import type { Instant } from '../../lib/clock.ts';
import { isSame } from '../../lib/is-same.ts';
import { present } from '../../lib/present.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import { listRecentAlarms } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { PLAIN_GIT_HOST } from '../core/directory.ts';
import { actEvent, actorFor } from '../core/feed-event.ts';
import {
  type FoundQueue,
  findQueue,
  findRepository,
  formatRef,
  getForge,
  type QueueRef,
  runEvent,
  toForgeRepository,
} from '../core/find-queue.ts';
import { logQueueAct } from '../core/operator-log.ts';
import { encodeQueue } from '../core/queue-codec.ts';
import {
  type Answer,
  type FieldError,
  isRefusal,
  type Refusal,
  refuse,
  refuseField,
  refuseFields,
} from '../core/refusal.ts';
import { checkPlace } from '../repositories/settle-identity.ts';
import { addForecasts, viewForecast } from './forecast-view.ts';
import { observeTargetBranch } from './forge-facts.ts';
import { answerAt } from './past.ts';
import { type QueueConfigView, type QueueView, viewQueue, viewQueueConfig } from './queue-view.ts';
import { explainListed } from './submitted-pull-requests.ts';
import { proveTriedHead } from './tried-head.ts';

/** More would take too long for one request: each explanation reads the store. */
const MAX_EXPLAINED = 100;

type GetQueue = RequestOf<typeof contract.getQueue>;

export async function getQueue(app: App, caller: Caller, input: GetQueue): Answer<QueueView> {
  return answerAt(app, caller, input, { describe: (then, found) => describeQueue(then, found, input) });
}

async function describeQueue(app: App, found: FoundQueue, input: GetQueue): Promise<QueueView> {
  const [alarms = []] = await listRecentAlarms(app, [found.id]);
  const view = viewQueue(found.queue, alarms);
  const { includeExplanation } = input;
  const includeForecast = input.includeForecast === true && input.at === undefined;
  if (!includeExplanation && !includeForecast) return view;
  const live = entriesInOrder(found.queue);
  const explained = includeExplanation ? await explainListed(app, found, live.slice(0, MAX_EXPLAINED)) : [];
  const enqueuedPullRequests = [...explained, ...view.enqueuedPullRequests.slice(explained.length)];
  if (!includeForecast) return { ...view, enqueuedPullRequests };
  return {
    ...view,
    forecast: viewForecast(app, found, app.clock.now()),
    enqueuedPullRequests: addForecasts(app, found, enqueuedPullRequests),
  };
}

export interface QueueChanges {
  readonly settings: Partial<QueueSettings>;
  readonly state: RequestableQueueState | undefined;
}

interface CreateQueue extends QueueRef, QueueChanges {}

// SPEC G20, Q1
export async function createQueue(app: App, caller: Caller, input: CreateQueue): Answer<QueueView> {
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
  const landingMode = forge.hosting?.usualLanding ?? 'PUSH';
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
  const feed = [queueEvent(caller, { act: 'created', row, at, data: { settings, state: queue.state } })];
  const created = await app.store.queues.create(row, { version: 1, at, kind: 'queue_created', body }, feed);
  app.feed.wake();
  app.directory.forget();
  if (created !== 'created') {
    const sentence = `A merge queue already exists for branch "${input.targetBranch}" in ${formatRef(input.repo)}.`;
    return refuse('QUEUE_ALREADY_EXISTS', `${sentence} Change it with updateQueue.`);
  }
  logQueueAct(app, repository, feed);
  // With a known head, the first submitted entry is tested at once.
  await observeTargetBranch(app, { ...row, queue, repository }, head);
  const loaded = await app.queues.find(row.id);
  if (loaded !== undefined) await proveTriedHead(app, { ...loaded, repository });
  return viewQueue(queue, []);
}

interface QueueAct {
  readonly act: 'created' | 'deleted';
  readonly row: { readonly id: QueueId; readonly repositoryId: RepositoryId; readonly branch: string };
  readonly at: Instant;
  readonly data: object;
}

function queueEvent(caller: Caller, { act, row, at, data }: QueueAct): FeedDraft {
  const text = `${caller.name} ${act} the queue for ${row.branch}.`;
  const place = { repositoryId: row.repositoryId, queueId: row.id, targetBranch: row.branch };
  return actEvent(at, { type: `queue.${act}`, actor: actorFor(caller), text, data }, place);
}

const STATUS_LISTS = ['requiredStatuses', 'failFastStatuses'] as const;

/** Some settings make no sense on plain git, which the settings table does not know. */
// SPEC S5, S6
function checkChanges(settings: Partial<QueueSettings>, repository: Repository): Refusal | undefined {
  const errors: FieldError[] = checkSettings(settings).map(({ name, message }) => ({ path: `/${name}`, message }));
  if (repository.host === PLAIN_GIT_HOST && settings.landingMode === 'API') {
    errors.push({ path: '/landingMode', message: 'must be PUSH: plain git has no merge API' });
  }
  for (const list of STATUS_LISTS) {
    if (repository.host !== PLAIN_GIT_HOST || !settings[list]?.some((status) => typeof status !== 'string')) continue;
    errors.push({ path: `/${list}`, message: 'must be names alone: plain git has no apps' });
  }
  return refuseFields(errors);
}

function branchNotFound({ repo, targetBranch }: QueueRef): Refusal {
  const isOdd = /\s|^-/.test(targetBranch) || Buffer.byteLength(targetBranch) > 200;
  const hint = isOdd
    ? 'Names of branches hold no space, do not begin with "-" and have at most 200 bytes.'
    : 'Push the branch first, or check its spelling.';
  return refuse('BRANCH_NOT_FOUND', `${formatRef(repo)} has no branch "${targetBranch}". ${hint}`);
}

interface UpdateQueue extends QueueRef, QueueChanges {
  /** An unset setting that follows another keeps its value, and a required check named without its app keeps it. */
  readonly keepsUnnamedSettings: boolean;
  readonly reason?: string;
  readonly until?: Instant;
  /** Takes the place of the freeze of the same name. */
  readonly addFreeze?: Freeze;
  readonly removeFreeze?: string;
}

// SPEC S4
export async function updateQueue(app: App, caller: Caller, input: UpdateQueue): Answer<QueueConfigView> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { state, reason, until } = input;
  const settings = withFreezes(found.queue, input);
  const problem =
    checkChanges(settings, found.repository) ?? checkPause(app, input) ?? checkFreezeChange(found.queue, input);
  if (problem !== undefined) return problem;
  if (state === undefined && Object.keys(settings).length === 0) return viewQueueConfig(found.queue);
  const result = await runEvent(app, found, (queue) => ({
    kind: 'queue_updated',
    at: app.clock.now(),
    actor: caller.name,
    settings: withReading(queue, input),
    state,
    ...present({ reason, until }),
  }));
  if (isRefusal(result)) return result;
  // Setting the queue to RUNNING also retries parked effects.
  const retried = state === 'RUNNING' ? await app.store.effects.unpark(found.id, app.clock.now()) : 0;
  const note = retried > 0 ? undefined : noteOf(found.queue, input);
  return { ...viewQueueConfig(result.queue), ...present({ note }) };
}

// SPEC W63
function noteOf(queue: Queue, { state, reason, until, ...change }: UpdateQueue): string | undefined {
  const settings = Object.entries(withFreezes(queue, change));
  const isSet = settings.every(([name, value]) => isSame(queue.settings[name as keyof QueueSettings], value));
  const isResumed = state === 'RUNNING' && (queue.hold !== undefined || queue.parked !== undefined);
  if (!isSet || isResumed || reason !== undefined || until !== undefined) return undefined;
  if (state === undefined) return 'Nothing changed. The queue has these settings already.';
  return state === queue.state ? `Nothing changed. The queue is ${state} already.` : undefined;
}

function checkPause({ clock }: App, { state, reason, until }: UpdateQueue): Refusal | undefined {
  if (reason !== undefined && state === undefined) return refuseField('/reason', 'goes with a state');
  if (until === undefined) return undefined;
  if (state !== 'PAUSED') return refuseField('/until', 'goes with the state PAUSED');
  return until > clock.now() ? undefined : refuseField('/until', 'must be in the future');
}

type FreezeChange = Pick<UpdateQueue, 'settings' | 'addFreeze' | 'removeFreeze'>;

// SPEC X51
function withFreezes({ settings: { freezes } }: Queue, change: FreezeChange): Partial<QueueSettings> {
  const { settings, addFreeze, removeFreeze } = change;
  if (addFreeze === undefined && removeFreeze === undefined) return settings;
  const others = freezes.filter(({ name }) => name !== addFreeze?.name && name !== removeFreeze);
  return { ...settings, freezes: addFreeze === undefined ? others : [...others, addFreeze] };
}

function checkFreezeChange({ settings: { freezes } }: Queue, change: FreezeChange): Refusal | undefined {
  const { settings, addFreeze, removeFreeze } = change;
  const isOne = addFreeze !== undefined || removeFreeze !== undefined;
  if (isOne && settings.freezes !== undefined)
    return refuseField('/freezes', 'goes without addFreeze and removeFreeze');
  if (removeFreeze === undefined || freezes.some(({ name }) => name === removeFreeze)) return undefined;
  const names = freezes.map(({ name }) => JSON.stringify(name)).join(', ');
  const known = names === '' ? 'it has none' : `it has ${names}`;
  return refuseField('/removeFreeze', `names no freeze of the queue: ${known}`);
}

// SPEC H27
function withReading(queue: Queue, input: UpdateQueue): Partial<QueueSettings> {
  const changes = withFreezes(queue, input);
  if (!input.keepsUnnamedSettings) return changes;
  const { settings: present } = queue;
  const reads = changes.concurrency !== undefined && changes.bisectionConcurrency === undefined;
  return {
    ...changes,
    ...(reads && present.bisectionConcurrency === null ? { bisectionConcurrency: present.concurrency } : {}),
    ...Object.fromEntries(
      STATUS_LISTS.flatMap((list) => (changes[list] ? [[list, withApps(present[list], changes[list])]] : [])),
    ),
  };
}

// SPEC G126
function withApps(
  present: readonly RequiredStatus[] | null,
  named: readonly RequiredStatus[],
): readonly RequiredStatus[] {
  const known = (name: RequiredStatus) => present?.find((status) => nameOf(status) === name);
  return named.map((status) => known(status) ?? status);
}

// SPEC Q2
export async function deleteQueue(app: App, caller: Caller, input: QueueRef): Answer<Record<string, never>> {
  for (;;) {
    const found = await findQueue(app, caller, input);
    if (isRefusal(found)) return found;
    const count = found.queue.entries.size;
    if (count > 0) {
      const what = count === 1 ? 'a pull request' : `${count} pull requests`;
      return refuse(
        'QUEUE_NOT_EMPTY',
        `The queue still has ${what}. Let them land, or cancel them with cancelPullRequest, first.`,
      );
    }
    // A submission since the read above changes the version: read again.
    const at = app.clock.now();
    const row = { ...found, branch: found.queue.branch };
    const feed = [queueEvent(caller, { act: 'deleted', row, at, data: {} })];
    const outcome = await app.store.queues.delete(found.id, found.version, { at, by: caller.name }, feed);
    app.feed.wake();
    if (outcome === 'stale') continue;
    app.queues.forget(found.id);
    app.directory.forget();
    logQueueAct(app, found.repository, feed);
    return {};
  }
}
