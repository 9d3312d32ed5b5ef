import { landingEntries } from '../../engine/facts/evolve-landing.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import { branchBelow, entriesAbove, needsOf } from '../../engine/model/stack.ts';
import type { LandAnswer } from '../../forge/forge.ts';
import type { EffectRun } from './effect-run.ts';

interface Attempt {
  readonly land: () => Promise<LandAnswer>;
  /** The landing is only searched for. */
  readonly isCalledOff: boolean;
}

/**
 * A forge shows a pull request as merged only if its base is the target branch, and closes or moves those whose base is
 * deleted. So the bases of a stack become the target before the push, and are set back where nothing lands.
 */
// SPEC L60
export async function landRetargeted(
  run: EffectRun,
  candidate: Candidate,
  { land, isCalledOff }: Attempt,
): Promise<LandAnswer> {
  const { queue } = run.found;
  const landing = landingEntries(queue, candidate);
  const based = listBased(queue, landing);
  const isBegun = queue.landing?.isBegun === true;
  const moved: Based[] = isCalledOff && isBegun ? [...based] : [];
  for (const each of isCalledOff ? [] : based) {
    const { entry } = each;
    const refusal = await retarget(run, entry, queue.branch);
    if (refusal === undefined) moved.push(each);
    const problem = landing.includes(entry) ? (refusal ?? (await findLostReview(run, entry))) : undefined;
    if (problem === undefined) continue;
    await setBack(run, moved);
    return { kind: 'refused', prNumber: entry.prNumber, reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET', detail: problem };
  }
  const answer = await land();
  await setBack(run, answer.kind === 'landed' ? moved.filter(isAboveUnlanded(answer)) : moved);
  return answer;
}

interface Based {
  readonly entry: Entry;
  /** Its own base, which is not the target branch. */
  readonly base: string;
}

/**
 * Those that land, and the next ones above, which would lose their bases. A server that was killed may have changed some
 * bases already, and a new base may have been read since.
 */
function listBased(queue: Queue, landing: readonly Entry[]): readonly Based[] {
  const above = landing.flatMap(({ prNumber }) => entriesAbove(queue, prNumber));
  const isBegun = queue.landing?.isBegun === true;
  return [...new Set([...landing, ...above])].flatMap((entry) => {
    const base = (isBegun ? branchBelow(queue, entry) : undefined) ?? entry.pr.baseBranch;
    return base === queue.branch ? [] : { entry, base };
  });
}

/** A merge API may stop part of the way. */
function isAboveUnlanded({ entries }: Extract<LandAnswer, { kind: 'landed' }>): (based: Based) => boolean {
  const landed = new Set(entries.map(({ prNumber }) => prNumber));
  return ({ entry }) => needsOf(entry).some(({ by, number }) => by === 'base' && !landed.has(number));
}

async function setBack(run: EffectRun, moved: readonly Based[]): Promise<void> {
  await Promise.all(moved.map(({ entry, base }) => retarget(run, entry, base)));
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
