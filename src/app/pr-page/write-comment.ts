import type { PrNumber } from '../../engine/pull-request.ts';
import type { Written } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import { ConcurrentWrite, leftToOther } from './concurrent-write.ts';
import { type CommentNote, changeNote, type Note, readNote } from './note.ts';
import { digestOf, type PageOfQueue, type PageWrite } from './page-write.ts';
import { COMMENT_MARKER, renderComment } from './render-comment.ts';
import { RetryAfter } from './retry-after.ts';
import { arrivesWithin, disturbed, intentOf, type WriteIntent, waitForOther, writeOrTakeBack } from './write-intent.ts';

const RETRY_MS = 2_000;

interface Text {
  readonly text: string;
  readonly hash: string;
}

type Mark = Pick<CommentNote, 'isSecond'>;

const NO_COMMENT: CommentNote = { id: undefined, hash: undefined };

/** Each pull request has one comment, which is edited in place. */
// SPEC G144
export async function writeComment(page: PageWrite, views: readonly PageOfQueue[]): Promise<void> {
  if (views[0]?.loaded.queue.settings.commentsEnabled !== true) return;
  const { text, essence } = renderComment(
    views.map(({ facts }) => facts),
    page.app.clock.now(),
  );
  const wanted = { text, hash: digestOf(essence) };
  const { comment } = await readNote(page.app, page.key);
  if (comment?.isUnwanted === true) return;
  const known = knownIn(comment);
  if (known === undefined) return create(page, wanted, comment?.isSecond === true ? { isSecond: true } : {});
  if (comment?.hash === wanted.hash) return;
  if (await change(page, wanted, { known })) return;
  if (comment?.isSecond === true) await keep(page, { id: undefined, hash: undefined, isUnwanted: true });
  else await create(page, wanted, { isSecond: true });
}

/** Returns false where the comment was deleted. */
async function change(
  page: PageWrite,
  wanted: Text,
  { known, mark }: { known: Written; mark?: Mark },
): Promise<boolean> {
  const before = await begin(page);
  const written = await writeOrTakeBack(
    () => page.writer.writeComment({ ...target(page), ...known, text: wanted.text }),
    () => takeBack(page, before),
  );
  if (written === undefined) return false;
  await finish(page, { written, mark, hash: wanted.hash, earlier: before.writing });
  return true;
}

/** Records the write intent, and returns the note as it was before: another writer may not have finished. */
async function begin(page: PageWrite): Promise<CommentNote> {
  const writing = intentOf(page, page.app.clock.now());
  let before = NO_COMMENT;
  await changeNote(page.app, page.key, (note) => {
    before = note.comment ?? NO_COMMENT;
    const waitMs = waitForOther(before.writing, page.id, writing.at);
    if (waitMs > 0) throw new RetryAfter(waitMs);
    return { ...note, comment: { ...before, hash: undefined, writing } };
  });
  return before;
}

