import type { PrNumber } from '../../engine/pull-request.ts';
import type { Written } from '../../forge/hosting.ts';
import { type CommentNote, changeNote, type Note, readNote } from './note.ts';
import { COMMENT_MARKER, renderComment } from './render-comment.ts';
import { digestOf, type Talk, type View } from './talk.ts';
import { TellLater } from './tell-later.ts';

/** Whoever began to write a comment this long ago, and did not say that it is there, has died over it. */
const GIVEN_UP_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;

interface Text {
  readonly text: string;
  readonly hash: string;
}

/** One comment for each pull request, changed in place. */
export async function writeComment(talk: Talk, views: readonly View[]): Promise<void> {
  if (views[0]?.loaded.queue.settings.commentsEnabled !== true) return;
  const { text, essence } = renderComment(
    views.map(({ situation }) => situation),
    talk.app.clock.now(),
  );
  const wanted = { text, hash: digestOf(essence) };
  const { comment } = await readNote(talk.app, talk.key);
  if (comment?.isUnwanted === true) return;
  const known = knownIn(comment);
  if (known === undefined) return create(talk, wanted, comment?.isSecond === true ? { isSecond: true } : {});
  if (comment?.hash === wanted.hash) return;
  if (await change(talk, wanted, known)) return;
  if (comment?.isSecond === true) await keep(talk, { id: undefined, hash: undefined, isUnwanted: true });
  else await create(talk, wanted, { isSecond: true });
}

/** False where it is gone. */
async function change(talk: Talk, { text, hash }: Text, known: Written): Promise<boolean> {
  const written = await talk.pen.writeComment({ ...target(talk), ...known, text });
  if (written === undefined) return false;
  const { id, nodeId } = written;
  await changeNote(talk.app, talk.key, (note) => ({ ...note, comment: { ...note.comment, id, nodeId, hash } }));
  return true;
}

function knownIn(comment: CommentNote | undefined): Written | undefined {
  return comment?.id === undefined ? undefined : { id: comment.id, nodeId: comment.nodeId };
}

/**
 * That it is about to be written is noted first. Whoever finds that note looks for the comment before writing one: the
 * answer may have got lost, or the server died.
 */
async function create(talk: Talk, wanted: Text, mark: Pick<CommentNote, 'isSecond'>): Promise<void> {
  const now = talk.app.clock.now();
  let before: CommentNote | undefined;
  const note = await changeNote(talk.app, talk.key, (known) => {
    before = known.comment;
    if (isAnothers(known, talk.id, now, mark)) return undefined;
    return { ...known, comment: { id: undefined, hash: undefined, ...mark, creating: { by: talk.id, at: now } } };
  });
  if (isAnothers(note, talk.id, now, mark)) throw new TellLater(LOOK_AGAIN_MS);
  if (before?.creating !== undefined) {
    const lost = await talk.hosting.findOwnComment({ ...target(talk), marker: COMMENT_MARKER });
    if (lost !== undefined && (await change(talk, wanted, lost))) return settle(talk, mark);
  }
  const written = await talk.pen.writeComment({ ...target(talk), id: undefined, text: wanted.text });
  // A pull request that takes no comments is locked, or gone.
  await keep(talk, {
    id: written?.id,
    nodeId: written?.nodeId,
    hash: wanted.hash,
    ...mark,
    ...(written === undefined ? { isUnwanted: true } : {}),
  });
}

/** Another began a moment ago, or is done already. */
function isAnothers({ comment }: Note, id: string, now: number, mark: Pick<CommentNote, 'isSecond'>): boolean {
  if (comment?.id !== undefined) return comment.isSecond === true || mark.isSecond !== true;
  return comment?.creating !== undefined && comment.creating.by !== id && now - comment.creating.at < GIVEN_UP_MS;
}

async function settle(talk: Talk, mark: Pick<CommentNote, 'isSecond'>): Promise<void> {
  await changeNote(talk.app, talk.key, (note) => {
    const { creating: _, ...comment } = note.comment ?? { id: undefined, hash: undefined };
    return { ...note, comment: { ...comment, ...mark } };
  });
}

async function keep(talk: Talk, comment: CommentNote): Promise<void> {
  await changeNote(talk.app, talk.key, (note) => ({ ...note, comment }));
}

function target({ repository, key }: Talk) {
  return { repository, number: key.prNumber as PrNumber };
}
