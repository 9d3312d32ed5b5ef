import { authorize } from '../auth.ts';
import { addComment, editComment, type FoundComment, getComment, react } from '../comments.ts';
import type { Ask, Route } from '../exchange.ts';
import { addLabel, removeLabel } from '../labels.ts';
import { mergePullRequest } from '../merge.ts';
import { askMergeability } from '../mergeability.ts';
import type { Comment, MergeMethod, PullRequest, Reaction } from '../model.ts';
import { closePullRequest } from '../pull-request-state.ts';
import { changeBase, openPullRequest } from '../pulls.ts';
import { Refused } from '../refused.ts';
import {
  commentView,
  fullPullRequestView,
  labelView,
  pullRequestView,
  reactionView,
} from '../views/pull-request-view.ts';
import { appOf, hasRole } from '../world.ts';
import { actorOf, type Call, created, inRepository, need, numberIn, ok, requiredText, textOf } from './call.ts';

const READ = need('pull_requests', 'read');
const WRITE = need('pull_requests', 'write');
/** On pull requests either permission is enough. */
const permission = ['issues', 'pull_requests'];
const LISTEN = { permission, access: 'read', role: 'read' } as const;
const COMMENT = { permission, access: 'write', role: 'read' } as const;
const LABEL = { permission, access: 'write', role: 'triage' } as const;

export const pullRoutes: readonly Route[] = [
  inRepository('GET /pulls', READ, listPulls),
  inRepository('POST /pulls', { ...WRITE, role: 'read' }, createPull),
  inRepository('GET /pulls/{pull_number}', READ, async (call) => ok(await fullView(call, call.pr))),
  inRepository('PATCH /pulls/{pull_number}', WRITE, patchPull),
  inRepository('PUT /pulls/{pull_number}/merge', need('contents', 'write'), mergePull),
  inRepository('GET /issues/{issue_number}/comments', LISTEN, listComments),
  inRepository('POST /issues/{issue_number}/comments', COMMENT, createComment),
  inRepository('PATCH /issues/comments/{comment_id}', COMMENT, updateComment),
  inRepository('POST /issues/comments/{comment_id}/reactions', COMMENT, createReaction),
  inRepository('POST /issues/{issue_number}/labels', LABEL, addLabels),
  inRepository('DELETE /issues/{issue_number}/labels/{name}', LABEL, dropLabel),
];

function listPulls(call: Call) {
  const { query } = call.ask;
  const state = query.get('state') ?? 'open';
  // GitHub ignores a `head` filter without an owner.
  const [, owner, branch] = /^([^:]+):(.+)$/.exec(query.get('head') ?? '') ?? [];
  const found = [...call.repository.pulls.values()]
    .filter((pr) => state === 'all' || pr.state === state)
    .filter((pr) => owner === undefined || (pr.headOwner.login === owner && pr.headRef === branch))
    .toSorted((a, b) => b.createdAt - a.createdAt || b.number - a.number);
  return call.list(found, pullRequestView);
}

async function createPull(call: Call) {
  const body = call.body();
  const pr = await openPullRequest(call.world, call.repository, call.actor, {
    title: requiredText(body, 'title'),
    body: textOf(body, 'body'),
    headRepository: call.repository,
    headRef: requiredText(body, 'head'),
    baseRef: requiredText(body, 'base'),
    isDraft: body['draft'] === true,
  });
  return created(await fullView(call, pr));
}

async function fullView({ world, ask }: Call, pr: PullRequest) {
  return fullPullRequestView(pr, await askMergeability(world, pr), ask.caller);
}

/** Sluice closes pull requests and changes their base, and edits nothing else. */
async function patchPull(call: Call) {
  const { pr, world, actor } = call;
  const body = call.body();
  const { state, base, ...others } = body;
  if (![undefined, 'closed'].includes(state as string | undefined) || Object.keys(others).length > 0)
    throw new Refused(501, 'The fake GitHub only closes them, or changes their base');
  if (base !== undefined) await changeBase(world, pr, actor, requiredText(body, 'base'));
  if (state === 'closed') closePullRequest(world, pr, actor);
  return ok(await fullView(call, pr));
}

async function mergePull(call: Call) {
  const { caller } = call.ask;
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  const body = call.body();
  const sha = await mergePullRequest(call.world, call.pr, caller, {
    method: (textOf(body, 'merge_method') ?? 'merge') as MergeMethod,
    sha: textOf(body, 'sha'),
    title: textOf(body, 'commit_title'),
    message: textOf(body, 'commit_message'),
  });
  return ok({ sha, merged: true, message: 'Pull Request successfully merged' });
}

function listComments(call: Call) {
  return call.list(call.pr.comments, commentView);
}

function createComment(call: Call) {
  return created(commentView(writeBelow(call.ask, call.pr, requiredText(call.body(), 'body'))));
}

type Actor = Pick<Ask, 'world' | 'caller'>;

/** Shared by REST and GraphQL. */
export function writeBelow(actor: Actor, pr: PullRequest, body: string): Comment {
  const { world, caller } = actor;
  authorize(caller, pr.repository, COMMENT);
  return addComment(world, pr, { author: actorOf(actor), app: appOf(caller), body });
}

function commentOf(call: Call): FoundComment {
  return getComment(call.repository, numberIn(call.text('comment_id')));
}

/** Callers may change their own comments, and with write access those of others. */
export function rewrite(by: Actor, found: FoundComment, body: string): void {
  const { pr, comment } = found;
  authorize(by.caller, pr.repository, COMMENT);
  const actor = actorOf(by);
  const mayAny = by.caller.kind === 'user' && hasRole(pr.repository, actor, 'write');
  if (comment.author !== actor && !mayAny) throw new Refused(403, 'Must have admin rights to Repository.');
  editComment(by.world, found, actor, body);
}

function updateComment(call: Call) {
  const found = commentOf(call);
  rewrite(call.ask, found, requiredText(call.body(), 'body'));
  return ok(commentView(found.comment));
}

function createReaction(call: Call) {
  const content = requiredText(call.body(), 'content') as Reaction['content'];
  const { reaction, isNew } = react(call.world, commentOf(call).comment, call.actor, content);
  const view = reactionView(reaction);
  return isNew ? created(view) : ok(view);
}

function labelsOf({ labels }: PullRequest) {
  return ok(labels.map(labelView));
}

function addLabels(call: Call) {
  const { pr, world, actor } = call;
  for (const name of call.body()['labels'] as readonly string[]) addLabel(world, pr, actor, name);
  return labelsOf(pr);
}

function dropLabel(call: Call) {
  removeLabel(call.world, call.pr, call.actor, call.text('name'));
  return labelsOf(call.pr);
}
