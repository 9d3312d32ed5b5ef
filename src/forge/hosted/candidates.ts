import type { RequiredSources } from '../../engine/model/required.ts';
import type { GitRepository } from '../../git/git.ts';
import { branchRef, isBranchName } from '../../git/ref-name.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { buildCandidate as build } from '../candidate/build.ts';
import {
  discardCandidate as discard,
  listCandidateIds as listIds,
  publishCandidate as publish,
} from '../candidate/candidate-refs.ts';
import { checkShas } from '../candidate/commits.ts';
import type {
  BuildAnswer,
  BuildRequest,
  DiscardRequest,
  ForgeRepository,
  LandRequest,
  PublishAnswer,
  PublishRequest,
} from '../forge.ts';
import type { DraftRequest, HostedAdapter } from './adapter.ts';
import { fetchMissing, type GitAccess } from './git-access.ts';

/** The pollers list often. A change that this list misses is in the next one. */
const LIST_MAX_AGE_MS = 1_000;

export interface CandidateParts {
  readonly access: GitAccess;
  readonly adapter: HostedAdapter;
  readonly testBranchPrefix: string;
}

// SPEC G4
export async function findBranchHead(
  { access }: CandidateParts,
  repository: ForgeRepository,
  branch: string,
): Promise<Sha | undefined> {
  if (!isBranchName(branch)) return undefined;
  const [found] = await access.ask(repository, (git) => git.listRemoteRefs([branchRef(branch)]));
  return found?.sha;
}

export async function buildCandidate(parts: CandidateParts, request: BuildRequest): Promise<BuildAnswer> {
  const { base, parent, beneath, members, repository, targetBranch } = request;
  const entries = [...beneath, ...members];
  checkShas([base, parent ?? base, ...entries.map(({ headSha }) => headSha)]);
  const answer = await parts.access.ask(repository, async (git) => {
    const wanted = [base, ...(parent === undefined ? [] : [parent]), ...entries.map(({ headSha }) => headSha)];
    const lost = await fetchMissing(git, wanted, targetRefs(targetBranch));
    const late = members.find(({ headSha }) => lost.includes(headSha));
    if (late !== undefined) {
      const { title } = parts.adapter.remote;
      const detail = `${title} does not have the commit ${late.headSha} of pull request ${late.prNumber}, or not yet.`;
      throw new Fault('FORGE_UNAVAILABLE', detail);
    }
    return build(git.focus([]), request);
  });
  if (answer.kind !== 'built') return answer;
  return { ...answer, sources: await withProtection(parts, request, answer.sources) };
}

/** Queried only when it counts: a file in the repository has precedence. */
async function withProtection(
  { adapter }: CandidateParts,
  { repository, targetBranch }: BuildRequest,
  sources: RequiredSources,
): Promise<RequiredSources> {
  const pins = adapter.pinsReporters === true ? { isPinned: true as const } : {};
  if (sources.file !== undefined || sources.fileProblem !== undefined) return { ...sources, ...pins };
  const checks = await adapter.readRequiredChecks(repository, targetBranch);
  const all = [...(sources.protection ?? []), ...checks];
  return { ...sources, ...pins, protection: all.length === 0 ? undefined : all };
}

export async function publishCandidate(parts: CandidateParts, request: PublishRequest): Promise<PublishAnswer> {
  checkShas([request.sha]);
  const { access, adapter, testBranchPrefix } = parts;
  const answer = await access.ask(request.repository, (git) =>
    publish(git.focus([request.sha]), testBranchPrefix, request),
  );
  if (answer.kind !== 'published' || request.draft === undefined) return answer;
  const { repository, targetBranch, draft } = request;
  const refusal = await adapter.openPullRequest({
    ...{ repository, targetBranch, branch: answer.branch },
    ...{ title: titleOf(request), body: draft.body, isDraft: true },
  });
  return refusal === undefined ? answer : { kind: 'refused', ...refusal };
}

/** Forges close a draft pull request when its branch is deleted. */
export async function discardCandidate(
  { access, adapter, testBranchPrefix }: CandidateParts,
  request: DiscardRequest,
): Promise<void> {
  const { repository, unfinished } = request;
  await access.ask(repository, (git) => discard(git, testBranchPrefix, request));
  if (unfinished !== undefined) await adapter.cancelRuns?.(repository, unfinished);
}

/** Fetched instead of listed: for a fetch the forge sends only the refs that match, and their commits are here already. */
export function listCandidateIds(
  { access, testBranchPrefix }: CandidateParts,
  repository: ForgeRepository,
): Promise<readonly string[]> {
  return access.ask(repository, async (git) => {
    await git.focus(['refs/sluice/*', `${branchRef(testBranchPrefix)}/*`]).refresh(LIST_MAX_AGE_MS);
    return listIds(git, testBranchPrefix);
  });
}

/** The repository with a refresh that fetches only the target branch and the pull requests of this landing. */
export async function focusOnLanding(
  git: GitRepository,
  request: LandRequest,
  pullRequestRef: HostedAdapter['pullRequestRef'],
): Promise<GitRepository> {
  const { expectedHead, base, sha, tree, entries, targetBranch } = request;
  const heads: readonly Sha[] = entries.map(({ headSha }) => headSha);
  checkShas([expectedHead, base, sha, tree, ...heads]);
  const focus = [...targetRefs(targetBranch), ...entries.map(({ prNumber }) => pullRequestRef(prNumber))];
  await fetchMissing(git, [expectedHead, base, sha, ...heads], focus);
  return git.focus(focus);
}

function targetRefs(branch: string): readonly string[] {
  return isBranchName(branch) ? [branchRef(branch)] : [];
}

function titleOf({ prNumber, targetBranch }: Pick<PublishRequest, 'prNumber' | 'targetBranch'>): DraftRequest['title'] {
  const subject = prNumber === undefined ? `the head of ${targetBranch}` : `pull request #${prNumber}`;
  return `Test of ${subject}: not to be merged`;
}
