import type { PrNumber, PullRequestFacts } from '../../engine/pull-request.ts';
import { chunksOf } from '../../lib/chunks-of.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { ChangedPullRequest, ForgeSnapshot, RepositoryIdentity, SnapshotQuery } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';
import { isOverwhelmed } from './api/unavailable.ts';
import { type BlockedMemory, createBlockedMemory } from './blocked.ts';
import { type CommitAnswer, commitText, instantOf, readReports } from './checks.ts';
import { type FactsTools, factsOfNodes } from './facts.ts';
import { inHalves } from './in-halves.ts';
import { mayCommand } from './may-command.ts';
import { ACTOR, type Actor, loginOf } from './people.ts';
import { FACTS, isAskable, type PullRequestNode } from './pull-request-text.ts';

interface ChangedNode {
  readonly number: PrNumber;
  readonly headRefOid: Sha;
  readonly baseRefName: string;
  readonly updatedAt: string;
  readonly labels: { readonly nodes: readonly ({ readonly name: string } | null)[] | null } | null;
  readonly comments: CommentsNode;
}

interface CommentsNode {
  readonly pageInfo: { readonly hasPreviousPage: boolean };
  readonly nodes: readonly (CommentNode | null)[] | null;
}

interface CommentNode {
  readonly id: string;
  readonly fullDatabaseId: string | number | null;
  readonly createdAt: string;
  readonly author: Actor | null;
}

interface ChangedPage {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly (ChangedNode | null)[] | null;
}

type Answer = {
  readonly databaseId: number | null;
  readonly owner: { readonly login: string };
  readonly name: string;
  readonly changed?: ChangedPage;
} & Readonly<Record<`b${number}`, { readonly target: { readonly oid: Sha } | null } | null>> &
  Readonly<Record<`p${number}`, PullRequestNode | null>> &
  Readonly<Record<`c${number}`, CommitAnswer>>;

const ENTRIES_AT_ONCE = 100;
const FEWEST_AT_ONCE = 10;
/** For so many entries, one commit: each has up to a hundred checks. */
const ENTRIES_FOR_COMMIT = 5;
/** What was too much while GitHub was in trouble need not be too much for ever. */
const GOOD_LOOKS = 30;
/**
 * Few change within a minute: further pages are asked for only where all of one did. After an outage of hours that may be
 * hundreds, and among them is somebody's command.
 */
const CHANGED_AT_ONCE = 25;
const MAX_CHANGED_PAGES = 40;
const COMMENTS_AT_ONCE = 10;
/** GitHub takes no more ids. */
const BODIES_AT_ONCE = 100;
/** So many comments on one pull request between two looks are no conversation. */
const MAX_COMMENTS = 100;

export interface Looker {
  lookAround(question: SnapshotQuery): Promise<ForgeSnapshot>;
  forget(): void;
}

/**
 * GitHub gives up on a query after ten seconds, and works out for each entry whether it can be merged. Where it gave up,
 * the next look at that repository asks about half as many at once; after many that went well, about twice as many.
 */
export function createLooker(tools: FactsTools): Looker {
  const paces = new Map<string, Pace>();
  const blocked = createBlockedMemory();
  return {
    async lookAround(question) {
      const { id } = question.repository;
      const pace = paces.get(id) ?? { atOnce: ENTRIES_AT_ONCE, goodLooks: 0 };
      try {
        const found = await look({ ...tools, blocked }, question, pace.atOnce);
        paces.set(id, faster(pace));
        return found;
      } catch (error) {
        if (isOverwhelmed(error)) paces.set(id, slower(pace));
        throw error;
      }
    },
    forget() {
      paces.clear();
      blocked.forget();
    },
  };
}

interface Pace {
  /** How many entries. */
  readonly atOnce: number;
  readonly goodLooks: number;
}

function slower({ atOnce }: Pace): Pace {
  return { atOnce: Math.max(FEWEST_AT_ONCE, Math.floor(atOnce / 2)), goodLooks: 0 };
}

function faster({ atOnce, goodLooks }: Pace): Pace {
  if (goodLooks + 1 < GOOD_LOOKS) return { atOnce, goodLooks: goodLooks + 1 };
  return { atOnce: Math.min(ENTRIES_AT_ONCE, atOnce * 2), goodLooks: 0 };
}

type PollTools = FactsTools & { readonly blocked: BlockedMemory };

/** What changes when the reasons for which one is blocked may have. */
const SIGNS = 'updatedAt last: commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }';

