import { assert } from '../../lib/assert.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type { CommentDraft, CommentFacts, CommentQuestion, Hosting, OwnCommentQuestion, Written } from '../hosting.ts';
import { type FactsTools, factsOfDetails } from './facts.ts';
import { ACTOR, type Actor, isAccount, personOf, RETARGETS, type Retargeted, retargetOf } from './people.ts';
import { COLLABORATOR, type Collaborators, findPermission, permissionIn } from './permissions.ts';
import { type Changed, detailsText, type PullRequestDetails } from './pull-request-text.ts';

interface CommentNode {
  readonly body: string;
  readonly createdAt: string;
  readonly includesCreatedEdit: boolean;
  readonly lastEditedAt: string | null;
  readonly author: Actor | null;
  readonly pullRequest: { readonly id: string } | null;
}

interface CommentAnswer {
  readonly node: CommentNode | { readonly body?: undefined } | null;
  readonly repository: {
    readonly pullRequest: (PullRequestDetails & Retargeted & Changed) | null;
    readonly collaborators?: Collaborators | null;
  };
}

/** Commands are frequent, so one query reads the comment, its author's permission and the pull request. */
// SPEC G19
export async function readComment(tools: FactsTools, question: CommentQuestion): Promise<CommentFacts | undefined> {
  const { client } = tools;
  const { repository, number, nodeId, author: hint = '' } = question;
  assert(nodeId !== undefined, 'comments of GitHub have a node id');
  const { data } = await client.graphql<CommentAnswer>({
    repository,
    query: `query ReadComment($owner: String!, $name: String!, $id: ID!, $login: String!, $isKnown: Boolean!) {
      node(id: $id) { ... on IssueComment { body createdAt includesCreatedEdit lastEditedAt author ${ACTOR}
        pullRequest { id } } }
      repository(owner: $owner, name: $name) { pullRequest(number: ${number}) { ${detailsText(number)} updatedAt ${RETARGETS} }
        ... @include(if: $isKnown) { ${COLLABORATOR} } } }`,
    variables: { id: nodeId, login: hint, isKnown: hint !== '' && !hint.endsWith('[bot]') },
    urgency: 'read',
    mayBeForbidden: ['collaborators'],
  });
  const { node } = data;
  const { pullRequest, collaborators } = data.repository;
  if (node?.body === undefined || pullRequest === null || node.pullRequest?.id !== pullRequest.id) return undefined;
  const own = await client.installation(repository);
  const author = personOf(node.author, own);
  return {
    body: node.body,
    author,
    permission: isAccount(node.author)
      ? (permissionIn(collaborators, author.login) ?? (await findPermission(client, repository, author.login)))
      : 'none',
    createdAt: instantOf(node.createdAt) ?? 0,
    isEdited: node.includesCreatedEdit || node.lastEditedAt !== null,
    pr: await factsOfDetails(tools, repository, pullRequest),
    changedAt: instantOf(pullRequest.updatedAt),
    ...retargetOf(pullRequest, own),
  };
}

export async function writeComment(
  { client }: FactsTools,
  { repository, number, id, text }: CommentDraft,
): Promise<Written | undefined> {
  const { status, data } = await client.request<CommentData>({
    repository,
    ...(id === undefined
      ? {
          route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
          parameters: { issue_number: number, body: text },
        }
      : {
          route: 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
          parameters: { comment_id: id, body: text },
        }),
    urgency: 'page',
    accept: [404, 410],
    // A locked conversation takes no comments. Any other 403 is a missing permission and throws.
    acceptMessage: /locked/i,
  });
  return status < 300 ? writtenOf(data) : undefined;
}

interface CommentData {
  readonly id: number;
  readonly node_id: string;
}

interface ListedComment extends CommentData {
  readonly body?: string;
  readonly user: { readonly login: string } | null;
}

/** GitHub lists comments oldest first only. On a pull request with more pages, the own comment is not found. */
const MAX_PAGES = 30;

// SPEC G105
export async function findOwnComment(
  { client }: FactsTools,
  { repository, number, marker }: OwnCommentQuestion,
): Promise<Written | undefined> {
  const { login, isApp } = await client.installation(repository);
  const ownLogin = isApp ? `${login}[bot]` : login;
  let found: Written | undefined;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { status, data } = await client.request<readonly ListedComment[]>({
      repository,
      route: 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
      parameters: { issue_number: number, per_page: 100, page },
      urgency: 'page',
      accept: [404, 410],
    });
    if (status >= 300) return undefined;
    const own = data.findLast(({ user, body }) => user?.login === ownLogin && body?.includes(marker) === true);
    if (own !== undefined) found = writtenOf(own);
    if (data.length < 100) break;
  }
  return found;
}

function writtenOf({ id, node_id }: CommentData): Written {
  return { id: String(id), nodeId: node_id };
}

export async function react(
  { client }: FactsTools,
  { repository, id }: CommentQuestion,
  reaction: Parameters<Hosting['react']>[1],
): Promise<void> {
  await client.request({
    repository,
    route: 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
    parameters: { comment_id: id, content: reaction },
    urgency: 'page',
    accept: [404, 410],
    acceptMessage: /locked/i,
  });
}
