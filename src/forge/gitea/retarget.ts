import { bareText } from '../hosted/forge-text.ts';
import type { BaseChange } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { PullData } from './api/data.ts';
import { messageIn } from './api/unavailable.ts';

/** Gitea answers 201 also for a merged pull request, and changes nothing. */
// SPEC G176
export async function retarget(
  client: GiteaClient,
  { repository, number, branch }: BaseChange,
): Promise<string | undefined> {
  const { status, data } = await client.request<PullData>({
    repository,
    method: 'PATCH',
    path: `/pulls/${number}`,
    body: { base: branch },
    accept: [404, 409, 422],
    isUrgent: true,
  });
  if (status < 300 && data.state === 'open' && data.base.ref === branch) return undefined;
  const why = status < 300 ? 'it is closed' : bareText(messageIn(data)) || `it answered ${status}`;
  return `Gitea does not change the base of #${number} to ${branch}: ${why.replace(/\.$/, '')}.`;
}
