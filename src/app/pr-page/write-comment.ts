import type { PrNumber } from '../../engine/pull-request.ts';
import type { Written } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import { ConcurrentWrite, leftToOther } from './concurrent-write.ts';
import { type CommentNote, changeNote, type Note, readNote } from './note.ts';
import { digestOf, type PageOfQueue, type PageWrite } from './page-write.ts';
import { COMMENT_MARKER, renderComment } from './render-comment.ts';
import { RetryAfter } from './retry-after.ts';
import { arrivesWithin, disturbed, intentOf, type WriteIntent, waitForOther, writeOrTakeBack } from './write-intent.ts';

const LOOK_AGAIN_MS = 2_000;

interface Text {
  readonly text: string;
  readonly hash: string;
}

/** Of a comment that is not the first one. */
type Mark = Pick<CommentNote, 'isSecond'>;

const NO_COMMENT: CommentNote = { id: undefined, hash: undefined };

/** One comment for each pull request, changed in place. */
export async function writeComment(talk: PageWrite, views: readonly PageOfQueue[]): Promise<void> {
  if (views[0]?.loaded.queue.settings.commentsEnabled !== true) return;
  const { text, essence } = renderComment(
    views.map(({ facts }) => facts),
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
async function change(
  talk: PageWrite,
  wanted: Text,
  { known, mark }: { known: Written; mark?: Mark },
): Promise<boolean> {
  const before = await begin(talk);
  const written = await writeOrTakeBack(
    () => talk.writer.writeComment({ ...target(talk), ...known, text: wanted.text }),
    () => takeBack(talk, before),
  );
  if (written === undefined) return false;
  await finish(talk, { written, mark, hash: wanted.hash, earlier: before.writing });
  return true;
}

/** Notes who writes, and answers what was noted before: another may have begun who did not end. */
async function begin(talk: PageWrite): Promise<CommentNote> {
  const writing = intentOf(talk, talk.app.clock.now());
  let before = NO_COMMENT;
  await changeNote(talk.app, talk.key, (note) => {
    before = note.comment ?? NO_COMMENT;
    const waitMs = waitForOther(before.writing, talk.id, writing.at);
    if (waitMs > 0) throw new RetryAfter(waitMs);
    return { ...note, comment: { ...before, hash: undefined, writing } };
  });
  return before;
}

async function takeBack(talk: PageWrite, before: CommentNote | undefined): Promise<void> {
  await changeNote(talk.app, talk.key, (note) => {
    const { writing, creating, id } = note.comment ?? NO_COMMENT;
    const isUntouched = writing?.by === talk.turn && writing.isDisturbed !== true;
    const isUnmade = creating?.turn === talk.turn && writing === undefined && id === undefined;
    return isUntouched || isUnmade ? { ...note, comment: before } : undefined;
  });
}

interface Finished {
  readonly written: Written;
  readonly mark: Mark | undefined;
  readonly hash: string;
  readonly earlier: WriteIntent | undefined;
}

/**
 * What an earlier one wrote may still arrive: then it is written once more, after that. Whoever finds another's mark leaves
 * it there: without it, that one would think of itself as the one who came too late.
 */
async function finish(talk: PageWrite, { written, mark, hash, earlier }: Finished): Promise<void> {
  const doubtMs = arrivesWithin(earlier, talk.app.clock.now());
  let found: WriteIntent | undefined;
  await changeNote(talk.app, talk.key, (note) => {
    const { writing, creating: _, ...known } = note.comment ?? NO_COMMENT;
    found = writing;
    const comment = { ...known, ...mark, id: written.id, nodeId: written.nodeId, hash: undefined };
    if (writing === undefined) return { ...note, comment };
    if (writing.by !== talk.turn) return { ...note, comment: { ...comment, writing: disturbed(writing) } };
    if (earlier !== undefined && doubtMs > 0) return { ...note, comment: { ...comment, writing: disturbed(earlier) } };
    return { ...note, comment: writing.isDisturbed === true ? comment : { ...comment, hash } };
  });
  if (found !== undefined && found.by !== talk.turn) throw leftToOther();
  if (found === undefined) throw new ConcurrentWrite();
  if (doubtMs > 0) throw new RetryAfter(doubtMs);
  if (found.isDisturbed === true) throw new ConcurrentWrite();
}

function knownIn(comment: CommentNote | undefined): Written | undefined {
  return comment?.id === undefined ? undefined : { id: comment.id, nodeId: comment.nodeId };
}

/**
 * That it is about to be written is noted first. Whoever finds that note looks for the comment before writing one: the
 * answer may have got lost, or the server died.
 */
async function create(talk: PageWrite, wanted: Text, mark: Mark): Promise<void> {
  const now = talk.app.clock.now();
  let before: CommentNote | undefined;
  const note = await changeNote(talk.app, talk.key, (known) => {
    before = known.comment;
    if (waitFor(known, talk, now, mark) !== undefined) return undefined;
    const creating = { by: talk.id, at: now, turn: talk.turn };
    return { ...known, comment: { ...NO_COMMENT, ...mark, creating } };
  });
  const waitMs = waitFor(note, talk, now, mark);
  if (waitMs !== undefined) throw new RetryAfter(waitMs);
  await writeOrTakeBack(
    () => write(talk, wanted, { mark, isAgain: before?.creating !== undefined }),
    () => takeBack(talk, before),
  );
}

async function write(
  talk: PageWrite,
  wanted: Text,
  { mark, isAgain }: { mark: Mark; isAgain: boolean },
): Promise<void> {
  if (isAgain) {
    const lost = await talk.hosting.findOwnComment({ ...target(talk), marker: COMMENT_MARKER });
    if (lost !== undefined && (await change(talk, wanted, { known: lost, mark }))) return;
  }
  const written = await talk.writer.writeComment({ ...target(talk), id: undefined, text: wanted.text });
  // A pull request that takes no comments is locked, or gone.
  const unwanted = written === undefined ? { isUnwanted: true as const } : {};
  await keepNew(talk, { id: written?.id, nodeId: written?.nodeId, hash: wanted.hash, ...mark, ...unwanted });
}

/** Another began a moment ago, or is done already: it is looked at again after a while. */
function waitFor({ comment }: Note, { id, turn }: PageWrite, now: Instant, mark: Mark): number | undefined {
  if (comment?.id !== undefined) {
    return comment.isSecond === true || mark.isSecond !== true ? LOOK_AGAIN_MS : undefined;
  }
  const { creating } = comment ?? NO_COMMENT;
  if (creating === undefined || creating.turn === turn) return undefined;
  const { by, at } = creating;
  const waitMs = by === id ? arrivesWithin(creating, now) : waitForOther({ id: by, at }, id, now);
  return waitMs > 0 ? waitMs : undefined;
}

/**
 * Another may have gone on with it: then theirs is the one that is changed from now on. What was written here is another
 * comment than theirs, and takes nothing from what they write.
 */
async function keepNew(talk: PageWrite, comment: CommentNote): Promise<void> {
  let isOurs = false;
  await changeNote(talk.app, talk.key, (note) => {
    const known = note.comment ?? NO_COMMENT;
    isOurs = known.creating?.turn === talk.turn && known.id === undefined;
    if (isOurs) return { ...note, comment };
    return known.id === undefined ? { ...note, comment: { ...known, ...comment, hash: undefined } } : undefined;
  });
  if (!isOurs) throw new ConcurrentWrite();
}

async function keep(talk: PageWrite, comment: CommentNote): Promise<void> {
  await changeNote(talk.app, talk.key, (note) => ({ ...note, comment }));
}

function target({ repository, key }: PageWrite) {
  return { repository, number: key.prNumber as PrNumber };
}
