import type { ForgeRepository } from '../forge.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type {
  CommentDraft,
  CommentFacts,
  CommentQuestion,
  Hosting,
  OwnCommentQuestion,
  Permission,
  Written,
} from '../hosting.ts';
import type { CommentData } from './api/data.ts';
import { type FactsTools, factsOfPull, findPull } from './facts.ts';
import { findPermission, isAccount, personOf, readTimeline, retargetIn } from './people.ts';

export async function readComment(tools: FactsTools, question: CommentQuestion): Promise<CommentFacts | undefined> {
  const { client } = tools;
  const { repository, number, id } = question;
  const path = `/issues/comments/${encodeURIComponent(id)}`;
  const { status, data: comment } = await client.request<CommentData>({ repository, path, accept: [404] });
  if (status === 404 || numberOf(comment) !== number) return undefined;
  const createdAt = instantOf(comment.created_at) ?? 0;
  const [own, pull, events, permission] = await Promise.all([
    client.readOwn(),
    findPull(client, repository, number),
    readTimeline(client, repository, number, createdAt),
    permissionOf(tools, repository, comment),
  ]);
  if (pull === undefined) return undefined;
  return {
    body: comment.body,
    author: personOf(comment.user, own),
    permission,
    createdAt,
    isEdited: comment.updated_at !== comment.created_at,
    pr: await factsOfPull(tools, repository, pull),
    changedAt: instantOf(pull.updated_at),
    ...retargetIn(events, own),
  };
}

async function permissionOf(
  { client }: FactsTools,
  repository: ForgeRepository,
  { user }: CommentData,
): Promise<Permission> {
  return isAccount(user) ? findPermission(client, repository, user.login) : 'none';
}

/** The pull request that a comment belongs to. Undefined for a comment of an issue. */
export function numberOf({ pull_request_url }: CommentData): number | undefined {
  const number = /\/pulls\/(\d+)$/.exec(pull_request_url ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
}

export async function writeComment({ client }: FactsTools, draft: CommentDraft): Promise<Written | undefined> {
  const { repository, number, id, text } = draft;
  const isNew = id === undefined;
  const { status, data } = await client.request<CommentData>({
    repository,
    method: isNew ? 'POST' : 'PATCH',
    path: isNew ? `/issues/${number}/comments` : `/issues/comments/${encodeURIComponent(id)}`,
    body: { body: text },
    // A locked conversation is a 403 for an account without write access.
    accept: [404, 423],
  });
  // Gitea answers 204 for a text that is no comment of a person.
  return status === 200 || status === 201 ? { id: String(data.id) } : undefined;
}

// SPEC G105
export async function findOwnComment(
  { client }: FactsTools,
  { repository, number, marker }: OwnCommentQuestion,
): Promise<Written | undefined> {
  const own = await client.readOwn();
  // Gitea lists all comments at once.
  const { status, data } = await client.request<readonly CommentData[] | null>({
    repository,
    path: `/issues/${number}/comments`,
    accept: [404],
  });
  if (status === 404) return undefined;
  const found = (data ?? []).findLast(({ user, body }) => user?.id === own.id && body.includes(marker));
  return found && { id: String(found.id) };
}

export async function react(
  { client }: FactsTools,
  { repository, id }: CommentQuestion,
  reaction: Parameters<Hosting['react']>[1],
): Promise<void> {
  await client.request({
    repository,
    method: 'POST',
    path: `/issues/comments/${encodeURIComponent(id)}/reactions`,
    body: { content: reaction },
    // The comment is gone, the conversation is locked, or an operator chose other reactions.
    accept: [403, 404, 422],
  });
}
