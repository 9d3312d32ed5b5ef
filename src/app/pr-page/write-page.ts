import type { PrNumber } from '../../engine/model/pull-request.ts';
import { type EntryState, isLive } from '../../engine/model/queue.ts';
import type { Written } from '../../forge/hosting.ts';
import { isKnownNotApplied } from '../../forge/known-not-applied.ts';
import type { Instant } from '../../lib/clock.ts';
import { type CommentNote, changeNote, type Note, replaceNote, type ShownVersion, type StoredNote } from './note.ts';
import { digestOf, type PageOfQueue, type PagePart, type PageWrite } from './page-write.ts';
import { COMMENT_MARKER, renderComment } from './render-comment.ts';
import { planCheckRun } from './write-check-run.ts';

/** GitHub may apply a request up to ten seconds after its client is gone. */
const ARRIVES_MS = 15_000;
/** The requests of one update seldom wait for so long, for the rate limit and for their answers. */
const LEASE_MS = 5 * 60_000;
const RETRY_MS = 2_000;

/** How long the update has to wait for the page; 0: it is free. A lease that was left behind ends here. */
export async function waitForPage(page: PageWrite, { note, version }: StoredNote): Promise<number> {
  const { lease, unansweredAt, ...rest } = note;
  const now = page.app.clock.now();
  if (lease === undefined) return unansweredAt === undefined ? 0 : Math.max(0, ARRIVES_MS - ageOf(unansweredAt, now));
  const age = ageOf(lease.at, now);
  if (lease.effect !== page.effect && age < LEASE_MS) return Math.min(Math.max(RETRY_MS, age), LEASE_MS - age);
  await replaceNote(page.app, page.key, { note: { ...rest, unansweredAt: now }, version });
  return ARRIVES_MS;
}

/** Another server's clock may be ahead, so that an instant far in the future is old too. */
function ageOf(at: Instant, now: Instant): number {
  return Math.abs(now - at);
}

/** The views of the queues that show the pull request, the most important first, and that of the updating queue. */
interface PageViews {
  readonly views: readonly [PageOfQueue, ...PageOfQueue[]];
  readonly own: PageOfQueue;
}

/** `again`: the page has to be planned anew. `lost`: so it has, and another update may hold its lease. */
export type PageOutcome = 'written' | 'again' | 'lost';

/** Leases the page if its note has not changed since it was read, writes the parts that differ, and ends the lease. */
export async function writePage(page: PageWrite, read: StoredNote, views: PageViews): Promise<PageOutcome> {
  const parts = planPage(page, read.note, views);
  const different = Object.values(parts).filter((part) => part !== undefined);
  if (different.length === 0) return 'written';
  const { unansweredAt: _, shown: __, ...before } = read.note;
  const lease = { by: page.attempt, effect: page.effect, at: page.app.clock.now() };
  const note = different.reduce<Note>((begun, part) => part.begin(begun), { ...before, lease });
  if (!(await replaceNote(page.app, page.key, { note, version: read.version }))) return 'again';
  const outcomes = await writeParts(page, parts);
  const isWhole = different.every(({ isPreliminary }) => isPreliminary !== true);
  const { id: queueId, version } = views.own.loaded;
  const isLastWrite = await endLease(page, before, { outcomes, ...(isWhole && { shown: { queueId, version } }) });
  for (const { result } of outcomes) if (result.status === 'rejected') throw result.reason;
  if (isLastWrite === undefined) return 'lost';
  return isLastWrite && isWhole ? 'written' : 'again';
}

type PageParts = ReturnType<typeof planPage>;

// SPEC G47
/** Compares what the page should show with what the note says was written last. */
function planPage(page: PageWrite, note: Note, { views, own }: PageViews) {
  return {
    comment: planComment(page, note, views),
    check: planCheckRun(page, note, own),
    labels: planLabels(page, note, views[0]),
    settle: planSettling(page, note, own),
  };
}

// SPEC G52
/** A push does not make every forge show the pull request as merged. */
function planSettling(page: PageWrite, note: Note, { loaded, entry }: PageOfQueue): PagePart | undefined {
  const { id, queue } = loaded;
  const { landingMode, mergeMethod } = queue.settings;
  if (entry.state !== 'MERGED' || entry.landed === undefined) return undefined;
  const { landed } = entry;
  if (landingMode !== 'PUSH' || !page.hosting.needsSettling(mergeMethod)) return undefined;
  const closed = `${id}/${entry.submission}`;
  if (note.closed === closed) return undefined;
  const { repository, key } = page;
  return {
    fields: ['closed'],
    begin: (each) => each,
    async write() {
      const number = key.prNumber as PrNumber;
      const { headSha } = entry.pr;
      await page.hosting.settleLanded({ repository, number, headSha, landedSha: landed.sha, mergeMethod });
      return (each) => ({ ...each, closed });
    },
  };
}

interface WrittenParts {
  readonly outcomes: readonly PartOutcome[];
  /** The version that the page shows if every part was written. */
  readonly shown?: ShownVersion;
}

interface PartOutcome {
  readonly part: PagePart;
  readonly result: PromiseSettledResult<(note: Note) => Note>;
}

/** Writes every part, also after one failed. */
async function writeParts({ writer }: PageWrite, parts: PageParts): Promise<readonly PartOutcome[]> {
  const both = await Promise.all([
    settle(parts.comment).finally(() => writer.skip('comment')),
    settle(parts.check).finally(() => writer.skip('check')),
  ]);
  const outcomes = [...both, await settle(parts.labels), await settle(parts.settle)];
  return outcomes.filter((outcome) => outcome !== undefined);
}

async function settle(part: PagePart | undefined): Promise<PartOutcome | undefined> {
  if (part === undefined) return undefined;
  const [result] = await Promise.allSettled([part.write()]);
  return { part, result };
}

