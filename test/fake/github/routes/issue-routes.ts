import { authorize } from '../auth.ts';
import { addComment, deleteComment, editComment, type FoundComment, getComment, react } from '../comments.ts';
import type { Ask, Route } from '../exchange.ts';
import type { Comment, PullRequest, Reaction, Repository } from '../model.ts';
import { getPullRequest } from '../pulls.ts';
import { invalid, notFound, Refused } from '../refused.ts';
import { commentView, reactionView } from '../views/comment-view.ts';
import { issueView } from '../views/issue-view.ts';
import { appOf, hasRole } from '../world.ts';
import {
  actorOf,
  bodyOf,
  choiceOf,
  created,
  listed,
  nothing,
  numberOf,
  ok,
  type Params,
  repositoryOf,
  requiredText,
} from './tools.ts';

/** On pull requests either permission is enough. */
const permission = ['issues', 'pull_requests'];
const READ = { permission, access: 'read', role: 'read' } as const;
const TALK = { permission, access: 'write', role: 'read' } as const;
const ISSUES = '/repos/{owner}/{repo}/issues';

export const issueRoutes: readonly Route[] = [
  { method: 'GET', path: `${ISSUES}/{issue_number}/comments`, handle: listComments },
  { method: 'POST', path: `${ISSUES}/{issue_number}/comments`, handle: createComment },
  { method: 'GET', path: `${ISSUES}/comments/{comment_id}`, handle: getOne },
  { method: 'PATCH', path: `${ISSUES}/comments/{comment_id}`, handle: updateComment },
  { method: 'DELETE', path: `${ISSUES}/comments/{comment_id}`, handle: removeComment },
  { method: 'GET', path: `${ISSUES}/comments`, handle: listAllComments },
  { method: 'GET', path: `${ISSUES}/{issue_number}`, handle: getIssue },
  { method: 'POST', path: `${ISSUES}/comments/{comment_id}/reactions`, handle: createReaction },
  { method: 'GET', path: `${ISSUES}/comments/{comment_id}/reactions`, handle: listReactions },
  { method: 'DELETE', path: `${ISSUES}/comments/{comment_id}/reactions/{reaction_id}`, handle: dropReaction },
];

function pullOf(repository: Repository, params: Params): PullRequest {
  return getPullRequest(repository, numberOf(params, 'issue_number'));
}

/** In the fake every issue is a pull request. */
function getIssue(ask: Ask, params: Params) {
  return ok(issueView(ask.world, pullOf(repositoryOf(ask, params, READ), params)));
}

function isSince({ query }: Ask, updatedAt: number): boolean {
  const since = query.get('since');
  return since === null || updatedAt >= Date.parse(since);
}

function listComments(ask: Ask, params: Params) {
  const pr = pullOf(repositoryOf(ask, params, READ), params);
  const found = pr.comments.filter(({ updatedAt }) => isSince(ask, updatedAt));
  return listed(ask, found, (comment) => commentView(ask.world, pr, comment));
}

function listAllComments(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const key = ask.query.get('sort') === 'updated' ? 'updatedAt' : 'createdAt';
  const sign = ask.query.get('direction') === 'desc' ? -1 : 1;
  const found = [...repository.pulls.values()]
    .flatMap((pr) => pr.comments.map((comment) => ({ pr, comment })))
    .filter(({ comment }) => isSince(ask, comment.updatedAt))
    .toSorted((a, b) => sign * (a.comment[key] - b.comment[key] || a.comment.id - b.comment.id));
  return listed(ask, found, ({ pr, comment }) => commentView(ask.world, pr, comment));
}

function createComment(ask: Ask, params: Params) {
  const pr = pullOf(repositoryOf(ask, params, TALK), params);
  return created(commentView(ask.world, pr, writeBelow(ask, pr, requiredText(bodyOf(ask), 'body'))));
}

type Actor = Pick<Ask, 'world' | 'caller'>;

/** Shared by REST and GraphQL. */
export function writeBelow(actor: Actor, pr: PullRequest, body: string): Comment {
  const { world, caller } = actor;
  authorize(caller, pr.repository, TALK);
  const author = actorOf(actor);
  if (pr.isLocked && caller.kind === 'user' && !hasRole(pr.repository, author, 'write'))
    throw new Refused(403, 'Unable to create comment because issue is locked.');
  return addComment(world, pr, { author, app: appOf(caller), body });
}

function commentOf(ask: Ask, params: Params, wanted: Parameters<typeof repositoryOf>[2]): FoundComment {
  return getComment(repositoryOf(ask, params, wanted), numberOf(params, 'comment_id'));
}

function getOne(ask: Ask, params: Params) {
  const { pr, comment } = commentOf(ask, params, READ);
  return ok(commentView(ask.world, pr, comment));
}

/** Callers may change their own comments, and with write access those of others. */
function ownComment(ask: Ask, params: Params): FoundComment {
  const found = commentOf(ask, params, TALK);
  mayChange(ask, found);
  return found;
}

function mayChange(by: Actor, { pr, comment }: FoundComment): void {
  const actor = actorOf(by);
  const mayAny = by.caller.kind === 'user' && hasRole(pr.repository, actor, 'write');
  if (comment.author !== actor && !mayAny) throw new Refused(403, 'Must have admin rights to Repository.');
}

export function rewrite(by: Actor, found: FoundComment, body: string): void {
  authorize(by.caller, found.pr.repository, TALK);
  mayChange(by, found);
  editComment(by.world, found, actorOf(by), body);
}

function updateComment(ask: Ask, params: Params) {
  const found = commentOf(ask, params, TALK);
  rewrite(ask, found, requiredText(bodyOf(ask), 'body'));
  return ok(commentView(ask.world, found.pr, found.comment));
}

function removeComment(ask: Ask, params: Params) {
  deleteComment(ask.world, ownComment(ask, params), actorOf(ask));
  return nothing();
}

const REACTIONS: readonly Reaction['content'][] = [
  '+1',
  '-1',
  'laugh',
  'confused',
  'heart',
  'hooray',
  'rocket',
  'eyes',
];

function createReaction(ask: Ask, params: Params) {
  const { comment } = commentOf(ask, params, TALK);
  const content = choiceOf(bodyOf(ask), 'content', REACTIONS);
  if (content === undefined) throw invalid({ resource: 'Reaction', field: 'content', code: 'missing_field' });
  const { reaction, isNew } = react(ask.world, comment, actorOf(ask), content);
  const view = reactionView(ask.world, reaction);
  return isNew ? created(view) : ok(view);
}

function listReactions(ask: Ask, params: Params) {
  const { comment } = commentOf(ask, params, READ);
  return listed(ask, comment.reactions, (reaction) => reactionView(ask.world, reaction));
}

function dropReaction(ask: Ask, params: Params) {
  const { comment } = commentOf(ask, params, TALK);
  const at = comment.reactions.findIndex(({ id }) => id === numberOf(params, 'reaction_id'));
  if (at < 0) throw notFound();
  if (comment.reactions[at]?.user !== actorOf(ask)) throw new Refused(403, 'Must have admin rights to Repository.');
  comment.reactions.splice(at, 1);
  return nothing();
}
