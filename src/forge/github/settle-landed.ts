import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { SettleRequest } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';

interface LandedAnswer {
  readonly repository: {
    readonly deleteBranchOnMerge: boolean;
    readonly defaultBranchRef: { readonly name: string } | null;
    readonly pullRequest: {
      readonly state: string;
      readonly headRefOid: Sha;
      readonly isCrossRepository: boolean;
      readonly headRef: { readonly name: string; readonly target: { readonly oid: Sha } | null } | null;
    } | null;
  };
}

/** GitHub finds the head of a pull request in a merge commit, and not what was squashed or rebased. */
export function needsSettling(mergeMethod: QueueSettings['mergeMethod']): boolean {
  return mergeMethod !== 'MERGE_COMMIT';
}

/** A head that moved has commits that did not land, so that pull request stays open. */
export async function settleLanded(client: GithubClient, request: SettleRequest): Promise<void> {
  const { repository, number, headSha } = request;
  const { data } = await client.graphql<LandedAnswer>({
    repository,
    query: `query ReadLanded($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      deleteBranchOnMerge defaultBranchRef { name }
      pullRequest(number: ${number}) { state headRefOid isCrossRepository headRef { name target { oid } } } } }`,
    urgency: 'page',
  });
  const { pullRequest, deleteBranchOnMerge, defaultBranchRef } = data.repository;
  if (pullRequest === null || pullRequest.headRefOid !== headSha) return;
  if (pullRequest.state === 'OPEN') await close(client, repository, number);
  const { headRef, isCrossRepository } = pullRequest;
  if (!deleteBranchOnMerge || isCrossRepository || headRef === null || headRef.name === defaultBranchRef?.name) return;
  if (headRef.target?.oid === headSha) await deleteBranch(client, repository, headRef.name);
}

async function close(client: GithubClient, repository: ForgeRepository, number: PrNumber): Promise<void> {
  await client.request({
    repository,
    route: 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}',
    parameters: { pull_number: number, state: 'closed' },
    urgency: 'page',
  });
}

/** Keeps a branch that is the base or the head of another open pull request. */
async function deleteBranch(client: GithubClient, repository: ForgeRepository, branch: string): Promise<void> {
  const { data } = await client.graphql<{
    readonly repository: Readonly<Record<'based' | 'from', { readonly totalCount: number }>>;
  }>({
    repository,
    query: `query ReadBranchUses($owner: String!, $name: String!, $branch: String!) { repository(owner: $owner, name: $name) {
      based: pullRequests(first: 1, states: OPEN, baseRefName: $branch) { totalCount }
      from: pullRequests(first: 1, states: OPEN, headRefName: $branch) { totalCount } } }`,
    variables: { branch },
    urgency: 'page',
  });
  if (data.repository.based.totalCount + data.repository.from.totalCount > 0) return;
  await client.request({
    repository,
    route: 'DELETE /repos/{owner}/{repo}/git/refs/{ref}',
    parameters: { ref: `heads/${branch}` },
    urgency: 'page',
    // The branch is gone or protected.
    accept: [403, 404, 409, 422],
  });
}
