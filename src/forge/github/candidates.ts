import type { RequiredSources } from '../../engine/required.ts';
import type { GitRepository } from '../../git/git.ts';
import { branchRef, isBranchName } from '../../git/ref-name.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { buildCandidate as build } from '../candidate/build.ts';
import {
  discardCandidate as discard,
  listCandidateIds as listIds,
  publishCandidate as publish,
  type Refusal,
} from '../candidate/candidate-refs.ts';
import { checkShas } from '../candidate/commits.ts';
import { pullRequestRef } from '../candidate/pull-request-ref.ts';
import type {
  BuildAnswer,
  BuildRequest,
  CheckOutRequest,
  DiscardRequest,
  ForgeRepository,
  LandRequest,
  PublishAnswer,
  PublishRequest,
} from '../forge.ts';
import type { GithubClient } from './api/client.ts';
import { bareText } from './api/unavailable.ts';
import { fetchMissing, type GitAccess } from './git-access.ts';
import type { Protection } from './protection.ts';

/** The pollers list often. A change that this list misses is in the next one. */
const LIST_MAX_AGE_MS = 1_000;

export interface CandidateParts {
  readonly access: GitAccess;
  readonly client: GithubClient;
  readonly protection: Protection;
  readonly testBranchPrefix: string;
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
      const detail = `GitHub does not have the commit ${late.headSha} of pull request ${late.prNumber}, or not yet.`;
      throw new Fault('FORGE_UNAVAILABLE', detail);
    }
    return build(git.focus([]), request);
  });
  if (answer.kind !== 'built') return answer;
  return { ...answer, sources: await withProtection(parts, request, answer.sources) };
}

/** Queried only when it counts: a file in the repository has precedence. */
async function withProtection(
  { protection }: CandidateParts,
  { repository, targetBranch }: BuildRequest,
  sources: RequiredSources,
): Promise<RequiredSources> {
  if (sources.file !== undefined || sources.fileProblem !== undefined) return sources;
  const { checks } = await protection.readRules(repository, targetBranch);
  const all = [...(sources.protection ?? []), ...checks];
  return { ...sources, protection: all.length === 0 ? undefined : all };
}

export async function publishCandidate(parts: CandidateParts, request: PublishRequest): Promise<PublishAnswer> {
  checkShas([request.sha]);
  const { access, client, testBranchPrefix } = parts;
  const answer = await access.ask(request.repository, (git) =>
    publish(git.focus([request.sha]), testBranchPrefix, request),
  );
  if (answer.kind !== 'published' || request.draft === undefined) return answer;
  const refusal = await ensureDraft(client, { ...request, branch: answer.branch, body: request.draft.body });
  return refusal === undefined ? answer : { kind: 'refused', ...refusal };
}

/** GitHub closes a draft pull request when its branch is deleted. */
export async function discardCandidate(
  { access, client, testBranchPrefix }: CandidateParts,
  request: DiscardRequest,
): Promise<void> {
  const { repository, unfinished } = request;
  await access.ask(repository, (git) => discard(git, testBranchPrefix, request));
  if (unfinished !== undefined) await cancelRuns(client, repository, unfinished);
}

/** Fetched instead of listed: for a fetch GitHub sends only the refs that match, and their commits are here already. */
export function listCandidateIds(
  { access, testBranchPrefix }: CandidateParts,
  repository: ForgeRepository,
): Promise<readonly string[]> {
  return access.ask(repository, async (git) => {
    await git.focus(['refs/sluice/*', `${branchRef(testBranchPrefix)}/*`]).refresh(LIST_MAX_AGE_MS);
    return listIds(git, testBranchPrefix);
  });
}

export async function checkOut({ access }: CandidateParts, request: CheckOutRequest): Promise<string | undefined> {
  const { repository, sha, folder, isIsolated } = request;
  checkShas([sha]);
  return access.ask(repository, async (git) => {
    // Another server may have built it.
    await fetchMissing(git, [sha]);
    return git.checkOut({ sha, folder, isIsolated });
  });
}

/** The repository with a refresh that fetches only the target branch and the pull requests of this landing. */
export async function focusOnLanding(git: GitRepository, request: LandRequest): Promise<GitRepository> {
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

interface Runs {
  readonly workflow_runs: readonly { readonly id: number; readonly status: string | null; readonly head_sha: string }[];
}

/** No commit has as many workflow runs. */
const MOST = 100;

/**
 * Cancels the GitHub Actions runs of a commit. This only saves machine time, so a run that cannot be cancelled
 * continues.
 */
async function cancelRuns(client: GithubClient, repository: ForgeRepository, sha: Sha): Promise<void> {
  const { permissions, isApp } = await client.installation(repository);
  if (isApp && permissions['actions'] !== 'write') return;
  const { status, data } = await client.request<Runs>({
    repository,
    route: 'GET /repos/{owner}/{repo}/actions/runs',
    parameters: { head_sha: sha, per_page: MOST },
    urgency: 'page',
    accept: [403, 404],
  });
  if (status !== 200) return;
  for (const run of data.workflow_runs) {
    if (run.status === 'completed' || run.head_sha !== sha) continue;
    await client.request({
      repository,
      route: 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel',
      parameters: { run_id: run.id },
      urgency: 'page',
      // The run has ended meanwhile, or the app may not cancel it.
      accept: [403, 404, 409],
    });
  }
}

interface DraftRequest extends Pick<PublishRequest, 'repository' | 'targetBranch' | 'prNumber'> {
  readonly branch: string;
  readonly body: string;
}

/**
 * Opens a draft pull request for a test branch. Idempotent: GitHub allows one per branch and base, and refuses a second
 * with "already exists". Answers the refusal, or undefined on success.
 */
// SPEC G6
async function ensureDraft(client: GithubClient, request: DraftRequest): Promise<Refusal | undefined> {
  const { repository, branch, body, targetBranch } = request;
  const { status, data } = await client.request<ProblemData>({
    repository,
    route: 'POST /repos/{owner}/{repo}/pulls',
    parameters: { title: titleOf(request), head: branch, base: targetBranch, body, draft: true },
    urgency: 'land',
    accept: [422],
  });
  if (status !== 422) return undefined;
  const sentences = sentencesOf(data);
  if (/already exists/i.test(sentences)) return undefined;
  const detail = `GitHub does not open a draft pull request for the test branch: ${bareText(sentences)}`;
  if (/draft/i.test(sentences)) return { reason: 'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED', detail };
  // GitHub may not see a branch that was pushed a moment ago.
  throw new Fault('FORGE_UNAVAILABLE', detail);
}

interface ProblemData {
  readonly message?: string;
  readonly errors?: readonly (
    | string
    | { readonly message?: string; readonly field?: string; readonly code?: string }
  )[];
}

// SPEC G146
function sentencesOf({ message = '', errors = [] }: ProblemData): string {
  const details = errors.map((error) =>
    typeof error === 'string' ? error : (error.message ?? `${error.field ?? ''} ${error.code ?? ''}`.trim()),
  );
  return [message, ...details].filter((text) => text !== '').join(': ');
}

function titleOf({ prNumber, targetBranch }: DraftRequest): string {
  const subject = prNumber === undefined ? `the head of ${targetBranch}` : `pull request #${prNumber}`;
  return `Test of ${subject}: not to be merged`;
}
