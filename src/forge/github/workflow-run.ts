import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { WorkflowRunFacts } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';

interface Run {
  readonly event?: string;
  readonly status?: string | null;
  readonly head_sha?: string;
  readonly head_branch?: string | null;
  readonly head_repository?: { readonly id?: number; readonly owner?: { readonly login?: string } | null } | null;
}

interface Pull {
  readonly number: number;
  readonly head?: { readonly sha?: string; readonly ref?: string; readonly repo?: { readonly id?: number } | null };
}

/** Reads the run now. Undefined when this repository has no such run. */
export async function findWorkflowRun(
  client: GithubClient,
  repository: ForgeRepository,
  runId: string,
): Promise<WorkflowRunFacts | undefined> {
  const { status, data: run } = await client.request<Run>({
    repository,
    route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}',
    parameters: { run_id: runId },
    urgency: 'page',
    accept: [404],
  });
  if (status === 404 || run.event === undefined || run.head_sha === undefined) return undefined;
  const isLive = run.status !== 'completed';
  return {
    event: run.event,
    isLive,
    headSha: run.head_sha as Sha,
    // Further reads are needed only for a run that can be a proof.
    prNumbers: isLive && run.event === 'pull_request' ? await findPullRequests(client, repository, run) : [],
  };
}

/** GitHub does not list pull requests of forks on a run, so they are found by their head. */
async function findPullRequests(
  client: GithubClient,
  repository: ForgeRepository,
  { head_sha, head_branch, head_repository }: Run,
): Promise<readonly PrNumber[]> {
  const owner = head_repository?.owner?.login;
  if (owner === undefined || !head_branch) return [];
  const { data } = await client.request<readonly Pull[]>({
    repository,
    route: 'GET /repos/{owner}/{repo}/pulls',
    parameters: { state: 'open', head: `${owner}:${head_branch}`, per_page: 100 },
    urgency: 'page',
  });
  return data
    .filter(({ head }) => head?.sha === head_sha && head?.ref === head_branch && head?.repo?.id === head_repository?.id)
    .map(({ number }) => number as PrNumber);
}
