import type { PrNumber } from '../../engine/pull-request.ts';
import type { Written } from '../../forge/hosting.ts';
import { type CommentNote, changeNote, type Note } from './note.ts';
import { digestOf, type PageOfQueue, type PagePart, type PageWrite } from './page-write.ts';
import { COMMENT_MARKER, renderComment } from './render-comment.ts';

const NO_COMMENT: CommentNote = { id: undefined, hash: undefined };

// SPEC G144
/** Each pull request has one comment, which is edited in place. */
export function planComment(page: PageWrite, note: Note, views: readonly PageOfQueue[]): PagePart | undefined {
  if (views[0]?.loaded.queue.settings.commentsEnabled !== true) return undefined;
  const { text, essence } = renderComment(
    views.map(({ facts }) => facts),
    page.app.clock.now(),
  );
  const hash = digestOf(essence);
  const known = note.comment;
  if (known?.isUnwanted === true || known?.hash === hash) return undefined;
  return {
    fields: ['comment'],
    begin: (each) => ({ ...each, comment: { ...(each.comment ?? NO_COMMENT), hash: undefined } }),
    async write() {
      const comment = { ...(await writeComment(page, text, known)), hash };
      return (each) => ({ ...each, comment });
    },
  };
}

async function writeComment(page: PageWrite, text: string, known: CommentNote | undefined): Promise<CommentNote> {
  const target = { repository: page.repository, number: page.key.prNumber as PrNumber };
  const former = known?.id === undefined ? await findLost(page, known) : { id: known.id, nodeId: known.nodeId };
  if (former !== undefined) {
    const changed = await page.writer.writeComment({ ...target, ...former, text });
    if (changed !== undefined) return noteOf(changed, known?.isSecond);
    if (known?.isSecond === true) return { ...NO_COMMENT, isUnwanted: true };
    await recordDeletion(page);
  }
  const created = await page.writer.writeComment({ ...target, id: undefined, text });
  // A pull request that accepts no comments is locked or deleted.
  if (created === undefined) return { ...NO_COMMENT, isUnwanted: true };
  return noteOf(created, former === undefined ? known?.isSecond : true);
}

function noteOf({ id, nodeId }: Written, isSecond: true | undefined): CommentNote {
  return { id, nodeId, hash: undefined, ...(isSecond && { isSecond }) };
}

/** An earlier attempt began to create the comment, and its answer got lost. */
async function findLost({ hosting, repository, key }: PageWrite, known: CommentNote | undefined) {
  if (known === undefined) return undefined;
  return hosting.findOwnComment({ repository, number: key.prNumber as PrNumber, marker: COMMENT_MARKER });
}

/** A person deleted the comment. An attempt after a crash must not create a third one. */
async function recordDeletion({ app, key, attempt }: PageWrite): Promise<void> {
  await changeNote(app, key, (note) =>
    note.lease?.by === attempt ? { ...note, comment: { ...NO_COMMENT, isSecond: true } } : undefined,
  );
}