/** One query, and more only where something is too large for one. */
async function look(tools: PollTools, question: SnapshotQuery, entriesAtOnce: number): Promise<ForgeSnapshot> {
  const { client } = tools;
  const { repository, branches, since } = question;
  const entries = chunksOf([...new Set(question.entries)].filter(isAskable), entriesAtOnce);
  const commitsAtOnce = Math.ceil(entriesAtOnce / ENTRIES_FOR_COMMIT);
  const commits = chunksOf([...new Set(question.commits)], commitsAtOnce);
  const answers: Answer[] = [];
  let identity: RepositoryIdentity | undefined;
  for (let part = 0; part < Math.max(1, entries.length, commits.length); part += 1) {
    const isFirst = part === 0;
    answers.push(
      await ask(client, repository, [
        ...(isFirst ? branches.map((branch, index) => `b${index}: ${branchText(branch)}`) : []),
        ...(isFirst ? [`changed: ${changedText()}`] : []),
        ...(entries[part] ?? []).map((number) => `p${number}: pullRequest(number: ${number}) { ${FACTS} ${SIGNS} }`),
        ...(commits[part] ?? []).map((sha, index) => `c${index}: ${commitText(sha)}`),
      ]),
    );
    identity ??= await identityOf(client, repository, answers[0]);
    // What it says of its pull requests is about others than ours.
    if (identity !== undefined && isAnother(repository, identity)) return { identity, ...NOTHING };
  }
  const [first] = answers;
  return {
    ...(identity !== undefined && { identity }),
    heads: new Map(branches.map((branch, index) => [branch, first?.[`b${index}`]?.target?.oid])),
    pullRequests: await pullRequestsIn(tools, question, answers),
    checks: await readReports(client, repository, commitsIn(commits, answers)),
    changed: await withoutTalk(client, repository, await changedSince(client, repository, since, first?.changed)),
  };
}

const NOTHING = { heads: new Map(), pullRequests: new Map(), checks: new Map(), changed: [] };

async function identityOf(
  client: GithubClient,
  { owner, name }: ForgeRepository,
  answer: Answer | undefined,
): Promise<RepositoryIdentity | undefined> {
  if (answer === undefined) return undefined;
  // Beyond 32 bits GraphQL has no number to say. What was learned minutes ago may be of another by now.
  const id = answer.databaseId ?? (await client.resolve({ owner, name }, { isAsked: true })).id;
  return { owner: answer.owner.login, name: answer.name, forgeId: String(id) };
}

function isAnother({ forgeId }: ForgeRepository, found: RepositoryIdentity): boolean {
  return forgeId !== undefined && forgeId !== found.forgeId;
}

async function ask(client: GithubClient, { owner, name }: ForgeRepository, fields: readonly string[]): Promise<Answer> {
  const { data } = await client.graphql<{ readonly repository: Answer }>({
    repository: { owner, name },
    query: `query LookAround($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      databaseId owner { login } name ${fields.join('\n')} } }`,
    variables: { owner, name },
    urgency: 'read',
  });
  return data.repository;
}

function branchText(branch: string): string {
  return `ref(qualifiedName: ${JSON.stringify(`refs/heads/${branch}`)}) { target { oid } }`;
}

function changedText(after?: string): string {
  const from = after === undefined ? '' : `, after: ${JSON.stringify(after)}`;
  return `pullRequests(states: OPEN, first: ${CHANGED_AT_ONCE}${from}, orderBy: { field: UPDATED_AT, direction: DESC }) {
    pageInfo { hasNextPage endCursor } nodes { number headRefOid baseRefName updatedAt
      labels(first: 100) { nodes { name } } ${commentsText(COMMENTS_AT_ONCE)} } }`;
}

function commentsText(count: number): string {
  return `comments(last: ${count}) { pageInfo { hasPreviousPage }
    nodes { id fullDatabaseId createdAt author ${ACTOR} } }`;
}

async function pullRequestsIn(
  tools: PollTools,
  { repository, entries: numbers }: SnapshotQuery,
  answers: readonly Answer[],
): Promise<ReadonlyMap<PrNumber, PullRequestFacts | undefined>> {
  const nodes = answers.flatMap((answer) => numbers.flatMap((number) => answer[`p${number}`] ?? []));
  const facts = await factsOfNodes(tools, repository, nodes);
  return new Map(numbers.map((number) => [number, facts.get(number)]));
}

function commitsIn(commits: readonly (readonly Sha[])[], answers: readonly Answer[]): ReadonlyMap<Sha, CommitAnswer> {
  return new Map(
    commits.flatMap((shas, part) => shas.map((sha, index) => [sha, answers[part]?.[`c${index}`] ?? null] as const)),
  );
}