/** Whether it was the last write to the page. Undefined: the lease was lost, and its present holder writes again. */
async function endLease(
  { app, key, attempt }: PageWrite,
  before: Note,
  { outcomes, shown }: WrittenParts,
): Promise<boolean | undefined> {
  const isAll = shown !== undefined && outcomes.every(({ result }) => result.status === 'fulfilled');
  let isLastWrite: boolean | undefined;
  const now = app.clock.now();
  await changeNote(app, key, ({ lease, shown: _, ...present }) => {
    const isHeld = lease?.by === attempt;
    isLastWrite = isHeld ? lease.isDisturbed !== true : undefined;
    const after = outcomes.reduce<Note>((note, { part, result }) => {
      const isRefused = result.status === 'rejected' && isKnownNotApplied(result.reason);
      if (result.status === 'rejected' && !isRefused) return leaveUnanswered(note, part, now);
      if (!isHeld) return part.begin(note);
      const known = result.status === 'rejected' ? restore(note, before, part.fields) : result.value(note);
      return isLastWrite === true ? known : part.begin(known);
    }, present);
    if (!isHeld && lease !== undefined) return { ...after, lease: { ...lease, isDisturbed: true } };
    return isAll && isLastWrite === true ? { ...after, shown } : after;
  });
  return isLastWrite;
}

/** A write that leaves nothing unknown does no harm when it arrives late. */
function leaveUnanswered(note: Note, part: PagePart, now: Instant): Note {
  const begun = part.begin(note);
  return begun === note ? note : { ...begun, unansweredAt: now };
}

function restore(note: Note, before: Note, fields: PagePart['fields']): Note {
  return { ...note, ...Object.fromEntries(fields.map((field) => [field, before[field]])) };
}

const LABELS: { readonly [State in EntryState]: string } = {
  NOT_READY: 'sluice-not-ready',
  PENDING: 'sluice-queued',
  TESTING: 'sluice-testing',
  TESTS_PASSED: 'sluice-tests-passed',
  PENDING_FAILURE: 'sluice-pending-failure',
  FAILED: 'sluice-failed',
  CANCELLED: 'sluice-cancelled',
  MERGED: 'sluice-merged',
};

// SPEC G140
/** Sets the state label. It also removes the enqueueing label of an ended entry, so that a person can add it again. */
function planLabels(page: PageWrite, note: Note, { loaded, entry }: PageOfQueue): PagePart | undefined {
  const { settings } = loaded.queue;
  const states = stateLabelChange(note, entry.state, settings.stateLabelsEnabled);
  const isEnded = settings.labelCommandsEnabled && !isLive(entry.state);
  const enqueueing = isEnded && note.enqueueingLabel !== undefined ? [note.enqueueingLabel] : [];
  const remove = [...states.remove, ...enqueueing];
  if (states.add.length + remove.length === 0) return undefined;
  const { repository, key } = page;
  return {
    fields: ['labels', 'areLabelsUnknown'],
    begin: (each) => ({ ...each, labels: [...new Set([...each.labels, ...states.add])], areLabelsUnknown: true }),
    async write() {
      await page.hosting.changeLabels({ repository, number: key.prNumber as PrNumber, add: states.add, remove });
      return (each) => ({
        ...each,
        labels: each.labels.filter((label) => !states.remove.includes(label)),
        areLabelsUnknown: false,
        // A person may have added it again meanwhile.
        enqueueingLabel: isEnded && isSameLabel(each, note) ? undefined : each.enqueueingLabel,
      });
    },
  };
}

// SPEC G53
/** A pull request with a state label keeps an up-to-date one, also after labels were switched off. */
function stateLabelChange({ labels, areLabelsUnknown }: Note, state: EntryState, isEnabled: boolean) {
  if (!isEnabled && labels.length === 0) return { add: [], remove: [] };
  const wanted = LABELS[state];
  const isOn = labels.includes(wanted) && !areLabelsUnknown;
  return { add: isOn ? [] : [wanted], remove: labels.filter((label) => label !== wanted) };
}

function isSameLabel(a: Note, b: Note): boolean {
  return a.enqueueingLabel === b.enqueueingLabel && a.enqueueingLabelId === b.enqueueingLabelId;
}

const NO_COMMENT: CommentNote = { id: undefined, hash: undefined };

// SPEC G144
/** Each pull request has one comment, which is edited in place. */
function planComment(page: PageWrite, note: Note, views: readonly PageOfQueue[]): PagePart | undefined {
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
  // Without an id, an earlier attempt began to create the comment, and its answer got lost.
  const former =
    known?.id === undefined
      ? known && (await page.hosting.findOwnComment({ ...target, marker: COMMENT_MARKER }))
      : { id: known.id, nodeId: known.nodeId };
  if (former !== undefined) {
    const changed = await page.writer.writeComment({ ...target, ...former, text });
    if (changed !== undefined) return noteOf(changed, known?.isSecond);
    if (known?.isSecond === true) return { ...NO_COMMENT, isUnwanted: true };
    // An attempt after a crash must not create a third one.
    await changeNote(page.app, page.key, (note) =>
      note.lease?.by === page.attempt ? { ...note, comment: { ...NO_COMMENT, isSecond: true } } : undefined,
    );
  }
  const created = await page.writer.writeComment({ ...target, id: undefined, text });
  // A pull request that accepts no comments is locked or deleted.
  if (created === undefined) return { ...NO_COMMENT, isUnwanted: true };
  return noteOf(created, former === undefined ? known?.isSecond : true);
}

function noteOf({ id, nodeId }: Written, isSecond: true | undefined): CommentNote {
  return { id, nodeId, hash: undefined, ...(isSecond && { isSecond }) };
}
