import type { PrNumber } from '../../engine/pull-request.ts';
import type { Written } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import { type CommentNote, changeNote, type Note, readNote } from './note.ts';
import { Overtaken } from './overtaken.ts';
import { COMMENT_MARKER, renderComment } from './render-comment.ts';
import { digestOf, type Talk, type View } from './talk.ts';
import { TellLater } from './tell-later.ts';
import { arrivesWithin, type Writing } from './writing.ts';

/** Whoever began to write a comment this long ago, and did not say that it is there, has died over it. */
const GIVEN_UP_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;

interface Text {
  readonly text: string;
  readonly hash: string;
}

/** Of a comment that is not the first one. */
type Mark = Pick<CommentNote, 'isSecond'>;

const NO_COMMENT: CommentNote = { id: undefined, hash: undefined };

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
  if (await change(talk, wanted, { known })) return;
  if (comment?.isSecond === true) await keep(talk, { id: undefined, hash: undefined, isUnwanted: true });
  else await create(talk, wanted, { isSecond: true });
}

/** False where it is gone. */
async function change(talk: Talk, wanted: Text, { known, mark }: { known: Written; mark?: Mark }): Promise<boolean> {
  const earlier = await begin(talk);
  const written = await talk.pen.writeComment({ ...target(talk), ...known, text: wanted.text });
  if (written === undefined) return false;
  await finish(talk, { written, mark, hash: wanted.hash, earlier });
  return true;
}

/** Notes who writes, and answers who began before and did not end. */
async function begin(talk: Talk): Promise<Writing | undefined> {
  const writing = { by: talk.turn, at: talk.app.clock.now() };
  let earlier: Writing | undefined;
  await changeNote(talk.app, talk.key, (note) => {
    earlier = note.comment?.writing;
    return { ...note, comment: { ...NO_COMMENT, ...note.comment, hash: undefined, writing } };
  });
  return earlier;
}

interface Finished {
  readonly written: Written;
  readonly mark: Mark | undefined;
  readonly hash: string;
  readonly earlier: Writing | undefined;
}

/** What an earlier one wrote may still arrive: then it is written once more, after that. */
async function finish(talk: Talk, { written, mark, hash, earlier }: Finished): Promise<void> {
  const doubtMs = arrivesWithin(earlier, talk.app.clock.now());
  let isOurs = false;
  await changeNote(talk.app, talk.key, (note) => {
    const { writing, creating: _, ...known } = note.comment ?? NO_COMMENT;
    isOurs = writing?.by === talk.turn;
    const comment = { ...known, ...mark, id: written.id, nodeId: written.nodeId };
    if (!isOurs) return { ...note, comment: { ...comment, hash: undefined } };
    const isSure = earlier === undefined || doubtMs === 0;
    return { ...note, comment: isSure ? { ...comment, hash } : { ...comment, writing: earlier } };
  });
  if (!isOurs) throw new Overtaken();
  if (doubtMs > 0) throw new TellLater(doubtMs);
}

function knownIn(comment: CommentNote | undefined): Written | undefined {
  return comment?.id === undefined ? undefined : { id: comment.id, nodeId: comment.nodeId };
}

/**
 * That it is about to be written is noted first. Whoever finds that note looks for the comment before writing one: the
 * answer may have got lost, or the server died.
 */
async function create(talk: Talk, wanted: Text, mark: Mark): Promise<void> {
  const now = talk.app.clock.now();
  let before: CommentNote | undefined;
  const note = await changeNote(talk.app, talk.key, (known) => {
    before = known.comment;
    if (waitFor(known, talk, now, mark) !== undefined) return undefined;
    const creating = { by: talk.id, at: now, turn: talk.turn };
    return { ...known, comment: { ...NO_COMMENT, ...mark, creating } };
  });
  const waitMs = waitFor(note, talk, now, mark);
  if (waitMs !== undefined) throw new TellLater(waitMs);
  if (before?.creating !== undefined) {
    const lost = await talk.hosting.findOwnComment({ ...target(talk), marker: COMMENT_MARKER });
    if (lost !== undefined && (await change(talk, wanted, { known: lost, mark }))) return;
  }
  const written = await talk.pen.writeComment({ ...target(talk), id: undefined, text: wanted.text });
  // A pull request that takes no comments is locked, or gone.
  const unwanted = written === undefined ? { isUnwanted: true as const } : {};
  await keepNew(talk, { id: written?.id, nodeId: written?.nodeId, hash: wanted.hash, ...mark, ...unwanted });
}

/** Another began a moment ago, or is done already: it is looked at again after a while. */
function waitFor({ comment }: Note, { id, turn }: Talk, now: Instant, mark: Mark): number | undefined {
  if (comment?.id !== undefined) {
    return comment.isSecond === true || mark.isSecond !== true ? LOOK_AGAIN_MS : undefined;
  }
  const { creating } = comment ?? NO_COMMENT;
  if (creating === undefined || creating.turn === turn) return undefined;
  if (creating.by !== id) return now - creating.at < GIVEN_UP_MS ? LOOK_AGAIN_MS : undefined;
  const arrivesMs = arrivesWithin({ by: creating.by, at: creating.at }, now);
  return arrivesMs > 0 ? arrivesMs : undefined;
}

/** Another may have gone on with it: then theirs is the one that is changed from now on. */
async function keepNew(talk: Talk, comment: CommentNote): Promise<void> {
  let isOurs = false;
  await changeNote(talk.app, talk.key, (note) => {
    isOurs = note.comment?.creating?.turn === talk.turn;
    if (isOurs) return { ...note, comment };
    const known = note.comment?.id === undefined ? comment : note.comment;
    const { writing: _, creating: __, ...other } = known;
    return { ...note, comment: { ...other, hash: undefined } };
  });
  if (!isOurs) throw new Overtaken();
}

async function keep(talk: Talk, comment: CommentNote): Promise<void> {
  await changeNote(talk.app, talk.key, (note) => ({ ...note, comment }));
}

function target({ repository, key }: Talk) {
  return { repository, number: key.prNumber as PrNumber };
}
