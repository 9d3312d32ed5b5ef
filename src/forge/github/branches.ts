import type { PrNumber } from '../../engine/pull-request.ts';
import { branchRef, isBranchName } from '../../git/ref-name.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { getCommit } from '../candidate/apply-entry.ts';
import { checkShas, listLine as listLineOf } from '../candidate/commits.ts';
import type { AncestryQuestion, ForgeRepository, LineAnswer, LineQuestion } from '../forge.ts';
import type { GithubClient } from './api/client.ts';
import { fetchMissing, type GitAccess } from './git-access.ts';

/** Read with git, which does not count against the API's rate limit. */
// SPEC G4
export async function findBranchHead(
  access: GitAccess,
  repository: ForgeRepository,
  branch: string,
): Promise<Sha | undefined> {
  if (!isBranchName(branch)) return undefined;
  const [found] = await access.ask(repository, (git) => git.listRemoteRefs([branchRef(branch)]));
  return found?.sha;
}

export async function isAncestor(access: GitAccess, question: AncestryQuestion): Promise<boolean> {
  const { repository, ancestor, descendant } = question;
  checkShas([ancestor, descendant]);
  return access.ask(repository, async (git) => {
    const lost = await fetchMissing(git, [ancestor, descendant]);
    await getCommit(git, descendant);
    return !lost.includes(ancestor) && git.isAncestor({ ancestor, descendant });
  });
}

export async function hasCommit(access: GitAccess, repository: ForgeRepository, sha: Sha): Promise<boolean> {
  checkShas([sha]);
  return access.ask(repository, async (git) => (await fetchMissing(git, [sha])).length === 0);
}

export async function listLine(access: GitAccess, question: LineQuestion): Promise<LineAnswer> {
  const { repository, head, since } = question;
  checkShas([head, since]);
  return access.ask(repository, async (git) => {
    const lost = await fetchMissing(git, [head, since]);
    return lost.length > 0 ? { kind: 'lost' } : listLineOf(git, question);
  });
}

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
