import { type Entry, findEntry, isAdmitted } from '../../engine/queue.ts';
import type { ChangedPullRequest, ForgeSnapshot, Hosting, WebhookHint } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { HintSettlement, StoredHint } from '../../storage/hints.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { describeRepository, type FoundQueue } from '../core/find-queue.ts';
import {
  CLOCK_LEEWAY_MS,
  decodePollState,
  encodeHint,
  encodePoll,
  encodePollState,
  firstPoll,
} from '../core/hint-codec.ts';
import { PeriodicTask } from '../core/periodic.ts';
import { requestPullRequestPoll } from '../core/request-poll.ts';
import { type Note, readNote, rememberHead } from '../pr-page/note.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { observePullRequest } from '../queue/observe-pull-request.ts';
import { observeTargetBranch } from '../queue/read-target-branch.ts';
import { settleIdentity } from '../repositories/settle-identity.ts';
import { alarmOfOutage } from './alarm-of-outage.ts';
import { findOpenCandidates, reportChecks } from './report-checks.ts';

/** One question a minute for each repository makes up for everything that was not delivered. */
const EVERY_MS = 60_000;
/** While something is under test and nothing is delivered: then this is the only way to hear of it. */
const HURRIED_MS = 15_000;
const SILENT_AFTER_MS = 5 * 60_000;
const ROUND_MS = 5_000;
/** A restored store may know of no look. */
const SURE_MS = 5 * 60_000;
/** Instants of a forge are whole seconds: what happened later within the same one is not missed. */
const OVERLAP_MS = 1_000;

/**
 * Sees to it that every repository on a forge with people on it is looked at again and again, by one of the servers:
 * when that is next, and how far was seen, is stored.
 */
export function createForgePoller(app: App, times = { firstMs: 100, everyMs: ROUND_MS }): PeriodicTask {
  const known: EnsuredPolls = new Map();
  return new PeriodicTask(app.clock, times, (isStopped) => ensurePolls(app, known, isStopped));
}

async function ensurePolls(app: App, known: EnsuredPolls, isStopped: () => boolean): Promise<void> {
  try {
    for (const repository of await app.store.repositories.listAll()) {
      if (isStopped()) return;
      if (app.forges.get(repository.host)?.hosting === undefined) continue;
      const queues = await loadQueues(app, [repository]);
      if (queues.length === 0) known.delete(repository.id);
      else await ensurePoll(app, known, { repository, queues });
    }
  } catch (error) {
    // The next round asks again.
    if (!isStopped()) app.log.warn({ err: error }, 'could not see which repositories are to be looked at');
  }
}

interface PolledRepository {
  readonly repository: Repository;
  readonly queues: readonly FoundQueue[];
}

/** When a look at each was seen to last. */
type EnsuredPolls = Map<RepositoryId, Instant>;

async function ensurePoll(app: App, known: EnsuredPolls, { repository, queues }: PolledRepository): Promise<void> {
  const now = app.clock.now();
  const ensuredAt = known.get(repository.id);
  const isHurried = pollIsOnlySource(app, { repository, queues });
  // Also where the clock goes back: what is due by it may be hours away.
  const isSure = ensuredAt !== undefined && Math.abs(now - ensuredAt) < (isHurried ? HURRIED_MS : SURE_MS);
  // Who looks sees to the next time.
  if (isSure) return;
  const delayMs = ensuredAt === undefined ? 0 : isHurried ? HURRIED_MS : EVERY_MS;
  const state = firstPoll(repository.id, now);
  await app.store.hints.ensure(encodePoll(repository.host, state, { now, dueAt: now + delayMs }));
  known.set(repository.id, now);
  app.hints.wake();
}

/** Somebody waits for CI, and nothing is delivered. */
function pollIsOnlySource(app: App, { repository, queues }: PolledRepository): boolean {
  const heardAt = app.hints.lastWebhookAt(repository.host);
  const isSilent = heardAt === undefined || app.clock.now() - heardAt > SILENT_AFTER_MS;
  return isSilent && queues.some(({ queue }) => findOpenCandidates(queue).length > 0);
}

/** One look at a repository: what it finds goes the way of what is delivered. Ends where there is no queue any more. */
export async function pollRepository(app: App, stored: StoredHint): Promise<HintSettlement> {
  const { repositoryId, since } = decodePollState(stored);
  const repository = await app.directory.findRepositoryById(repositoryId);
  const queues = repository === undefined ? [] : await loadQueues(app, [repository]);
  const hosting = app.forges.get(stored.host)?.hosting;
  if (repository === undefined || queues.length === 0) return { kind: 'done' };
  // Nobody connected it this time: how far was seen is kept for when somebody does.
  if (hosting === undefined) return { kind: 'later', dueAt: app.clock.now() + EVERY_MS, isFailure: false };
  const place = { repository, queues };
  try {
    const askedAt = app.clock.now();
    const look = await ask(hosting, place, since);
    const { identity } = look;
    const isChanged = identity !== undefined && (await settleIdentity(app, hosting, repository, identity));
    app.outages.end(repository.id);
    if (isChanged) return { kind: 'later', dueAt: app.clock.now(), isFailure: false };
    await applyPoll(app, place, look, since);
    const next = { repositoryId, since: nextSince(look, since, askedAt) };
    const dueAt = app.clock.now() + (pollIsOnlySource(app, place) ? HURRIED_MS : EVERY_MS);
    return { kind: 'later', dueAt, isFailure: false, body: encodePollState(next) };
  } catch (error) {
    app.outages.begin(repository.id, error, app.clock.now());
    await alarmOfOutage(app, repository, queues);
    throw error;
  }
}

