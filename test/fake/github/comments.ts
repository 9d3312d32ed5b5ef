import type { App, Comment, PullRequest, Reaction, Repository, User, World } from './model.ts';
import { notFound, Refused } from './refused.ts';
import { nodeId } from './world.ts';

const COMMENT_IDS = 2_800_000_000;
const MAX_BODY = 65_536;

export interface CommentDraft {
  readonly author: User;
  readonly app?: App | undefined;
  readonly body: string;
}

export function addComment(world: World, pr: PullRequest, { author, app, body }: CommentDraft): Comment {
  checkBody(body);
  const id = COMMENT_IDS + world.nextId();
  const comment: Comment = {
    id,
    nodeId: nodeId('IC', id),
    author,
    app,
    createdAt: world.now(),
    updatedAt: world.now(),
    isEdited: false,
    body,
    reactions: [],
  };
  pr.comments.push(comment);
  pr.updatedAt = world.now();
  const { repository } = pr;
  world.announce({ event: 'issue_comment', action: 'created', repository, sender: author, pr, comment });
  return comment;
}

export function editComment(world: World, { pr, comment }: FoundComment, sender: User, body: string): void {
  checkBody(body);
  const from = comment.body;
  Object.assign(comment, { body, updatedAt: world.now(), isEdited: true });
  const { repository } = pr;
  world.announce({ event: 'issue_comment', action: 'edited', repository, sender, pr, comment, from });
}

export function deleteComment(world: World, { pr, comment }: FoundComment, sender: User): void {
  pr.comments.splice(pr.comments.indexOf(comment), 1);
  const { repository } = pr;
  world.announce({ event: 'issue_comment', action: 'deleted', repository, sender, pr, comment });
}

export interface FoundComment {
  readonly pr: PullRequest;
  readonly comment: Comment;
}

export function getComment({ pulls }: Repository, id: number): FoundComment {
  for (const pr of pulls.values()) for (const comment of pr.comments) if (comment.id === id) return { pr, comment };
  throw notFound();
}

/** Repeating a reaction does not add a second one. */
export function react(world: World, comment: Comment, user: User, content: Reaction['content']) {
  const found = comment.reactions.find((reaction) => reaction.user === user && reaction.content === content);
  if (found !== undefined) return { reaction: found, isNew: false };
  const id = world.nextId();
  const reaction: Reaction = { id, user, content };
  comment.reactions.push(reaction);
  return { reaction, isNew: true };
}

function checkBody(body: string): void {
  if (body.trim() === '') throw new Refused(422, 'Validation Failed', ["body can't be blank"]);
  if (body.length > MAX_BODY)
    throw new Refused(422, 'Validation Failed', [`body is too long (maximum is ${MAX_BODY} characters)`]);
}
