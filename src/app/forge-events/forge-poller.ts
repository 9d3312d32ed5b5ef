import { type Entry, findEntry, isAdmitted } from '../../engine/model/queue.ts';
import type { ChangedPullRequest, ForgeSnapshot, Hosting, WebhookHint } from '../../forge/hosting.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { HintSettlement, StoredHint } from '../../storage/hints.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import { raise } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { describeRepository, type FoundQueue, formatRef } from '../core/find-queue.ts';
import {
  CLOCK_LEEWAY_MS,
  decodePollState,
  encodeHint,
  encodePoll,
  encodePollState,
  firstPoll,
} from '../core/hint-codec.ts';
import { requestPullRequestPoll } from '../core/request-poll.ts';
import { type Note, readNote, rememberHead } from '../pr-page/note.ts';
import { observePullRequest, observeTargetBranch } from '../queue/forge-facts.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { settleIdentity } from '../repositories/settle-identity.ts';
import { checkNamesOf, findOpenCandidates, reportChecks } from './report-checks.ts';

/** One query a minute for each repository makes up for every lost webhook. */
const EVERY_MS = 60_000;
/** While a candidate is under test and no webhooks arrive, polling is the only source of results. */
const HURRIED_MS = 15_000;
const SILENT_AFTER_MS = 5 * 60_000;
const ROUND_MS = 5_000;
/** After this time the poll is stored again: a restored backup may have lost it. */
const SURE_MS = 5 * 60_000;
/** GitHub's instants are whole seconds: more may happen within the last one that was read. */
const OVERLAP_MS = 1_000;

/** The next poll and the position reached are stored as a hint. */
// SPEC G34
export function createForgePoller(app: App, times = { firstMs: 100, everyMs: ROUND_MS }): PeriodicTask {
  const known: EnsuredPolls = new Map();
  const round = (isStopped: () => boolean) => ensurePolls(app, known, isStopped);
  return new PeriodicTask(app, { ...times, failure: 'could not schedule polls of repositories', round });
}

async function ensurePolls(app: App, known: EnsuredPolls, isStopped: () => boolean): Promise<void> {
  if (![...app.forges.values()].some(({ hosting }) => hosting !== undefined)) return;
  for (const repository of await app.store.repositories.listAll()) {
    if (isStopped()) return;
    if (app.forges.get(repository.host)?.hosting === undefined) continue;
    const queues = await loadQueues(app, [repository]);
    if (queues.length === 0) known.delete(repository.id);
    else await ensurePoll(app, known, { repository, queues });
  }
}

interface PolledRepository {
  readonly repository: Repository;
  readonly queues: readonly FoundQueue[];
}

/** When the poll of each repository was last stored. */
type EnsuredPolls = Map<RepositoryId, Instant>;

async function ensurePoll(app: App, known: EnsuredPolls, { repository, queues }: PolledRepository): Promise<void> {
  const now = app.clock.now();
  const ensuredAt = known.get(repository.id);
  const isHurried = pollIsOnlySource(app, { repository, queues });
  // A clock that was set back also counts: by it, the stored poll may be hours away.
  const isSure = ensuredAt !== undefined && Math.abs(now - ensuredAt) < (isHurried ? HURRIED_MS : SURE_MS);
  // Each poll schedules the next one.
  if (isSure) return;
  const delayMs = ensuredAt === undefined ? 0 : isHurried ? HURRIED_MS : EVERY_MS;
  const state = firstPoll(repository.id, now);
  await app.store.hints.ensure(encodePoll(repository.host, state, { now, dueAt: now + delayMs }));
  known.set(repository.id, now);
  app.hints.wake();
}

// SPEC G156
function pollIsOnlySource(app: App, { repository, queues }: PolledRepository): boolean {
  const webhookAt = app.hints.lastWebhookAt(repository.host);
  const isSilent = webhookAt === undefined || app.clock.now() - webhookAt > SILENT_AFTER_MS;
  return isSilent && queues.some(({ queue }) => findOpenCandidates(queue).length > 0);
}

/** Polls a repository once, and feeds the answer to the functions that handle webhooks. Ends when no queue is left. */
export async function pollRepository(app: App, stored: StoredHint): Promise<HintSettlement> {
  const { repositoryId, since } = decodePollState(stored);
  const repository = await app.directory.findRepositoryById(repositoryId);
  const queues = repository === undefined ? [] : await loadQueues(app, [repository]);
  const hosting = app.forges.get(stored.host)?.hosting;
  if (repository === undefined || queues.length === 0) return { kind: 'done' };
  // The forge is not connected this time: the position is kept until it is.
  if (hosting === undefined) return { kind: 'postpone', dueAt: app.clock.now() + EVERY_MS };
  const place = { repository, queues };
  try {
    const askedAt = app.clock.now();
    const snapshot = await readForge(hosting, place, since);
    const { identity } = snapshot;
    const isChanged = identity !== undefined && (await settleIdentity(app, hosting, repository, identity));
    app.outages.end(repository.id, app.clock.now());
    if (isChanged) return { kind: 'postpone', dueAt: app.clock.now() };
    for (const found of queues) await applyPollToQueue(app, found, snapshot);
    await storeChanges(app, place, snapshot.changed, since);
    const next = { repositoryId, since: nextSince(snapshot, since, askedAt) };
    const dueAt = app.clock.now() + (pollIsOnlySource(app, place) ? HURRIED_MS : EVERY_MS);
    return { kind: 'postpone', dueAt, body: encodePollState(next) };
  } catch (error) {
    app.outages.begin(repository.id, error, app.clock.now());
    await alarmOfOutage(app, repository, queues);
    throw error;
  }
}

