import type { PrNumber } from '../../engine/pull-request.ts';
import { changeNote, readNote } from './note.ts';
import type { PageOfQueue, PageWrite } from './page-write.ts';

/** Squashed or rebased commits do not make GitHub mark the pull request as merged, so it is closed. */
// SPEC G52
export async function closeLandedPullRequest(page: PageWrite, { loaded, entry }: PageOfQueue): Promise<void> {
  const { id, queue } = loaded;
  const { landingMode, mergeMethod } = queue.settings;
  if (entry.state !== 'MERGED' || entry.landed === undefined) return;
  if (landingMode !== 'PUSH' || mergeMethod === 'MERGE_COMMIT') return;
  const stay = `${id}/${entry.submission}`;
  if ((await readNote(page.app, page.key)).closed === stay) return;
  const { repository, key } = page;
  await page.hosting.closeLanded({ repository, number: key.prNumber as PrNumber, headSha: entry.pr.headSha });
  await changeNote(page.app, page.key, (note) => ({ ...note, closed: stay }));
}
