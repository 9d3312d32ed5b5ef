import type { CandidateNumber } from '../../engine/candidate.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { forEachAtOnce, PeriodicTask } from '../core/periodic.ts';
import { PLAIN_GIT_HOST } from '../core/plain-git-host.ts';
import { decodeCandidate, decodeEffect } from '../core/queue-codec.ts';
import { loadQueues } from '../queue/list-queues.ts';

const TIMES = { firstMs: 20_000, everyMs: 5 * 60_000 };
const REPOSITORIES_AT_ONCE = 2;
/** Of one repository, in one round; the next goes on from there. */
const MAX_LOOKS = 500;

/** Where the last round stopped in the ids of a repository. */
type Places = Map<RepositoryId, string>;

export function createSweep(app: App): PeriodicTask {
  const places: Places = new Map();
  return new PeriodicTask(app.clock, TIMES, (isStopped) => sweepRefs(app, places, isStopped));
}

/**
 * A server that lost the lease of a build while it was building may put the candidate's refs back after they were removed,
 * and nobody would ever remove them again. So refs of candidates that have ended are looked for, and removed. Ids that
 * this store does not know are somebody else's.
 */
export async function sweepRefs(
  app: App,
  places: Places = new Map(),
  isStopped: () => boolean = () => false,
): Promise<void> {
  // What is left over does no harm until the next round.
  const warn = (error: unknown, facts: object) => {
    if (!isStopped()) app.log.warn({ err: error, ...facts }, 'could not remove what candidates left behind');
  };
  try {
    // Also those without a queue: one that was deleted may have left something.
    const repositories = (await app.store.repositories.listAll()).filter((each) => isAtForge(app, each));
    await forEachAtOnce(REPOSITORIES_AT_ONCE, repositories, async (repository) => {
      const sweeping = sweepRepository(app, repository, places, isStopped);
      await sweeping.catch((error: unknown) => warn(error, { repository: repository.id }));
    });
  } catch (error) {
    warn(error, {});
  }
}

/**
 * Some have test results and nothing else, and a company may have thousands of them. On a forge with people on it one that
 * ever had a queue is known by the forge's id.
 */
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

/** So many ids after those of the last round; the first ones again after the last. */
function choose(ids: readonly string[], of: RepositoryId, places: Places): readonly string[] {
  const after = places.get(of) ?? '';
  const chosen = ids.filter((id) => id > after).slice(0, MAX_LOOKS);
  const last = chosen.length < MAX_LOOKS ? undefined : chosen.at(-1);
  if (last === undefined) places.delete(of);
  else places.set(of, last);
  return chosen;
}

/** What its branch is named by, where it has ended and nothing more is asked for it. */
async function findEnded(app: App, candidateId: string) {
  const { queues } = app.store;
  const row = await queues.findCandidateById(candidateId);
  if (row === undefined) return undefined;
  // What a queue asked for that is gone is never carried out.
  const isGone = (await queues.findVersion(row.queueId)) === undefined;
  if (!isGone && row.endedAt === null) return undefined;
  const candidate = decodeCandidate(row);
  if (!isGone && (await hasEffects(app, row.queueId, candidate.number))) return undefined;
  return { prNumber: candidate.members[0]?.prNumber, isBisection: candidate.purpose.kind === 'bisection' };
}

/** Those remove the refs themselves, or may still make them. */
async function hasEffects(app: App, queueId: QueueId, candidate: CandidateNumber): Promise<boolean> {
  const effects = (await app.store.queues.listEffects(queueId)).map(decodeEffect);
  const ofRefs = effects.filter(({ kind }) => kind !== 'judge_check');
  return ofRefs.some((effect) => 'candidate' in effect && effect.candidate === candidate);
}
