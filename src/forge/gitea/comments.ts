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
import type { CommentData, TimelineData } from './api/data.ts';
import { type FactsTools, findPull, pollFacts } from './facts.ts';
import { findPermission, isAccount, personOf, readTimeline, retargetIn } from './people.ts';

/** Clocks of two machines differ by less. */
const RECENT_MS = 10 * 60_000;

export async function readComment(tools: FactsTools, question: CommentQuestion): Promise<CommentFacts | undefined> {
  const { client } = tools;
  const { repository, number } = question;
  const { comment, events } = await findComment(tools, question);
  if (comment === undefined) return undefined;
  const [own, pull, permission] = await Promise.all([
    client.readOwn(),
    findPull(client, repository, number),
    permissionOf(tools, repository, comment),
  ]);
  if (pull === undefined) return undefined;
  return {
    body: comment.body,
    author: personOf(comment.user, own),
    permission,
    createdAt: instantOf(comment.created_at) ?? 0,
    isEdited: comment.updated_at !== comment.created_at,
    pr: await pollFacts(tools, repository, pull),
    changedAt: instantOf(pull.updated_at),
    ...retargetIn(events, own),
  };
}

interface FoundComment {
  readonly comment: CommentData | undefined;
  /** Events of the pull request since then. */
  readonly events: readonly TimelineData[];
}

/** A command is usually new, and then the last events of its pull request have it. */
async function findComment(
  { client, clock }: FactsTools,
  { repository, number, id }: CommentQuestion,
): Promise<FoundComment> {
  const events = await readTimeline(client, repository, number, clock.now() - RECENT_MS);
  const listed = events.find((event) => event.type === 'comment' && String(event.id) === id);
  if (listed !== undefined) return { comment: listed, events };
  const path = `/issues/comments/${encodeURIComponent(id)}`;
  const comment = await client.find<CommentData>({ repository, path });
  if (comment === undefined || numberOf(comment) !== number) return { comment: undefined, events };
  return { comment, events: await readTimeline(client, repository, number, instantOf(comment.created_at)) };
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
  const listed = await client.find<readonly CommentData[] | null>({ repository, path: `/issues/${number}/comments` });
  const found = listed?.findLast(({ user, body }) => user?.id === own.id && body.includes(marker));
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
