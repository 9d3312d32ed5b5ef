import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import { instantOf, mayCommand } from '../hosted/forge-text.ts';
import type { ChangedPullRequest, ForgeSnapshot, RepositoryIdentity, SnapshotQuery } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';
import { isOverwhelmed } from './api/unavailable.ts';
import { type BlockedMemory, createBlockedMemory } from './blocked.ts';
import { type CommitAnswer, commitText, readReports } from './checks.ts';
import { type FactsTools, factsOfNodes } from './facts.ts';
import { chunksOf, inHalves } from './in-halves.ts';
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
/** A commit has up to a hundred checks, so it takes the place of this many entries. */
const ENTRIES_FOR_COMMIT = 5;
/** After this many successful polls the batch size grows again, since GitHub may only have been slow for a while. */
const GOOD_POLLS = 30;
/** A further page is read only when all of one page changed: after an outage it may carry a command. */
const CHANGED_AT_ONCE = 25;
const MAX_CHANGED_PAGES = 40;
const COMMENTS_AT_ONCE = 10;
/** GitHub accepts at most this many ids. */
const BODIES_AT_ONCE = 100;
/** A bound for one pull request between two polls. */
const MAX_COMMENTS = 100;

export interface GithubPoller {
  poll(question: SnapshotQuery): Promise<ForgeSnapshot>;
  forget(): void;
}

