import type { Entry } from '../../engine/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { LoadedQueue } from '../core/queue-host.ts';
import { type CheckText, checkNameOf, renderCheckRun } from './check-run.ts';
import { ConcurrentWrite, leftToOther } from './concurrent-write.ts';
import { type CheckNote, changeNote, type Note, readNote } from './note.ts';
import { digestOf, type PageOfQueue, type PageWrite } from './page-write.ts';
import { RetryAfter } from './retry-after.ts';
import { arrivesWithin, disturbed, intentOf, type WriteIntent, waitForOther, writeOrTakeBack } from './write-intent.ts';

/** The state in the queue as a check on the head that is in the queue: one for each stay. */
export async function writeCheckRun(talk: PageWrite, { loaded, entry, facts }: PageOfQueue): Promise<void> {
  const { id: queueId, queue } = loaded;
  const { checks } = await readNote(talk.app, talk.key);
  const last = checks[queueId];
  const known = last?.submission === entry.submission ? last : undefined;
  // Another knows of a later stay.
  if (last !== undefined && last.submission > entry.submission) throw new ConcurrentWrite();
  if (last?.isOpen === true && known === undefined) await endFormer(talk, loaded, last);
  const full = renderCheckRun(facts);
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
  const before = await start(talk, loaded, noted);
  const written = await writeOrTakeBack(
    async () =>
      (await talk.writer.writeCheck({ ...draft, id: noted.id, nodeId: noted.nodeId, mayExist: known !== undefined })) ??
      (noted.id && (await talk.writer.writeCheck({ ...draft, id: undefined, mayExist: true }))),
    () => takeBack(talk, loaded, before),
  );
  if (!written) return;
  const { id, nodeId } = written;
  await finish(talk, loaded, withOpen({ ...noted, id, nodeId, hash }, status !== 'COMPLETED'));
}

/**
 * Noted before it is written: whoever finds that it was begun has the forge look for it first, and makes no other while it
 * may still be made.
 */
async function start(talk: PageWrite, { id: queueId }: LoadedQueue, noted: CheckNote): Promise<CheckNote | undefined> {
  const writing = intentOf(talk, talk.app.clock.now());
  let found: CheckNote | undefined;
  await changeNote(talk.app, talk.key, (all) => {
    found = all.checks[queueId];
    if (found?.submission === noted.submission) leaveToOther(talk, found, writing.at);
    const isSame = found?.id === noted.id && found?.writing?.by === noted.writing?.by;
    if (found?.submission === noted.submission && !isSame) throw new ConcurrentWrite();
    return withCheck(all, queueId, { ...noted, hash: undefined, writing });
  });
  return found;
}

function leaveToOther(talk: PageWrite, { id, writing }: CheckNote, now: Instant): void {
  const arrivesMs = id === undefined ? arrivesWithin(writing, now) : 0;
  const waitMs = Math.max(arrivesMs, waitForOther(writing, talk.id, now));
  if (waitMs > 0) throw new RetryAfter(waitMs);
}

async function takeBack(talk: PageWrite, { id: queueId }: LoadedQueue, before: CheckNote | undefined): Promise<void> {
  await changeNote(talk.app, talk.key, (all) => {
    const { [queueId]: found, ...others } = all.checks;
    if (found?.writing?.by !== talk.turn || found.writing.isDisturbed === true) return undefined;
    return before === undefined ? { ...all, checks: others } : withCheck(all, queueId, before);
  });
}

/** What one who began before wrote may still arrive: then it is written once more, after that. */
async function finish(talk: PageWrite, loaded: LoadedQueue, written: CheckNote): Promise<void> {
  const { id: queueId } = loaded;
  const { writing: earlier, ...note } = written;
  const doubtMs = arrivesWithin(earlier, talk.app.clock.now());
  let found: CheckNote | undefined;
  await changeNote(talk.app, talk.key, (all) => {
    found = all.checks[queueId];
    if (found?.submission !== note.submission) return undefined;
    const { writing } = found;
    if (writing?.by !== talk.turn) return withCheck(all, queueId, unknown(found, writing));
    if (doubtMs > 0) return withCheck(all, queueId, unknown(note, earlier));
    return withCheck(all, queueId, writing.isDisturbed === true ? unknown(note, undefined) : note);
  });
  if (found?.submission !== note.submission) {
    if (note.isOpen === true) await writeFormer(talk, loaded, note);
    throw new ConcurrentWrite();
  }
  if (found.writing === undefined) throw new ConcurrentWrite();
  if (found.writing.by !== talk.turn) throw leftToOther();
  if (doubtMs > 0) throw new RetryAfter(doubtMs);
  if (found.writing.isDisturbed === true) throw new ConcurrentWrite();
}

/** Several wrote it at once: nobody knows whose words came last. Whoever still writes hears of it. */
function unknown({ writing: _, ...note }: CheckNote, writing: WriteIntent | undefined): CheckNote {
  return { ...note, hash: undefined, isOpen: true, ...(writing && { writing: disturbed(writing) }) };
}

/** The comment says how far it is: until it ends, the check only says that it is in the queue. That saves half the writes. */
function briefly(text: CheckText): CheckText {
  if (text.status === 'COMPLETED') return text;
  const summary = 'The comment on the pull request says how it stands.';
  return { ...text, status: 'IN_PROGRESS', title: 'In the queue', summary };
}

/** It left and was submitted again before anybody was told: what is said now is about another stay. */
async function endFormer(talk: PageWrite, loaded: LoadedQueue, former: CheckNote): Promise<void> {
  await writeFormer(talk, loaded, former);
  await changeNote(talk.app, talk.key, (all) => withCheck(all, loaded.id, withOpen(former, false)));
}

async function writeFormer(talk: PageWrite, { id: queueId, queue }: LoadedQueue, former: CheckNote): Promise<void> {
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
}

function externalIdOf(queueId: QueueId, of: { readonly prNumber: number; readonly submission: number }): string {
  return `${queueId}/${of.prNumber}/${of.submission}`;
}

function withCheck(all: Note, queueId: QueueId, note: CheckNote): Note {
  return { ...all, checks: { ...all.checks, [queueId]: note } };
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
