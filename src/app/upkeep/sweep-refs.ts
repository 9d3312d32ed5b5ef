import { branchSubjectOf, type Candidate, type CandidateNumber, isKept } from '../../engine/model/candidate.ts';
import type { Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { PLAIN_GIT_HOST } from '../core/directory.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { type FoundQueue, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { decodeCandidate, decodeEffect } from '../core/queue-codec.ts';
import { loadQueues } from '../queue/list-queues.ts';

const FAILURE = 'could not remove refs of ended candidates';
const REPOSITORIES_AT_ONCE = 2;
/** The limit for one repository in one round. The next round continues there. */
const MAX_IDS = 500;

/** Commits of failed runs that people may fetch, in one repository. */
const MAX_KEPT = 200;
export const KEPT_MS = 14 * 86_400_000;

/** Of a repository, by the rounds before. */
interface Progress {
  /** The last id that was checked. */
  after: string;
  /** The end of each failed run whose commit stays. */
  readonly kept: Map<string, Instant>;
}
type Places = Map<RepositoryId, Progress>;

export function createSweep(app: App): PeriodicTask {
  const places: Places = new Map();
  const round = (isStopped: () => boolean) => sweepRefs(app, places, isStopped);
  return new PeriodicTask(app, { firstMs: 20_000, everyMs: 5 * 60_000, failure: FAILURE, round });
}

/** A server that lost its lease during a build may create refs again. Unknown ids belong to another server. */
// SPEC N5
export async function sweepRefs(
  app: App,
  places: Places = new Map(),
  isStopped: () => boolean = () => false,
): Promise<void> {
  const sweepOne = (repository: Repository) =>
    sweepRepository(app, repository, places, isStopped).catch((error: unknown) => {
      // Refs that are left do no harm until the next round.
      if (!isStopped()) app.log.warn({ err: error, repository: formatRef(repository) }, FAILURE);
    });
  // Also repositories without a queue: a deleted queue may have left refs.
  const repositories = (await app.store.repositories.listAll()).filter((each) => isAtForge(app, each));
  const slots = new Semaphore(REPOSITORIES_AT_ONCE);
  await Promise.all(repositories.map((repository) => slots.run(() => sweepOne(repository))));
}

/** A company may have thousands with test results alone. One of a hosted forge that had a queue has a forge id. */
function isAtForge(app: App, { host, git, forgeId }: Repository): boolean {
  if (host === PLAIN_GIT_HOST) return git !== null;
  const forge = app.forges.get(host);
  return forge !== undefined && (forge.hosting === undefined || forgeId !== null);
}

async function sweepRepository(app: App, swept: Repository, places: Places, isStopped: () => boolean): Promise<void> {
  if (isStopped()) return;
  const repository = toForgeRepository(swept);
  const forge = getForge(app, repository.host);
  const live = new Set((await loadQueues(app, [swept])).flatMap(listLiveIds));
  const ids = (await forge.listCandidateIds(repository)).filter((id) => !live.has(id));
  const progress = places.get(swept.id) ?? { after: '', kept: new Map<string, Instant>() };
  places.set(swept.id, progress);
  for (const candidateId of choose(ids, progress)) {
    if (isStopped()) return;
    const ended = await findEnded(app, candidateId);
    if (ended?.endedAt !== undefined && isKept(ended)) progress.kept.set(candidateId, ended.endedAt);
    else if (ended !== undefined) await forge.discardCandidate({ repository, candidateId, ...branchSubjectOf(ended) });
  }
  for (const candidateId of outdated(progress, app.clock.now())) {
    if (isStopped()) return;
    const ended = await findEnded(app, candidateId);
    if (ended !== undefined) await forge.discardCandidate({ repository, candidateId, ...branchSubjectOf(ended) });
    progress.kept.delete(candidateId);
  }
}

// SPEC E93
export function outdated({ kept }: Progress, now: Instant): readonly string[] {
  const newest = [...kept].sort(([, one], [, other]) => other - one);
  return newest.filter(([, endedAt], index) => index >= MAX_KEPT || now - endedAt > KEPT_MS).map(([id]) => id);
}

function listLiveIds({ id, queue }: FoundQueue): string[] {
  return [...valuesOf(queue.candidates)].map(({ number }) => candidateIdOf(id, number));
}

/** Takes ids after those of the last round, and starts again after the last. */
function choose(ids: readonly string[], progress: Progress): readonly string[] {
  const chosen = ids.filter((id) => id > progress.after && !progress.kept.has(id)).slice(0, MAX_IDS);
  progress.after = chosen.length < MAX_IDS ? '' : (chosen.at(-1) ?? '');
  return chosen;
}

/** Undefined if it has not ended, or an effect is left for it. */
async function findEnded(app: App, candidateId: string): Promise<Candidate | undefined> {
  const { queues, queueRecords } = app.store;
  const row = await queueRecords.findCandidateById(candidateId);
  if (row === undefined) return undefined;
  // Effects of a deleted queue never run.
  const isGone = (await queues.findVersion(row.queueId)) === undefined;
  if (!isGone && row.endedAt === null) return undefined;
  const candidate = decodeCandidate(row);
  if (!isGone && (await hasEffects(app, row.queueId, candidate.number))) return undefined;
  return candidate;
}

/** Such effects remove the refs themselves, or may still create them. */
async function hasEffects(app: App, queueId: QueueId, candidate: CandidateNumber): Promise<boolean> {
  const effects = (await app.store.effects.list(queueId)).map(decodeEffect);
  const ofRefs = effects.filter(({ kind }) => kind !== 'judge_check');
  return ofRefs.some((effect) => 'candidate' in effect && effect.candidate === candidate);
}
