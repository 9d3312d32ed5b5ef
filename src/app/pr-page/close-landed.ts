import type { PrNumber } from '../../engine/pull-request.ts';
import { changeNote, readNote } from './note.ts';
import type { PageOfQueue, PageWrite } from './page-write.ts';

/** Commits that were made again on the target do not tell a forge that their pull request is merged: it is closed. */
export async function closeLandedPullRequest(talk: PageWrite, { loaded, entry }: PageOfQueue): Promise<void> {
  const { id, queue } = loaded;
  const { landingMode, mergeMethod } = queue.settings;
  if (entry.state !== 'MERGED' || entry.landed === undefined) return;
  if (landingMode !== 'PUSH' || mergeMethod === 'MERGE_COMMIT') return;
  const stay = `${id}/${entry.submission}`;
  if ((await readNote(talk.app, talk.key)).closed === stay) return;
  const { repository, key } = talk;
  await talk.hosting.closeLanded({ repository, number: key.prNumber as PrNumber, headSha: entry.pr.headSha });
  await changeNote(talk.app, talk.key, (note) => ({ ...note, closed: stay }));
}
