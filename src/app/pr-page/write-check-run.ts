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

/** Shows the state as a check run on the queued head, one for each submission. */
// SPEC G143
export async function writeCheckRun(page: PageWrite, { loaded, entry, facts }: PageOfQueue): Promise<void> {
  const { id: queueId, queue } = loaded;
  const { checks } = await readNote(page.app, page.key);
  const last = checks[queueId];
  const known = last?.submission === entry.submission ? last : undefined;
  // Another writer knows a later submission.
  if (last !== undefined && last.submission > entry.submission) throw new ConcurrentWrite();
  if (last?.isOpen === true && known === undefined) await endFormer(page, loaded, last);
  const full = renderCheckRun(facts);
  if (full === undefined) return;
  const text = queue.settings.commentsEnabled ? briefly(full) : full;
  // An open check run is completed also after the setting was switched off: it would run for ever.
  if (known === undefined && (!queue.settings.statusCheckEnabled || !isOnItsHead(entry))) return;
  const { status, conclusion, title, summary } = text;
  const hash = digestOf(status, conclusion, title, status === 'COMPLETED' ? summary : undefined);
  if (known?.hash === hash) return;
  const noted = known ?? begin(entry);
  const { headSha, startedAt } = noted;
  const draft = {
    repository: page.repository,
    headSha,
    ...text,
    externalId: externalIdOf(queueId, entry),
    url: undefined,
    startedAt,
    completedAt: status === 'COMPLETED' ? Math.max(startedAt, entry.stateChangedAt) : undefined,
  };
  const before = await start(page, loaded, noted);
  const written = await writeOrTakeBack(
    async () =>
      (await page.writer.writeCheck({ ...draft, id: noted.id, nodeId: noted.nodeId, mayExist: known !== undefined })) ??
      (noted.id && (await page.writer.writeCheck({ ...draft, id: undefined, mayExist: true }))),
    () => takeBack(page, loaded, before),
  );
  if (!written) return;
  const { id, nodeId } = written;
  await finish(page, loaded, withOpen({ ...noted, id, nodeId, hash }, status !== 'COMPLETED'));
}

/**
 * The note records the intent before the write. A later try that finds it has the forge search for the check run first,
 * and creates no second one while the first may still arrive.
 */
async function start(page: PageWrite, { id: queueId }: LoadedQueue, noted: CheckNote): Promise<CheckNote | undefined> {
  const writing = intentOf(page, page.app.clock.now());
  let found: CheckNote | undefined;
  await changeNote(page.app, page.key, (all) => {
    found = all.checks[queueId];
    if (found?.submission === noted.submission) leaveToOther(page, found, writing.at);
    const isSame = found?.id === noted.id && found?.writing?.by === noted.writing?.by;
    if (found?.submission === noted.submission && !isSame) throw new ConcurrentWrite();
    return withCheck(all, queueId, { ...noted, hash: undefined, writing });
  });
  return found;
}

function leaveToOther(page: PageWrite, { id, writing }: CheckNote, now: Instant): void {
  const arrivesMs = id === undefined ? arrivesWithin(writing, now) : 0;
  const waitMs = Math.max(arrivesMs, waitForOther(writing, page.id, now));
  if (waitMs > 0) throw new RetryAfter(waitMs);
}

async function takeBack(page: PageWrite, { id: queueId }: LoadedQueue, before: CheckNote | undefined): Promise<void> {
  await changeNote(page.app, page.key, (all) => {
    const { [queueId]: found, ...others } = all.checks;
    if (found?.writing?.by !== page.turn || found.writing.isDisturbed === true) return undefined;
    return before === undefined ? { ...all, checks: others } : withCheck(all, queueId, before);
  });
}

/** The write of an earlier writer may still arrive: then this one writes again afterwards. */
async function finish(page: PageWrite, loaded: LoadedQueue, written: CheckNote): Promise<void> {
  const { id: queueId } = loaded;
  const { writing: earlier, ...note } = written;
  const doubtMs = arrivesWithin(earlier, page.app.clock.now());
  let found: CheckNote | undefined;
  await changeNote(page.app, page.key, (all) => {
    found = all.checks[queueId];
    if (found?.submission !== note.submission) return undefined;
    const { writing } = found;
    if (writing?.by !== page.turn) return withCheck(all, queueId, unknown(found, writing));
    if (doubtMs > 0) return withCheck(all, queueId, unknown(note, earlier));
    return withCheck(all, queueId, writing.isDisturbed === true ? unknown(note, undefined) : note);
  });
  if (found?.submission !== note.submission) {
    if (note.isOpen === true) await writeFormer(page, loaded, note);
    throw new ConcurrentWrite();
  }
  if (found.writing === undefined) throw new ConcurrentWrite();
  if (found.writing.by !== page.turn) throw leftToOther();
  if (doubtMs > 0) throw new RetryAfter(doubtMs);
  if (found.writing.isDisturbed === true) throw new ConcurrentWrite();
}

/**
 * Several writers wrote at once, and the last write is unknown. A writer still at work finds the mark in its intent.
 */
function unknown({ writing: _, ...note }: CheckNote, writing: WriteIntent | undefined): CheckNote {
  return { ...note, hash: undefined, isOpen: true, ...(writing && { writing: disturbed(writing) }) };
}

/**
 * The comment shows the progress. Until the end the check run only says "in the queue", which saves half the writes.
 */
function briefly(text: CheckText): CheckText {
  if (text.status === 'COMPLETED') return text;
  const summary = 'The comment on the pull request says how it stands.';
  return { ...text, status: 'IN_PROGRESS', title: 'In the queue', summary };
}

/** The entry left and was submitted again before the page was updated: this update is about the new submission. */
async function endFormer(page: PageWrite, loaded: LoadedQueue, former: CheckNote): Promise<void> {
  await writeFormer(page, loaded, former);
  await changeNote(page.app, page.key, (all) => withCheck(all, loaded.id, withOpen(former, false)));
}

async function writeFormer(page: PageWrite, { id: queueId, queue }: LoadedQueue, former: CheckNote): Promise<void> {
  const { id, headSha, submission, startedAt } = former;
  await page.hosting.writeCheck({
    repository: page.repository,
    id,
    mayExist: true,
    headSha,
    name: checkNameOf(queue.branch),
    externalId: externalIdOf(queueId, { prNumber: page.key.prNumber, submission }),
    status: 'COMPLETED',
    conclusion: 'CANCELLED',
    title: 'Submitted again',
    summary: 'It left the queue, and was submitted again.',
    url: undefined,
    startedAt,
    completedAt: Math.max(startedAt, page.app.clock.now()),
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

/** A push removed the entry, and its new head was never in the queue. */
function isOnItsHead({ admission, because }: Entry): boolean {
  return admission !== undefined && because.reason !== 'PR_PUSHED_TO';
}