async function changedSince(
  client: GithubClient,
  repository: ForgeRepository,
  since: Instant,
  first: ChangedPage | undefined,
): Promise<readonly ChangedPullRequest[]> {
  const { login, isApp } = await client.installation(repository);
  const own = isApp ? `${login}[bot]` : login;
  const changed: ChangedPullRequest[] = [];
  let page = first;
  for (let pages = 0; page !== undefined && pages < MAX_CHANGED_PAGES; pages += 1) {
    const nodes: readonly ChangedNode[] = (page.nodes ?? []).filter((node) => node !== null);
    const fresh = nodes.filter(({ updatedAt }) => (instantOf(updatedAt) ?? 0) > since);
    for (const node of fresh) changed.push(withoutOwn(own, await changedOf(client, repository, since, node)));
    const { hasNextPage, endCursor } = page.pageInfo;
    if (!hasNextPage || endCursor === null || fresh.length < nodes.length) break;
    page = (await ask(client, repository, [`changed: ${changedText(endCursor)}`])).changed;
  }
  return changed;
}

/**
 * Nearly all comments are no commands. Who obeys reads each of them again, with everything about it: where there are
 * several, one question finds out which of them are worth that.
 */
async function withoutTalk(
  client: GithubClient,
  repository: ForgeRepository,
  changed: readonly ChangedPullRequest[],
): Promise<readonly ChangedPullRequest[]> {
  const ids = changed.flatMap(({ comments }) => comments.map(({ nodeId }) => nodeId));
  if (ids.length < 2) return changed;
  const commands = new Set<string>();
  for (const some of chunksOf(ids, BODIES_AT_ONCE)) {
    for (const id of await inHalves(some, (half) => askCommands(client, repository, half))) commands.add(id);
  }
  return changed.map((pr) => ({ ...pr, comments: pr.comments.filter(({ nodeId }) => commands.has(nodeId)) }));
}

async function askCommands(
  client: GithubClient,
  { owner, name }: ForgeRepository,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { data } = await client.graphql<{ readonly nodes: readonly ({ readonly body?: string } | null)[] }>({
    repository: { owner, name },
    query: 'query ReadBodies($ids: [ID!]!) { nodes(ids: $ids) { ... on IssueComment { body } } }',
    variables: { ids },
    urgency: 'read',
  });
  // In the order of the ids; null where one is gone.
  return ids.filter((_, index) => mayCommand(data.nodes[index]?.body ?? ''));
}

/** What we said ourselves is never obeyed: there is no need to read it again. */
function withoutOwn(own: string, pr: ChangedPullRequest): ChangedPullRequest {
  return { ...pr, comments: pr.comments.filter(({ author }) => author !== own) };
}

async function changedOf(
  client: GithubClient,
  repository: ForgeRepository,
  since: Instant,
  node: ChangedNode,
): Promise<ChangedPullRequest> {
  const comments = freshIn(node.comments, since);
  const areAllFresh = comments.length > 0 && comments.length === (node.comments.nodes?.length ?? 0);
  return {
    number: node.number,
    headSha: node.headRefOid,
    baseBranch: node.baseRefName,
    updatedAt: instantOf(node.updatedAt) ?? since,
    labels: (node.labels?.nodes ?? []).flatMap((label) => label?.name ?? []),
    comments:
      areAllFresh && node.comments.pageInfo.hasPreviousPage
        ? freshIn(await askComments(client, repository, node.number), since)
        : comments,
  };
}

async function askComments(
  client: GithubClient,
  { owner, name }: ForgeRepository,
  number: PrNumber,
): Promise<CommentsNode> {
  const { data } = await client.graphql<{
    readonly repository: { readonly pullRequest: { readonly comments: CommentsNode } | null };
  }>({
    repository: { owner, name },
    query: `query ReadComments($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      pullRequest(number: ${number}) { ${commentsText(MAX_COMMENTS)} } } }`,
    variables: { owner, name },
    urgency: 'read',
  });
  return data.repository.pullRequest?.comments ?? { pageInfo: { hasPreviousPage: false }, nodes: [] };
}

function freshIn({ nodes }: CommentsNode, since: Instant): ChangedPullRequest['comments'] {
  return (nodes ?? []).flatMap((comment) => {
    const createdAt = instantOf(comment?.createdAt);
    if (comment === null || createdAt === undefined || createdAt <= since) return [];
    const { id, fullDatabaseId, author } = comment;
    return [{ id: String(fullDatabaseId), nodeId: id, createdAt, author: loginOf(author) }];
  });
}
