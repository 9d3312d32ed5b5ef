import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient } from './api/client.ts';

interface Runs {
  readonly workflow_runs: readonly { readonly id: number; readonly status: string | null; readonly head_sha: string }[];
}

/** More workflows for one commit than anybody has. */
const MOST = 100;

/** Stops what GitHub's own CI still runs for a commit. It only saves time of machines: what cannot be stopped runs on. */
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
      // It has ended by itself meanwhile, or is not ours to stop.
      accept: [403, 404, 409],
    });
  }
}
