import { Fault } from '../../lib/fault.ts';
import type { ForgeRepository } from '../forge.ts';
import { bareText } from '../hosted/forge-text.ts';
import { encodePath } from '../hosted/rest-client.ts';
import type { SettleRequest } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { PullData } from './api/data.ts';
import { messageIn } from './api/unavailable.ts';
import { isFork } from './facts.ts';
import type { LandedPulls } from './landed-pulls.ts';

interface SettleTools {
  readonly client: GiteaClient;
  readonly landed: LandedPulls;
}

/** A branch is kept if more pull requests than these are open. */
const MAX_PULL_PAGES = 20;

/**
 * Of several pull requests in one push, Gitea notices the last. For the others it takes any commit of the branch, so
 * that only the recorded one is sent. A head that moved has commits that did not land: it stays open.
 */
// SPEC G167
export async function settleLanded({ client, landed }: SettleTools, request: SettleRequest): Promise<void> {
  const { repository, headSha } = request;
  const pull = await landed.find(request);
  if (pull === undefined || pull.head.sha !== headSha) return;
  if (pull.state === 'open') await markMerged(client, request);
  await deleteBranch(client, repository, pull);
}

async function markMerged(
  client: GiteaClient,
  { repository, number, headSha, landedSha }: SettleRequest,
): Promise<void> {
  const { status, data } = await client.request<unknown>({
    repository,
    method: 'POST',
    path: `/pulls/${number}/merge`,
    body: { Do: 'manually-merged', MergeCommitID: landedSha, head_commit_id: headSha },
    accept: [404, 405, 409],
    isUrgent: true,
  });
  const detail = bareText(messageIn(data));
  if (status === 200 || status === 404 || /already merged/i.test(detail)) return;
  if (status === 405 && /merge style/i.test(detail)) {
    await client.request({ repository, method: 'PATCH', path: `/pulls/${number}`, body: { state: 'closed' } });
    return;
  }
  throw new Fault('FORGE_UNAVAILABLE', `Gitea does not show #${number} as merged yet (${status}): ${detail}`);
}

/** Gitea closes a pull request whose branch is deleted, so a branch that another one uses stays. */
async function deleteBranch(client: GiteaClient, repository: ForgeRepository, pull: PullData): Promise<void> {
  const { default_delete_branch_after_merge: isWanted, default_branch } = await client.resolve(repository);
  const branch = pull.head.ref;
  if (isWanted !== true || isFork(pull) || branch === default_branch) return;
  const open = await client.list<PullData>({ repository, path: '/pulls', query: { state: 'open' } }, MAX_PULL_PAGES);
  const isUsed = ({ number, head, base }: PullData) =>
    number !== pull.number && (base.ref === branch || (head.ref === branch && head.repo_id === base.repo_id));
  const isAll = open.length < MAX_PULL_PAGES * (await client.readPageSize());
  if (!isAll || open.some(isUsed)) return;
  const path = `/branches/${encodePath(branch)}`;
  const found = await client.find<{ readonly commit: { readonly id: string } }>({ repository, path });
  if (found?.commit.id !== pull.head.sha) return;
  await client.request({ repository, method: 'DELETE', path, accept: [403, 404, 409] });
}