async function takeBack(page: PageWrite, before: CommentNote | undefined): Promise<void> {
  await changeNote(page.app, page.key, (note) => {
    const { writing, creating, id } = note.comment ?? NO_COMMENT;
    const isUntouched = writing?.by === page.turn && writing.isDisturbed !== true;
    const isUnmade = creating?.turn === page.turn && writing === undefined && id === undefined;
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
 * The write of an earlier writer may still arrive: then this one writes again afterwards. Another writer's intent stays
 * in the note: without it, that writer would take itself for the one that came too late.
 */
async function finish(page: PageWrite, { written, mark, hash, earlier }: Finished): Promise<void> {
  const doubtMs = arrivesWithin(earlier, page.app.clock.now());
  let found: WriteIntent | undefined;
  await changeNote(page.app, page.key, (note) => {
    const { writing, creating: _, ...known } = note.comment ?? NO_COMMENT;
    found = writing;
    const comment = { ...known, ...mark, id: written.id, nodeId: written.nodeId, hash: undefined };
    if (writing === undefined) return { ...note, comment };
    if (writing.by !== page.turn) return { ...note, comment: { ...comment, writing: disturbed(writing) } };
    if (earlier !== undefined && doubtMs > 0) return { ...note, comment: { ...comment, writing: disturbed(earlier) } };
    return { ...note, comment: writing.isDisturbed === true ? comment : { ...comment, hash } };
  });
  if (found !== undefined && found.by !== page.turn) throw leftToOther();
  if (found === undefined) throw new ConcurrentWrite();
  if (doubtMs > 0) throw new RetryAfter(doubtMs);
  if (found.isDisturbed === true) throw new ConcurrentWrite();
}

function knownIn(comment: CommentNote | undefined): Written | undefined {
  return comment?.id === undefined ? undefined : { id: comment.id, nodeId: comment.nodeId };
}

/**
 * The note records the intent before the write. A later try that finds it searches for the comment first: the answer
 * may
 * have got lost, or the server may have died.
 */
async function create(page: PageWrite, wanted: Text, mark: Mark): Promise<void> {
  const now = page.app.clock.now();
  let before: CommentNote | undefined;
  const note = await changeNote(page.app, page.key, (known) => {
    before = known.comment;
    if (waitFor(known, page, now, mark) !== undefined) return undefined;
    const creating = { by: page.id, at: now, turn: page.turn };
    return { ...known, comment: { ...NO_COMMENT, ...mark, creating } };
  });
  const waitMs = waitFor(note, page, now, mark);
  if (waitMs !== undefined) throw new RetryAfter(waitMs);
  await writeOrTakeBack(
    () => write(page, wanted, { mark, isAgain: before?.creating !== undefined }),
    () => takeBack(page, before),
  );
}

async function write(
  page: PageWrite,
  wanted: Text,
  { mark, isAgain }: { mark: Mark; isAgain: boolean },
): Promise<void> {
  if (isAgain) {
    const lost = await page.hosting.findOwnComment({ ...target(page), marker: COMMENT_MARKER });
    if (lost !== undefined && (await change(page, wanted, { known: lost, mark }))) return;
  }
  const written = await page.writer.writeComment({ ...target(page), id: undefined, text: wanted.text });
  // A pull request that accepts no comments is locked or deleted.
  const unwanted = written === undefined ? { isUnwanted: true as const } : {};
  await keepNew(page, { id: written?.id, nodeId: written?.nodeId, hash: wanted.hash, ...mark, ...unwanted });
}

/** How long to wait while another writer creates the comment or has just created it. */
function waitFor({ comment }: Note, { id, turn }: PageWrite, now: Instant, mark: Mark): number | undefined {
  if (comment?.id !== undefined) {
    return comment.isSecond === true || mark.isSecond !== true ? RETRY_MS : undefined;
  }
  const { creating } = comment ?? NO_COMMENT;
  if (creating === undefined || creating.turn === turn) return undefined;
  const { by, at } = creating;
  const waitMs = by === id ? arrivesWithin(creating, now) : waitForOther({ id: by, at }, id, now);
  return waitMs > 0 ? waitMs : undefined;
}

/**
 * Another writer may have continued the creation. Its comment is then the one that is edited from now on; the one
 * written here is a second comment that it does not touch.
 */
async function keepNew(page: PageWrite, comment: CommentNote): Promise<void> {
  let isOurs = false;
  await changeNote(page.app, page.key, (note) => {
    const known = note.comment ?? NO_COMMENT;
    isOurs = known.creating?.turn === page.turn && known.id === undefined;
    if (isOurs) return { ...note, comment };
    return known.id === undefined ? { ...note, comment: { ...known, ...comment, hash: undefined } } : undefined;
  });
  if (!isOurs) throw new ConcurrentWrite();
}

async function keep(page: PageWrite, comment: CommentNote): Promise<void> {
  await changeNote(page.app, page.key, (note) => ({ ...note, comment }));
}

function target({ repository, key }: PageWrite) {
  return { repository, number: key.prNumber as PrNumber };
}
