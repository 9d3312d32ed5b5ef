import { Fault } from '../../lib/fault.ts';
import type { Refusal } from '../candidate/candidate-refs.ts';
import type { DraftRequest } from '../hosted/adapter.ts';
import { bareText } from '../hosted/forge-text.ts';
import type { GitlabClient } from './api/client.ts';
import { messageIn } from './api/unavailable.ts';

/** GitLab allows one merge request for a branch and target, and closes it with its branch. */
export async function openPullRequest(client: GitlabClient, request: DraftRequest): Promise<Refusal | undefined> {
  const { repository, branch, title, body, targetBranch, isDraft } = request;
  const { status, data } = await client.request<unknown>({
    repository,
    method: 'POST',
    path: '/merge_requests',
    body: {
      ...{
        title: isDraft ? `Draft: ${title}` : title,
        description: body,
        source_branch: branch,
        target_branch: targetBranch,
      },
      remove_source_branch: false,
    },
    accept: [400, 404, 409, 422],
    isUrgent: true,
  });
  if (status < 300 || status === 409) return undefined;
  // GitLab may not see a branch that was pushed a moment ago.
  const detail = `GitLab does not open a merge request for the branch ${branch} (${status}): ${bareText(messageIn(data))}`;
  throw new Fault('FORGE_UNAVAILABLE', detail);
}
