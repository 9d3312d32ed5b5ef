import { bareText } from '../hosted/forge-text.ts';
import type { BaseChange } from '../hosting.ts';
import type { GitlabClient } from './api/client.ts';
import type { MergeRequestData } from './api/data.ts';
import { messageIn } from './api/unavailable.ts';

// SPEC G176
export async function retarget(
  client: GitlabClient,
  { repository, number, branch }: BaseChange,
): Promise<string | undefined> {
  const { status, data } = await client.request<MergeRequestData>({
    repository,
    method: 'PUT',
    path: `/merge_requests/${number}`,
    body: { target_branch: branch },
    accept: [400, 404, 409, 422],
    isUrgent: true,
  });
  if (status < 300 && data.state === 'opened' && data.target_branch === branch) return undefined;
  const why = status < 300 ? 'it is not open' : bareText(messageIn(data)) || `it answered ${status}`;
  return `GitLab does not change the target of !${number} to ${branch}: ${why.replace(/\.$/, '')}.`;
}