/** After a timeout, the next poll of that repository asks for half as many entries at once; later for twice. */
export function createGithubPoller(tools: FactsTools): GithubPoller {
  const paces = new Map<string, Pace>();
  const blocked = createBlockedMemory();
  return {
    async poll(question) {
      const { id } = question.repository;
      const pace = paces.get(id) ?? { atOnce: ENTRIES_AT_ONCE, goodPolls: 0 };
      try {
        const found = await readSnapshot({ ...tools, blocked }, question, pace.atOnce);
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
  /** Number of entries in one query. */
  readonly atOnce: number;
  readonly goodPolls: number;
}

// SPEC G134
function slower({ atOnce }: Pace): Pace {
  return { atOnce: Math.max(FEWEST_AT_ONCE, Math.floor(atOnce / 2)), goodPolls: 0 };
}

// SPEC G134
function faster({ atOnce, goodPolls }: Pace): Pace {
  if (goodPolls + 1 < GOOD_POLLS) return { atOnce, goodPolls: goodPolls + 1 };
  return { atOnce: Math.min(ENTRIES_AT_ONCE, atOnce * 2), goodPolls: 0 };
}

type PollTools = FactsTools & { readonly blocked: BlockedMemory };

/** These fields change when the block reasons may have changed. */
const SIGNS = 'updatedAt last: commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }';

// SPEC G15
async function readSnapshot(tools: PollTools, question: SnapshotQuery, entriesAtOnce: number): Promise<ForgeSnapshot> {
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
    // Another repository has the name, so its pull requests are left out.
    if (identity !== undefined && isAnother(repository, identity)) return { identity, ...NOTHING };
  }
  const [first] = answers;
  return {
    ...present({ identity }),
    heads: new Map(branches.map((branch, index) => [branch, first?.[`b${index}`]?.target?.oid])),
    pullRequests: await pullRequestsIn(tools, question, answers),
    checks: await readReports(client, repository, commitsIn(commits, answers)),
    changed: await withCommandsOnly(client, repository, await changedSince(client, repository, since, first?.changed)),
  };
}

const NOTHING = { heads: new Map(), pullRequests: new Map(), checks: new Map(), changed: [] };

async function identityOf(
  client: GithubClient,
  { owner, name }: ForgeRepository,
  answer: Answer | undefined,
): Promise<RepositoryIdentity | undefined> {
  if (answer === undefined) return undefined;
  // GraphQL has no integers beyond 32 bits, so the id comes from REST. The cached id may belong to another repository.
  const id = answer.databaseId ?? (await client.resolve({ owner, name }, { isAsked: true })).id;
  return { owner: answer.owner.login, name: answer.name, forgeId: String(id) };
}

function isAnother({ forgeId }: ForgeRepository, found: RepositoryIdentity): boolean {
  return forgeId !== undefined && forgeId !== found.forgeId;
}

async function ask(client: GithubClient, repository: ForgeRepository, fields: readonly string[]): Promise<Answer> {
  const { data } = await client.graphql<{ readonly repository: Answer }>({
    repository,
    query: `query PollRepository($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      databaseId owner { login } name ${fields.join('\n')} } }`,
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

// SPEC G87
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

// SPEC G157
async function withCommandsOnly(
  client: GithubClient,
  repository: ForgeRepository,
  changed: readonly ChangedPullRequest[],
): Promise<readonly ChangedPullRequest[]> {
  const ids = changed.flatMap(({ comments }) => comments.flatMap(({ nodeId }) => nodeId ?? []));
  if (ids.length < 2) return changed;
  const commands = new Set<string>();
  for (const some of chunksOf(ids, BODIES_AT_ONCE)) {
    for (const id of await inHalves(some, (half) => askCommands(client, repository, half))) commands.add(id);
  }
  return changed.map((pr) => ({ ...pr, comments: pr.comments.filter(({ nodeId = '' }) => commands.has(nodeId)) }));
}

async function askCommands(
  client: GithubClient,
  repository: ForgeRepository,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { data } = await client.graphql<{ readonly nodes: readonly ({ readonly body?: string } | null)[] }>({
    repository,
    query: 'query ReadBodies($ids: [ID!]!) { nodes(ids: $ids) { ... on IssueComment { body } } }',
    variables: { ids },
    urgency: 'read',
  });
  // GraphQL answers in the order of the ids, with null for deleted comments.
  return ids.filter((_, index) => mayCommand(data.nodes[index]?.body ?? ''));
}

/** The server never carries out its own comments. */
function withoutOwn(own: string, pr: ChangedPullRequest): ChangedPullRequest {
  return { ...pr, comments: pr.comments.filter(({ author }) => author !== own) };
}

async function changedOf(
  client: GithubClient,
  repository: ForgeRepository,
  since: Instant,
  node: ChangedNode,
): Promise<ChangedPullRequest> {
  const comments = commentsAfter(node.comments, since);
  const areAllFresh = comments.length > 0 && comments.length === (node.comments.nodes?.length ?? 0);
  return {
    number: node.number,
    headSha: node.headRefOid,
    baseBranch: node.baseRefName,
    updatedAt: instantOf(node.updatedAt) ?? since,
    labels: (node.labels?.nodes ?? []).flatMap((label) => label?.name ?? []),
    comments:
      areAllFresh && node.comments.pageInfo.hasPreviousPage
        ? commentsAfter(await askComments(client, repository, node.number), since)
        : comments,
  };
}

async function askComments(client: GithubClient, repository: ForgeRepository, number: PrNumber): Promise<CommentsNode> {
  const { data } = await client.graphql<{
    readonly repository: { readonly pullRequest: { readonly comments: CommentsNode } | null };
  }>({
    repository,
    query: `query ReadComments($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      pullRequest(number: ${number}) { ${commentsText(MAX_COMMENTS)} } } }`,
    urgency: 'read',
  });
  return data.repository.pullRequest?.comments ?? { pageInfo: { hasPreviousPage: false }, nodes: [] };
}

function commentsAfter({ nodes }: CommentsNode, since: Instant): ChangedPullRequest['comments'] {
  return (nodes ?? []).flatMap((comment) => {
    const createdAt = instantOf(comment?.createdAt);
    if (comment === null || createdAt === undefined || createdAt <= since) return [];
    const { id, fullDatabaseId, author } = comment;
    return [{ id: String(fullDatabaseId), nodeId: id, createdAt, author: loginOf(author) }];
  });
}
