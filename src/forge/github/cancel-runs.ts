import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient } from './api/client.ts';

interface Runs {
  readonly workflow_runs: readonly { readonly id: number; readonly status: string | null; readonly head_sha: string }[];
}

/** No commit has as many workflow runs. */
const MOST = 100;

/**
 * Cancels the GitHub Actions runs of a commit. This only saves machine time, so a run that cannot be cancelled
 * continues.
 */
export async function cancelRuns(client: GithubClient, repository: ForgeRepository, sha: Sha): Promise<void> {
  const { permissions, isApp } = await client.installation(repository);
  if (isApp && permissions['actions'] !== 'write') return;
  const { status, data } = await client.request<Runs>({
    repository,
    route: 'GET /repos/{owner}/{repo}/actions/runs',
    parameters: { head_sha: sha, per_page: MOST },
    urgency: 'talk',
    accept: [403, 404],
  });
  if (status !== 200) return;
  for (const run of data.workflow_runs) {
    if (run.status === 'completed' || run.head_sha !== sha) continue;
    await client.request({
      repository,
      route: 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel',
      parameters: { run_id: run.id },
      urgency: 'talk',
      // The run has ended meanwhile, or the app may not cancel it.
      accept: [403, 404, 409],
    });
  }
}