// SPEC G114
function readForge(hosting: Hosting, { repository, queues }: PolledRepository, since: Instant): Promise<ForgeSnapshot> {
  const entries = new Set(queues.flatMap(({ queue }) => [...valuesOf(queue.entries)].map(({ prNumber }) => prNumber)));
  const candidates = queues.flatMap(({ queue }) => findOpenCandidates(queue));
  const commits = new Set(candidates.flatMap(({ commit }) => commit?.sha ?? []));
  return hosting.poll({
    repository: describeRepository(repository),
    branches: [...new Set(queues.map(({ queue }) => queue.branch))],
    entries: [...entries],
    commits: [...commits],
    checkNames: checkNamesOf(candidates),
    since,
  });
}

async function applyPollToQueue(app: App, found: FoundQueue, snapshot: ForgeSnapshot): Promise<void> {
  const { queue } = found;
  if (snapshot.heads.has(queue.branch)) await observeTargetBranch(app, found, snapshot.heads.get(queue.branch));
  for (const candidate of findOpenCandidates(queue)) {
    const reports = candidate.commit && snapshot.checks.get(candidate.commit.sha);
    if (reports !== undefined) await reportChecks(app, found, candidate, reports);
  }
  const seen = [...valuesOf(queue.entries)].filter(({ prNumber }) => snapshot.pullRequests.has(prNumber));
  // In parallel: changes of hundreds of entries share a few commits.
  await Promise.all(seen.map((entry) => applyPollToEntry(app, found, entry, snapshot)));
}

async function applyPollToEntry(
  app: App,
  found: FoundQueue,
  entry: Entry,
  { pullRequests }: ForgeSnapshot,
): Promise<void> {
  const pr = pullRequests.get(entry.prNumber);
  await observePullRequest(app, found, entry, pr);
  app.outages.end(entry.id, app.clock.now());
  // Each landing makes GitHub recompute mergeability of all pull requests, which admitted entries do not need.
  if (pr?.mergeability === 'IN_PROGRESS' && !isAdmitted(entry)) {
    await requestPullRequestPoll(app, found.repository, entry.prNumber, { isUndecided: true });
  }
}

/** Comments and labels become hints like those of webhooks: the same key makes sure that each runs once. */
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
    for (const { id, createdAt: _, ...comment } of pr.comments) {
      const { owner, name } = repository;
      hints.push({ kind: 'comment', number: pr.number, commentId: id, ...comment, owner, name, key: `comment:${id}` });
    }
    if (pr.updatedAt > since) hints.push(...labelsOf(place, pr, await readNote(app, key)));
  }
  if (hints.length === 0) return;
  await app.store.hints.add(hints.map((hint) => encodeHint(repository, hint, now)));
  app.hints.wake();
}

/** A label command for each queue whose enqueueing label was added or removed since the note was written. */
function labelsOf(
  { repository, queues }: PolledRepository,
  pr: ChangedPullRequest,
  note: Note,
): readonly WebhookHint[] {
  const { owner, name } = repository;
  const { number, labels } = pr;
  const own = queues.filter(({ queue }) => queue.branch === pr.baseBranch);
  // Its base may be the branch of another pull request.
  return (own.length > 0 ? own : queues)
    .filter(({ queue }) => queue.settings.labelCommandsEnabled)
    .filter(({ queue }) => {
      const wanted = queue.settings.enqueueingLabel.toLowerCase();
      const isThere = labels.some((label) => label.toLowerCase() === wanted);
      const isNoted = note.enqueueingLabel !== undefined;
      return isThere ? !isNoted || findEntry(queue, number) === undefined : isNoted;
    })
    .map(({ queue: { settings } }) => {
      const label = settings.enqueueingLabel;
      return { kind: 'label', number, label, owner, name, key: `${owner}/${name} label ${number} ${label}` };
    });
}

/** By the forge's clock. A second that may not be over yet is read again; older ones were read whole. */
function nextSince({ changed }: ForgeSnapshot, since: Instant, askedAt: Instant): Instant {
  const seenUntil = changed.map(({ updatedAt }) =>
    updatedAt + OVERLAP_MS > askedAt - CLOCK_LEEWAY_MS ? updatedAt - OVERLAP_MS : updatedAt,
  );
  return Math.max(since, ...seenUntil);
}

/** Short outages of a forge are normal. A longer one means that it is broken, or that our access was removed. */
const PATIENCE_MS = 5 * 60_000;

// SPEC N6
async function alarmOfOutage(app: App, repository: Repository, queues: readonly FoundQueue[]): Promise<void> {
  const outage = app.outages.find(repository.id);
  if (outage === undefined || app.clock.now() - outage.since < PATIENCE_MS) return;
  const { since, text: why } = outage;
  const text = `${formatRef(repository)} cannot be read since ${formatInstant(since)}: ${why} Nothing is tested or landed until it can.`;
  for (const found of queues) {
    await raise(app, found, { id: `${found.id}/unreachable/${since}`, code: 'FORGE_UNREACHABLE', text });
  }
}
