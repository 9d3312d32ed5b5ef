import { bareText } from '../hosted/forge-text.ts';
import type { BaseChange } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';
import { type ProblemData, sentencesOf } from './test-branches.ts';

type Answered = ProblemData & { readonly state?: string };

/** A landing waits for it. GitHub computes the mergeability anew. */
// SPEC G176
export async function retarget(
  client: GithubClient,
  { repository, number, branch }: BaseChange,
): Promise<string | undefined> {
  const { status, data } = await client.request<Answered>({
    repository,
    route: 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
    parameters: { pull_number: number, base: branch },
    urgency: 'land',
    accept: [404, 422],
  });
  if (status < 300 && data.state === 'open') return undefined;
  const why = status < 300 ? 'it is closed' : bareText(sentencesOf(data));
  return `GitHub does not change the base of #${number} to ${branch}: ${why.replace(/\.$/, '')}.`;
}
