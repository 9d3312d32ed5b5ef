import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Refusal } from '../candidate/candidate-refs.ts';
import type { ForgeRepository } from '../forge.ts';
import type { DraftRequest } from '../hosted/adapter.ts';
import { bareText } from '../hosted/forge-text.ts';
import type { GithubClient } from './api/client.ts';

interface Runs {
  readonly workflow_runs: readonly { readonly id: number; readonly status: string | null; readonly head_sha: string }[];
}

/** No commit has as many workflow runs. */
const MOST = 100;

/** This only saves machine time: a run that cannot be cancelled continues. */
export async function cancelRuns(client: GithubClient, repository: ForgeRepository, sha: Sha): Promise<void> {
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

/** GitHub allows one per branch and base, and refuses a second with "already exists". Undefined on success. */
// SPEC G6
export async function openPullRequest(client: GithubClient, request: DraftRequest): Promise<Refusal | undefined> {
  const { repository, branch, title, body, targetBranch, isDraft } = request;
  const { status, data } = await client.request<ProblemData>({
    repository,
    route: 'POST /repos/{owner}/{repo}/pulls',
    parameters: { title, head: branch, base: targetBranch, body, draft: isDraft },
    urgency: 'land',
    accept: [422],
  });
  if (status !== 422) return undefined;
  const sentences = sentencesOf(data);
  if (/already exists/i.test(sentences)) return undefined;
  const detail = `GitHub does not open a pull request for the branch ${branch}: ${bareText(sentences)}`;
  if (/draft/i.test(sentences)) return { reason: 'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED', detail };
  // GitHub may not see a branch that was pushed a moment ago.
  throw new Fault('FORGE_UNAVAILABLE', detail);
}

export interface ProblemData {
  readonly message?: string;
  readonly errors?: readonly (
    | string
    | { readonly message?: string; readonly field?: string; readonly code?: string }
  )[];
}

// SPEC G146
export function sentencesOf({ message = '', errors = [] }: ProblemData): string {
  const details = errors.map((error) =>
    typeof error === 'string' ? error : (error.message ?? `${error.field ?? ''} ${error.code ?? ''}`.trim()),
  );
  return [message, ...details].filter((text) => text !== '').join(': ');
}
