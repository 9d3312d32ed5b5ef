import { branchSubjectOf, type CandidateNumber } from '../../engine/model/candidate.ts';
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

/** The last id of a repository that the last round checked. */
type Places = Map<RepositoryId, string>;

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
  for (const candidateId of choose(ids, swept.id, places)) {
    if (isStopped()) return;
    const parts = await findEnded(app, candidateId);
    if (parts !== undefined) await forge.discardCandidate({ repository, candidateId, ...parts });
  }
}

function listLiveIds({ id, queue }: FoundQueue): string[] {
  return [...valuesOf(queue.candidates)].map(({ number }) => candidateIdOf(id, number));
}

/** Takes ids after those of the last round, and starts again after the last. */
function choose(ids: readonly string[], of: RepositoryId, places: Places): readonly string[] {
  const after = places.get(of) ?? '';
  const chosen = ids.filter((id) => id > after).slice(0, MAX_IDS);
  const last = chosen.length < MAX_IDS ? undefined : chosen.at(-1);
  if (last === undefined) places.delete(of);
  else places.set(of, last);
  return chosen;
}

/** The parts of the branch's name, if the candidate has ended and no effect is left for it. */
async function findEnded(app: App, candidateId: string) {
  const { queues, queueRecords } = app.store;
  const row = await queueRecords.findCandidateById(candidateId);
  if (row === undefined) return undefined;
  // Effects of a deleted queue never run.
  const isGone = (await queues.findVersion(row.queueId)) === undefined;
  if (!isGone && row.endedAt === null) return undefined;
  const candidate = decodeCandidate(row);
  if (!isGone && (await hasEffects(app, row.queueId, candidate.number))) return undefined;
  return branchSubjectOf(candidate);
}

/** Such effects remove the refs themselves, or may still create them. */
async function hasEffects(app: App, queueId: QueueId, candidate: CandidateNumber): Promise<boolean> {
  const effects = (await app.store.effects.list(queueId)).map(decodeEffect);
  const ofRefs = effects.filter(({ kind }) => kind !== 'judge_check');
  return ofRefs.some((effect) => 'candidate' in effect && effect.candidate === candidate);
}
