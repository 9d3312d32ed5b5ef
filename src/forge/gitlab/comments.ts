import { present } from '../../lib/present.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type { CommentDraft, CommentFacts, CommentQuestion, Hosting, OwnCommentQuestion, Written } from '../hosting.ts';
import type { NoteData } from './api/data.ts';
import { factsOf, findRequest, type GitlabTools } from './facts.ts';
import { permissionOf, personOf, retargetIn } from './people.ts';

const MAX_PAGES = 20;
/** GitLab writes both times of a new note one after the other. */
const WRITTEN_MS = 1_000;

export async function readComment(tools: GitlabTools, question: CommentQuestion): Promise<CommentFacts | undefined> {
  const { client } = tools;
  const { repository, number, id } = question;
  const [own, request, { items: notes }] = await Promise.all([
    client.readOwn(),
    findRequest(client, repository, number),
    client.readPage<NoteData>({ repository, path: `/merge_requests/${number}/notes`, query: NEWEST }),
  ]);
  const path = `/merge_requests/${number}/notes/${encodeURIComponent(id)}`;
  const note = notes.find((each) => String(each.id) === id) ?? (await client.find<NoteData>({ repository, path }));
  if (request === undefined || note === undefined || note.system) return undefined;
  const [createdAt = 0, updatedAt = 0] = [instantOf(note.created_at), instantOf(note.updated_at)];
  return {
    body: note.body,
    author: personOf(note.author, own),
    permission: await permissionOf(client, repository, note.author),
    createdAt,
    isEdited: updatedAt - createdAt > WRITTEN_MS,
    pr: factsOf(request),
    ...present({ changedAt: instantOf(request.updated_at) }),
    ...retargetIn(notes, own),
  };
}

export const NEWEST = { order_by: 'created_at', sort: 'desc' };

// SPEC G187
export async function writeComment({ client }: GitlabTools, draft: CommentDraft): Promise<Written | undefined> {
  const { repository, number, id, text } = draft;
  const isNew = id === undefined;
  const { status, data } = await client.request<NoteData>({
    repository,
    method: isNew ? 'POST' : 'PUT',
    path: `/merge_requests/${number}/notes${isNew ? '' : `/${encodeURIComponent(id)}`}`,
    body: { body: asNote(text) },
    // It is gone, or its discussion is locked.
    accept: [403, 404],
  });
  return status < 300 ? { id: String(data.id) } : undefined;
}

/**
 * GitLab refers to merge requests with an exclamation mark, and carries out lines that begin with a slash with the
 * rights of who writes them.
 */
export function asNote(text: string): string {
  return text
    .replace(/(`+)[^`][\s\S]*?\1|(?<![\w&/\\#])#(?=\d+\b(?!;))/g, (found) => (found === '#' ? '!' : found))
    .replace(/^([ \t]*)\/(?=\w)/gm, '$1\u200b/');
}

export async function findOwnComment(
  { client }: GitlabTools,
  { repository, number, marker }: OwnCommentQuestion,
): Promise<Written | undefined> {
  const own = await client.readOwn();
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const asked = { repository, path: `/merge_requests/${number}/notes`, query: NEWEST };
    const { items, next } = await client.readPage<NoteData>(asked, page);
    const found = items.find(({ author, system, body }) => !system && author?.id === own.id && body.includes(marker));
    if (found !== undefined) return { id: String(found.id) };
    if (!next) break;
  }
  return undefined;
}

const EMOJI = { '+1': 'thumbsup', eyes: 'eyes', confused: 'confused' } as const;

export async function react(
  { client }: GitlabTools,
  { repository, number, id }: CommentQuestion,
  reaction: Parameters<Hosting['react']>[1],
): Promise<void> {
  await client.request({
    repository,
    method: 'POST',
    path: `/merge_requests/${number}/notes/${encodeURIComponent(id)}/award_emoji`,
    body: { name: EMOJI[reaction] },
    // The note is gone, or has the emoji already.
    accept: [403, 404],
  });
}
