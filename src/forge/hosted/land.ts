import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { GitRepository } from '../../git/git.ts';
import { branchRef } from '../../git/ref-name.ts';
import type { Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { landCandidate, type RefOf } from '../candidate/land.ts';
import { type LineStep, landOneByOne, type MergeApi } from '../candidate/land-one-by-one.ts';
import { planLanding } from '../candidate/plan-landing.ts';
import type { LandAnswer, LandRequest } from '../forge.ts';
import type { HostedMerging } from './adapter.ts';

interface LandingParts {
  /** Its `refresh` fetches the target branch and the heads of the entries. */
  readonly git: GitRepository;
  readonly merging: HostedMerging;
  readonly pullRequestRef: RefOf;
  readonly clock: Timing;
}

/** An entry's commits are the first ones. Any number of pushed commits may follow. */
const MAX_LINE = 2_000;

export async function landHosted(parts: LandingParts, request: LandRequest): Promise<LandAnswer> {
  if (request.landingMode === 'API') {
    const api = createMergeApi(parts, request);
    const [first] = request.entries;
    if (api !== undefined) return landOneByOne(api, request);
    if (first !== undefined) return noMergeApi(first.prNumber);
  }
  await parts.git.refresh();
  return (await findUnready(parts, request)) ?? landCandidate(parts.git, request, parts.pullRequestRef);
}

/** A push does not check whether the pull requests are still open, and their refs stay after they are closed. */
// SPEC G25
async function findUnready({ git, merging }: LandingParts, request: LandRequest): Promise<LandAnswer | undefined> {
  const { entries, targetBranch, expectedHead, isCalledOff } = request;
  const isMoved = async () => (await git.findCommit(branchRef(targetBranch)))?.sha !== expectedHead;
  if (isCalledOff || (await isMoved())) return undefined;
  const states = await merging.findOpenStates(request);
  for (const { prNumber } of entries) {
    const { state, baseBranch } = states.get(prNumber) ?? {};
    if (state === 'open' && baseBranch === targetBranch) continue;
    if (state === 'merged' && baseBranch === targetBranch) {
      await git.refresh();
      if (await isMoved()) return undefined;
      // A person merged it, and the branch moved earlier or never shows it. The entry ends the same way in both cases.
      const detail = 'It was merged by somebody else.';
      return { kind: 'refused', prNumber, reason: 'MANUAL_MERGE', detail };
    }
    const detail = `It is not open for ${targetBranch} any more.`;
    return { kind: 'refused', prNumber, reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
  }
  return undefined;
}

function noMergeApi(prNumber: PrNumber): LandAnswer {
  const detail = 'This forge has no merge API that Sluice uses: set landingMode to PUSH.';
  return { kind: 'refused', prNumber, reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
}

function createMergeApi({ git, merging, clock }: LandingParts, request: LandRequest): MergeApi | undefined {
  const { merge, findMergeState } = merging;
  if (merge === undefined || findMergeState === undefined) return undefined;
  const findCommit = async (sha: Sha): Promise<LineStep | undefined> => git.findStoredCommit(sha);
  return {
    plan: () => planLanding(git, request),
    findCommit,

    async readTarget() {
      await git.refresh();
      return (await git.findCommit(branchRef(request.targetBranch)))?.sha;
    },

    async isAncestor({ ancestor, descendant }) {
      if ((await findCommit(ancestor)) === undefined) return false;
      return git.isAncestor({ ancestor, descendant });
    },

    async listLine({ since, head }) {
      if (head === since) return [];
      if (!(await this.isAncestor({ ancestor: since, descendant: head }))) return undefined;
      const shas = await git.listFirstParents({ tip: head, without: [since] });
      const steps = await Promise.all(shas.slice(0, MAX_LINE).map(findCommit));
      const line = steps.filter((step) => step !== undefined);
      return line[0]?.parents[0] === since ? line : undefined;
    },

    merge: (entry) => merge(request, entry),
    findState: (prNumber) => findMergeState(request, prNumber),
    wait: (ms) => wait(clock, ms, request.signal),
  };
}

/** A stopping server does not wait. The next server finds what was merged. */
function wait(clock: Timing, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(new Fault('SHUTTING_DOWN', 'The landing is looked for again by whoever goes on with it.'));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