function ask(hosting: Hosting, { repository, queues }: PolledRepository, since: Instant): Promise<ForgeSnapshot> {
  const entries = new Set(queues.flatMap(({ queue }) => [...valuesOf(queue.entries)].map(({ prNumber }) => prNumber)));
  const commits = new Set(
    queues.flatMap(({ queue }) => findOpenCandidates(queue).flatMap(({ commit }) => commit?.sha ?? [])),
  );
  return hosting.poll({
    repository: describeRepository(repository),
    branches: [...new Set(queues.map(({ queue }) => queue.branch))],
    entries: [...entries],
    commits: [...commits],
    since,
  });
}

async function applyPoll(app: App, place: PolledRepository, look: ForgeSnapshot, since: Instant): Promise<void> {
  for (const found of place.queues) await applyPollToQueue(app, found, look);
  await storeChanges(app, place, look.changed, since);
}

async function applyPollToQueue(app: App, found: FoundQueue, look: ForgeSnapshot): Promise<void> {
  const { queue } = found;
  if (look.heads.has(queue.branch)) await observeTargetBranch(app, found, look.heads.get(queue.branch));
  for (const candidate of findOpenCandidates(queue)) {
    const reports = candidate.commit && look.checks.get(candidate.commit.sha);
    if (reports !== undefined) await reportChecks(app, found, candidate, reports);
  }
  const seen = [...valuesOf(queue.entries)].filter(({ prNumber }) => look.pullRequests.has(prNumber));
  // Together: what is news about hundreds of them is stored at once.
  await Promise.all(seen.map((entry) => applyPollToEntry(app, found, entry, look)));
}

async function applyPollToEntry(
  app: App,
  found: FoundQueue,
  entry: Entry,
  { pullRequests }: ForgeSnapshot,
): Promise<void> {
  const pr = pullRequests.get(entry.prNumber);
  await observePullRequest(app, found, entry, pr);
  app.outages.end(entry.id);
  // Every landing makes the forge forget it of all others; of those that are admitted nobody asks.
  if (pr?.mergeability === 'IN_PROGRESS' && !isAdmitted(entry)) {
    await requestPullRequestPoll(app, found.repository, entry.prNumber, { isUndecided: true });
  }
}

/** Comments and labels are obeyed by whoever obeys those that are delivered: each once. */
async function storeChanges(
  app: App,
  place: PolledRepository,
  changed: readonly ChangedPullRequest[],
  since: Instant,
): Promise<void> {
  const { repository } = place;
  const now = app.clock.now();
  const hints: WebhookHint[] = [];
  for (const pr of changed) {
    const key = { repositoryId: repository.id, prNumber: pr.number };
    await rememberHead(app, key, { sha: pr.headSha, at: now, changedAt: pr.updatedAt });
    hints.push(...commentsOf(repository, pr));
    if (pr.updatedAt > since) hints.push(...labelsOf(place, pr, await readNote(app, key)));
  }
  if (hints.length === 0) return;
  await app.store.hints.add(hints.map((hint) => encodeHint(repository, hint, now)));
  app.hints.wake();
}

function commentsOf({ owner, name }: Repository, { number, comments }: ChangedPullRequest): readonly WebhookHint[] {
  return comments.map(({ id, createdAt: _, ...comment }) => ({
    ...{ kind: 'comment', number, commentId: id, ...comment },
    ...{ owner, name, key: `comment:${id}` },
  }));
}

/** Where somebody seems to have put the label on it, or taken it off, since that was noted. */
function labelsOf(
  { repository, queues }: PolledRepository,
  pr: ChangedPullRequest,
  note: Note,
): readonly WebhookHint[] {
  const { owner, name } = repository;
  const { number, labels } = pr;
  return queues
    .filter(({ queue }) => queue.settings.labelCommandsEnabled && queue.branch === pr.baseBranch)
    .filter(({ queue }) => {
      const isThere = labels.some((label) => isSameLabel(label, queue.settings.enqueueingLabel));
      const isNoted = note.enqueueingLabel !== undefined;
      return isThere ? !isNoted || findEntry(queue, number) === undefined : isNoted;
    })
    .map(({ queue: { settings } }) => {
      const label = settings.enqueueingLabel;
      return { kind: 'label', number, label, owner, name, key: `${owner}/${name} label ${number} ${label}` };
    });
}

function isSameLabel(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** By the forge's own clock. In a second that may still go on, more can happen; what is older was seen whole. */
function nextSince({ changed }: ForgeSnapshot, since: Instant, askedAt: Instant): Instant {
  const seenUntil = changed.map(({ updatedAt }) =>
    updatedAt + OVERLAP_MS > askedAt - CLOCK_LEEWAY_MS ? updatedAt - OVERLAP_MS : updatedAt,
  );
  return Math.max(since, ...seenUntil);
}
