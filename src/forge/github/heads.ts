import type { PrNumber } from '../../engine/model/pull-request.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient } from './api/client.ts';

const HEADS = `
  query heads($owner: String!, $name: String!, $after: String) {
    repository(owner: $owner, name: $name) {
      pullRequests(states: OPEN, first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { number headRefOid }
      }
    }
  }`;

interface HeadsData {
  readonly repository: {
    readonly pullRequests: {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly ({ readonly number: PrNumber; readonly headRefOid: Sha } | null)[];
    };
  };
}

/** A bound against endless paging. No repository has as many open pull requests. */
const MAX_PAGES = 200;

export async function listPullRequestHeads(
  client: GithubClient,
  repository: ForgeRepository,
): Promise<ReadonlyMap<PrNumber, Sha>> {
  const { owner, name } = repository;
  const heads = new Map<PrNumber, Sha>();
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const variables: Readonly<Record<string, unknown>> = { owner, name, after };
    const { data } = await client.graphql<HeadsData>({ repository, query: HEADS, variables, urgency: 'read' });
    const { nodes, pageInfo } = data.repository.pullRequests;
    for (const node of nodes) if (node !== null) heads.set(node.number, node.headRefOid);
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage || after === null) return heads;
  }
  throw new Fault('FORGE_UNAVAILABLE', `${owner}/${name} has more open pull requests than can be listed.`);
}
