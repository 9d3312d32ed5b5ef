import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { GitRepository, RefAnswer, RefChange } from '../../git/git.ts';
import { branchRef, isBranchName } from '../../git/ref-name.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LandAnswer, LandRequest } from '../forge.ts';
import { type LandingPlan, planLanding } from './plan-landing.ts';
import { pullRequestRef } from './pull-request-ref.ts';

/** The forge's name for the head of a pull request. */
export type RefOf = (number: PrNumber) => string;

export async function landCandidate(
  git: GitRepository,
  request: LandRequest,
  refOf: RefOf = pullRequestRef,
): Promise<LandAnswer> {
  const { expectedHead } = request;
  const head = await findTarget(git, request);
  if (head !== expectedHead) return findEarlierLanding(git, request, head);
  if (request.isCalledOff) return { kind: 'called_off' };
  const moved = await findMoved(git, request, refOf);
  if (moved !== undefined) return { kind: 'pull_request_moved', prNumber: moved };
  const plan = await planLanding(git, request);
  if (plan.kind !== 'landed') return plan;
  // A missing object would leave a branch that cannot be cloned. A delayed landing is the lesser harm.
  await git.ensureWhole({ tip: plan.pushedSha, without: [expectedHead] });
  const answer = await moveTarget(git, { request, refOf }, plan.pushedSha);
  await git.refresh();
  return readBack(git, { request, refOf }, { plan, answer });
}

interface Landing {
  readonly request: LandRequest;
  readonly refOf: RefOf;
}

/** The transaction that moves the branch also verifies the heads of the pull requests, if git can do that. */
async function moveTarget(git: GitRepository, { request, refOf }: Landing, sha: Sha): Promise<RefAnswer> {
  const { targetBranch, expectedHead: expected } = request;
  const move: RefChange = { kind: 'set', ref: branchRef(targetBranch), sha, expected };
  const verifications = request.entries.map(
    ({ prNumber, headSha }): RefChange => ({ kind: 'verify', ref: refOf(prNumber), sha: headSha }),
  );
  const answer = await git.changeRefs([move, ...verifications]);
  if (answer.kind !== 'stale' || (await findMoved(git, request, refOf)) !== undefined) return answer;
  // A pull request ref may be an annotated tag, which git cannot verify. The move of the branch is still guarded.
  return git.changeRefs([move]);
}

/** Git's answer to a push can be lost or wrong, so the branch is read back. */
async function readBack(
  git: GitRepository,
  { request, refOf }: Landing,
  { plan, answer }: { readonly plan: Extract<LandingPlan, { kind: 'landed' }>; readonly answer: RefAnswer },
): Promise<LandAnswer> {
  const head = await findTarget(git, request);
  if (head !== request.expectedHead) {
    return (await isOnLine(git, plan.pushedSha, head)) ? plan : describeMove(git, request, head);
  }
  const moved = await findMoved(git, request, refOf);
  if (moved !== undefined) return { kind: 'pull_request_moved', prNumber: moved };
  const [first] = plan.entries;
  if (answer.kind === 'refused' && first !== undefined) {
    const reason = 'GITHUB_API_BRANCH_PROTECTION_UNMET';
    return { kind: 'refused', prNumber: first.prNumber, reason, detail: answer.detail };
  }
  throw new Fault('FORGE_UNAVAILABLE', 'The target branch is being changed by somebody else.');
}

/** An earlier request may have pushed and lost its answer. */
async function findEarlierLanding(
  git: GitRepository,
  request: LandRequest,
  head: Sha | undefined,
): Promise<LandAnswer> {
  if (head === undefined || (await git.findStoredCommit(request.expectedHead)) === undefined) {
    return { kind: 'target_moved', head, isDescendant: false };
  }
  const moved = await describeMove(git, request, head);
  // A landing has the expected head as an ancestor, and so has any later push on top of it.
  if (!moved.isDescendant) return moved;
  const plan = await planLanding(git, request);
  return plan.kind === 'landed' && (await isOnLine(git, plan.pushedSha, head)) ? plan : moved;
}

async function describeMove(git: GitRepository, { expectedHead }: LandRequest, head: Sha | undefined) {
  const isDescendant = head !== undefined && (await git.isAncestor({ ancestor: expectedHead, descendant: head }));
  return { kind: 'target_moved', head, isDescendant } as const;
}

async function isOnLine(git: GitRepository, sha: Sha, head: Sha | undefined): Promise<boolean> {
  if (head === undefined || head === sha) return head === sha;
  if (!(await git.isAncestor({ ancestor: sha, descendant: head }))) return false;
  const [oldest] = await git.listFirstParents({ tip: head, without: [sha] });
  return oldest !== undefined && (await git.findStoredCommit(oldest))?.parents[0] === sha;
}

async function findTarget(git: GitRepository, { targetBranch }: LandRequest): Promise<Sha | undefined> {
  return isBranchName(targetBranch) ? (await git.findCommit(branchRef(targetBranch)))?.sha : undefined;
}

async function findMoved(git: GitRepository, { entries }: LandRequest, refOf: RefOf): Promise<PrNumber | undefined> {
  const heads = await Promise.all(entries.map(({ prNumber }) => git.findCommit(refOf(prNumber))));
  return entries.find(({ headSha }, index) => heads[index]?.sha !== headSha)?.prNumber;
}
