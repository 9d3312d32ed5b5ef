import { landingEntries } from '../../engine/facts/evolve-landing.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { ReviewLost } from '../../engine/model/event.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import { branchBelow, entriesAbove, needsOf } from '../../engine/model/stack.ts';
import type { LandAnswer } from '../../forge/forge.ts';
import type { EffectRun } from './effect-run.ts';

type Problem = Extract<LandAnswer, { readonly kind: 'refused' }> | ReviewLost;

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
): Promise<LandAnswer | ReviewLost> {
  const { queue } = run.found;
  const based = listBased(queue, landingEntries(queue, candidate));
  if (isCalledOff && queue.landing?.isBegun !== true) return land();
  const problem = isCalledOff ? undefined : await prepare(run, based);
  const answer = problem ?? (await land());
  await setBack(run, answer.kind === 'landed' ? based.filter(isAboveUnlanded(answer)) : based);
  return answer;
}

interface Based {
  readonly entry: Entry;
  /** The target branch, if it was retargeted with those below it that have landed. */
  readonly base: string;
  readonly isLanding: boolean;
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
    const isLanding = landing.includes(entry);
    const isNamed = base !== queue.branch || (isLanding && entry.pr.below?.some(({ by }) => by === 'base'));
    return isNamed ? { entry, base, isLanding } : [];
  });
}

/** A merge API may stop part of the way. */
function isAboveUnlanded({ entries }: Extract<LandAnswer, { kind: 'landed' }>): (based: Based) => boolean {
  const landed = new Set(entries.map(({ prNumber }) => prNumber));
  return ({ entry }) => needsOf(entry).some(({ by, number }) => by === 'base' && !landed.has(number));
}

/** All bases are changed before the first review is read: a forge may dismiss approvals a moment later. */
async function prepare(run: EffectRun, based: readonly Based[]): Promise<Problem | undefined> {
  const { branch, landing } = run.found.queue;
  const asked: Entry[] = [];
  for (const { entry, base, isLanding } of based) {
    const { prNumber } = entry;
    const detail = base === branch ? undefined : await retarget(run, entry, branch);
    if (!isLanding) continue;
    if (detail === undefined) asked.push(entry);
    // One that is closed may have landed by the request of a server that was killed.
    else if (landing?.isBegun !== true)
      return { kind: 'refused', prNumber, reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET', detail };
  }
  for (const entry of asked) {
    const lost = await findLostReview(run, entry);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

async function setBack(run: EffectRun, based: readonly Based[]): Promise<void> {
  const own = based.filter(({ base }) => base !== run.found.queue.branch);
  await Promise.all(own.map(({ entry, base }) => retarget(run, entry, base)));
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
): Promise<ReviewLost | undefined> {
  const targetBranch = found.queue.branch;
  const judged = await forge.hosting?.judgeForTarget({ repository, number, targetBranch });
  const block = judged?.blockReasons.find((each) => each === 'reviewRequired' || each === 'changesRequested');
  return block && { kind: 'review_lost', prNumber: number, block };
}
