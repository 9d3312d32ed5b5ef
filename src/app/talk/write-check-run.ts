import type { Entry } from '../../engine/queue.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { LoadedQueue } from '../queue-runner.ts';
import { type CheckText, checkNameOf, renderCheckRun } from './check-run.ts';
import { type CheckNote, changeNote, readNote } from './note.ts';
import { digestOf, type Talk, type View } from './talk.ts';

/** The state in the queue as a check on the head that is in the queue: one for each stay. */
export async function writeCheckRun(talk: Talk, { loaded, entry, situation }: View): Promise<void> {
  const { id: queueId, queue } = loaded;
  const { checks } = await readNote(talk.app, talk.key);
  const last = checks[queueId];
  const known = last?.submission === entry.submission ? last : undefined;
  if (last?.isOpen === true && known === undefined) await endFormer(talk, loaded, last);
  const full = renderCheckRun(situation);
  if (full === undefined) return;
  const text = queue.settings.commentsEnabled ? briefly(full) : full;
  // What was begun is ended, also after checks were switched off: nobody likes one that runs for ever.
  if (known === undefined && (!queue.settings.statusCheckEnabled || !isOnItsHead(entry))) return;
  const { status, conclusion, title, summary } = text;
  const hash = digestOf(status, conclusion, title, status === 'COMPLETED' ? summary : undefined);
  if (known?.hash === hash) return;
  const noted = known ?? begin(entry);
  const { headSha, startedAt } = noted;
  const draft = {
    repository: talk.repository,
    headSha,
    ...text,
    externalId: externalIdOf(queueId, entry),
    url: undefined,
    startedAt,
    completedAt: status === 'COMPLETED' ? Math.max(startedAt, entry.stateChangedAt) : undefined,
  };
  const keep = (note: CheckNote) => keepNote(talk, queueId, note);
  // Noted before it is made: whoever finds that it was begun has the forge look for it first.
  if (known === undefined) await keep(noted);
  const written =
    (await talk.pen.writeCheck({ ...draft, id: noted.id, nodeId: noted.nodeId, mayExist: known !== undefined })) ??
    (noted.id && (await talk.pen.writeCheck({ ...draft, id: undefined, mayExist: true })));
  if (!written) return;
  const { id, nodeId } = written;
  await keep(withOpen({ ...noted, id, nodeId, hash }, status !== 'COMPLETED'));
}

/** The comment says how far it is: until it ends, the check only says that it is in the queue. That saves half the writes. */
function briefly(text: CheckText): CheckText {
  if (text.status === 'COMPLETED') return text;
  const summary = 'The comment on the pull request says how it stands.';
  return { ...text, status: 'IN_PROGRESS', title: 'In the queue', summary };
}

/** It left and was submitted again before anybody was told: what is said now is about another stay. */
async function endFormer(talk: Talk, { id: queueId, queue }: LoadedQueue, former: CheckNote): Promise<void> {
  const { id, headSha, submission, startedAt } = former;
  await talk.hosting.writeCheck({
    repository: talk.repository,
    id,
    mayExist: true,
    headSha,
    name: checkNameOf(queue.branch),
    externalId: externalIdOf(queueId, { prNumber: talk.key.prNumber, submission }),
    status: 'COMPLETED',
    conclusion: 'CANCELLED',
    title: 'Submitted again',
    summary: 'It left the queue, and was submitted again.',
    url: undefined,
    startedAt,
    completedAt: Math.max(startedAt, talk.app.clock.now()),
  });
  await keepNote(talk, queueId, withOpen(former, false));
}

function externalIdOf(queueId: QueueId, of: { readonly prNumber: number; readonly submission: number }): string {
  return `${queueId}/${of.prNumber}/${of.submission}`;
}

function keepNote(talk: Talk, queueId: QueueId, note: CheckNote): Promise<unknown> {
  return changeNote(talk.app, talk.key, (all) => ({ ...all, checks: { ...all.checks, [queueId]: note } }));
}

function withOpen({ isOpen: _isOpen, ...note }: CheckNote, isOpen: boolean): CheckNote {
  return isOpen ? { ...note, isOpen } : note;
}

function begin(entry: Entry): CheckNote {
  const startedAt = entry.admission?.at ?? entry.stateChangedAt;
  const { submission } = entry;
  return { id: undefined, headSha: entry.pr.headSha, submission, startedAt, hash: undefined, isOpen: true };
}

/** One that was pushed to left with its new head, which was never in the queue. */
function isOnItsHead({ admission, because }: Entry): boolean {
  return admission !== undefined && because.reason !== 'PR_PUSHED_TO';
}
