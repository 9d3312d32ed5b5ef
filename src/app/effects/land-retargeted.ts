import { landingEntries } from '../../engine/facts/evolve-landing.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import { entriesAbove } from '../../engine/model/stack.ts';
import type { LandAnswer } from '../../forge/forge.ts';
import type { EffectRun } from './effect-run.ts';

/**
 * A forge shows a pull request as merged only if its base is the target branch, and closes or moves those whose base is
 * deleted. So the bases of a stack become the target before the push, and are set back if nothing lands.
 */
// SPEC L60
export async function landRetargeted(
  run: EffectRun,
  candidate: Candidate,
  land: () => Promise<LandAnswer>,
): Promise<LandAnswer> {
  const { queue } = run.found;
  const moved: Entry[] = [];
  const setBack = () => Promise.all(moved.map((entry) => retarget(run, entry, entry.pr.baseBranch)));
  const landing = landingEntries(queue, candidate);
  for (const entry of withAbove(queue, landing)) {
    const refusal = await retarget(run, entry, queue.branch);
    if (refusal === undefined) moved.push(entry);
    const problem = landing.includes(entry) ? (refusal ?? (await findLostReview(run, entry))) : undefined;
    if (problem === undefined) continue;
    await setBack();
    return { kind: 'refused', prNumber: entry.prNumber, reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET', detail: problem };
  }
  const answer = await land();
  if (answer.kind !== 'landed') await setBack();
  return answer;
}

/** Those that land, and the next ones above, which would lose their bases. */
function withAbove(queue: Queue, landing: readonly Entry[]): readonly Entry[] {
  const above = landing.flatMap(({ prNumber }) => entriesAbove(queue, prNumber));
  return [...new Set([...landing, ...above])].filter(({ pr }) => pr.baseBranch !== queue.branch);
}

async function retarget(
  { forge, repository }: EffectRun,
  { prNumber: number }: Entry,
  branch: string,
): Promise<string | undefined> {
  return forge.hosting?.retarget({ repository, number, branch });
}

/** A forge may dismiss approvals of a pull request whose base changes. */
async function findLostReview(
  { forge, found, repository }: EffectRun,
  { prNumber: number }: Entry,
): Promise<string | undefined> {
  const targetBranch = found.queue.branch;
  const judged = await forge.hosting?.judgeForTarget({ repository, number, targetBranch });
  const isLost = judged?.blockReasons.some((block) => block === 'reviewRequired' || block === 'changesRequested');
  return isLost
    ? `A review is missing since its base is ${targetBranch}. Have it approved, and submit it again.`
    : undefined;
}
