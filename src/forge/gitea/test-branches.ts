import { Fault } from '../../lib/fault.ts';
import type { Refusal } from '../candidate/candidate-refs.ts';
import type { DraftRequest } from '../hosted/adapter.ts';
import { bareText } from '../hosted/forge-text.ts';
import type { GiteaClient } from './api/client.ts';
import { messageIn } from './api/unavailable.ts';

/** Gitea has no drafts but titles that begin with "WIP:". It allows one pull request for a branch and base. */
// SPEC G6
export async function openPullRequest(client: GiteaClient, request: DraftRequest): Promise<Refusal | undefined> {
  const { repository, branch, title, body, targetBranch, isDraft } = request;
  const { status, data } = await client.request<unknown>({
    repository,
    method: 'POST',
    path: '/pulls',
    body: { title: isDraft ? `WIP: ${title}` : title, head: branch, base: targetBranch, body },
    accept: [404, 409, 422],
    isUrgent: true,
  });
  if (status < 300 || status === 409) return undefined;
  // Gitea may not see a branch that was pushed a moment ago.
  const detail = `Gitea does not open a pull request for the branch ${branch} (${status}): ${bareText(messageIn(data))}`;
  throw new Fault('FORGE_UNAVAILABLE', detail);
}
