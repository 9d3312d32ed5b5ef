import type { Landed } from '../../engine/model/candidate.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { LineStep } from '../../engine/model/queue.ts';
import type { LineCommit } from '../../forge/forge.ts';
import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';

type Landing = Pick<Landed, 'sha' | 'base' | 'pushedSha' | 'at'> & {
  readonly prNumber: PrNumber;
  readonly wasTested: boolean;
};

/** Entries are listed by submission. So many contain the newest landings, but for those that waited very long. */
const MOST_LISTED = 200;
/** The line is read from where so many landings began; from fewer, if the branch was rewritten since. */
const LANDINGS = [97, 8];
const MOST_COMMITS = 5_000;

/** Commits of the first-parent line down to the head, oldest first. Undefined if no landing is known on it. */
export async function readLandedLine(app: App, found: FoundQueue, head: Sha): Promise<readonly LineStep[] | undefined> {
  const landings = await listLandings(app, found);
  const repository = toForgeRepository(found.repository);
  const forge = getForge(app, repository.host);
  for (const count of LANDINGS) {
    const since = landings.at(-Math.min(count, landings.length))?.base;
    if (since === undefined) return undefined;
    const line = await forge.listLine({ repository, head, since, limit: MOST_COMMITS });
    if (line.kind === 'line') return stepsOf(since, line.commits.toReversed(), landings);
  }
  return undefined;
}

async function listLandings(app: App, { id }: FoundQueue): Promise<readonly Landing[]> {
  const rows = await app.store.queueRecords.listEntries({ queueId: id, state: 'MERGED', limit: MOST_LISTED });
  const landings = rows.map(decodeShownEntry).flatMap(({ prNumber, landed, lost }) => {
    if (landed === undefined || lost !== undefined) return [];
    const { sha, base, pushedSha, at, kind, waived } = landed;
    const isExact = kind === 'IDENTICAL' || kind === 'SAME_TREE';
    return [{ prNumber, sha, base, pushedSha, at, wasTested: isExact && sha === pushedSha && waived === undefined }];
  });
  return landings.toSorted((a, b) => a.at - b.at);
}

/** Of the commits of one landing, the last of each entry counts: the others were never meant to pass. */
export function stepsOf(
  since: Sha,
  commits: readonly Pick<LineCommit, 'sha'>[],
  landings: readonly Landing[],
): readonly LineStep[] {
  const bySha = new Map(landings.map((landing) => [landing.sha, landing]));
  const endOf = new Map(landings.map(({ base, pushedSha }) => [base, pushedSha]));
  let end = endOf.get(since);
  const steps: LineStep[] = [toStep(since, bySha.get(since))];
  for (const { sha } of commits) {
    const landing = bySha.get(sha);
    if (landing !== undefined || end === undefined) steps.push(toStep(sha, landing));
    if (sha === end) end = undefined;
    end ??= endOf.get(sha);
  }
  return steps;
}

function toStep(sha: Sha, landing: Landing | undefined): LineStep {
  if (landing === undefined) return { sha };
  return { sha, prNumber: landing.prNumber, ...(landing.wasTested && { wasTested: true as const }) };
}
