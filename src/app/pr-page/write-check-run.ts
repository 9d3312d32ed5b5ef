import type { Entry, EntryState } from '../../engine/model/queue.ts';
import type { CheckRunDraft, Written } from '../../forge/hosting.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import type { PageFacts } from './collect-page-facts.ts';
import { joinLines, tame } from './markdown.ts';
import { type CheckNote, type Note, readNote } from './note.ts';
import { digestOf, type PageOfQueue, type PagePart, type PageWrite } from './page-write.ts';
import { renderSituation, titleOf } from './render-comment.ts';

// SPEC G143
/** Shows the state as a check run on the queued head, one for each submission. */
export function planCheckRun(page: PageWrite, note: Note, { loaded, entry, facts }: PageOfQueue): PagePart | undefined {
  if (page.hosting.writeCheck === undefined) return undefined;
  const { settings } = loaded.queue;
  const last = note.checks[loaded.id];
  const known = last?.submission === entry.submission ? last : undefined;
  // The entry left and was submitted again before the page was updated.
  if (last?.isOpen === true && known === undefined) {
    const draft = draftOfFormer(page, loaded, last);
    return { ...partOf(page, loaded, { noted: last, draft }), isPreliminary: true };
  }
  const full = renderCheckRun(facts);
  // An open check run is completed also after the setting was switched off: it would run for ever.
  // A push removed the entry, and its new head was never in the queue.
  const isOnItsHead = entry.admission !== undefined && entry.because.reason !== 'PR_PUSHED_TO';
  if (known === undefined && (!settings.statusCheckEnabled || !isOnItsHead)) return undefined;
  const text = settings.commentsEnabled ? briefly(full) : full;
  if (known !== undefined && known.hash === digestOfText(text)) return undefined;
  const noted = known ?? begin(entry);
  const draft = draftOf(page, loaded, { noted, text, endedAt: entry.stateChangedAt, url: facts.dashboard });
  return partOf(page, loaded, { noted, draft: { ...draft, mayExist: known !== undefined } });
}

function partOf(
  page: PageWrite,
  loaded: LoadedQueue,
  { noted, draft }: { readonly noted: CheckNote; readonly draft: CheckRunDraft },
): PagePart {
  const isOpen = draft.status !== 'COMPLETED';
  return {
    fields: ['checks'],
    begin(note) {
      const found = note.checks[loaded.id] ?? noted;
      if (found.submission > noted.submission) return note;
      const known = found.submission === noted.submission ? found : noted;
      return withCheck(note, loaded.id, withOpen({ ...known, hash: undefined }, isOpen || known.isOpen === true));
    },
    async write() {
      const written = await writeCheck(page, draft);
      if (isOpen) await endIfFormer(page, loaded, noted);
      const check = withOpen({ ...noted, ...written, hash: digestOfText(draft) }, isOpen);
      return (note) => (written === undefined ? note : withCheck(note, loaded.id, check));
    },
  };
}

/** A check run that is gone is created again. */
async function writeCheck({ writer }: PageWrite, draft: CheckRunDraft): Promise<Written | undefined> {
  const written = await writer.writeCheck(draft);
  if (written !== undefined || draft.id === undefined) return written;
  return writer.writeCheck({ ...draft, id: undefined, mayExist: true });
}

/** A server that hung may open the check run of a submission again after the next one began. */
async function endIfFormer(page: PageWrite, loaded: LoadedQueue, noted: CheckNote): Promise<void> {
  const present = (await readNote(page.app, page.key)).checks[loaded.id];
  if (present === undefined || present.submission <= noted.submission) return;
  await page.hosting.writeCheck?.(draftOfFormer(page, loaded, noted));
}

function draftOfFormer(page: PageWrite, loaded: LoadedQueue, noted: CheckNote): CheckRunDraft {
  const summary = 'It left the queue, and was submitted again.';
  const text = { status: 'COMPLETED', conclusion: 'CANCELLED', title: 'Submitted again', summary } as const;
  return draftOf(page, loaded, { noted, text, endedAt: page.app.clock.now() });
}

interface CheckFacts {
  readonly noted: CheckNote;
  readonly text: Omit<CheckText, 'name'>;
  readonly endedAt: number;
  readonly url?: string | undefined;
}

function draftOf(
  page: PageWrite,
  { id, queue }: LoadedQueue,
  { noted, text, endedAt, url }: CheckFacts,
): CheckRunDraft {
  const { headSha, submission, startedAt } = noted;
  return {
    repository: page.repository,
    id: noted.id,
    nodeId: noted.nodeId,
    mayExist: true,
    headSha,
    name: checkNameOf(queue.branch),
    ...text,
    externalId: `${id}/${page.key.prNumber}/${submission}`,
    url,
    startedAt,
    completedAt: text.status === 'COMPLETED' ? Math.max(startedAt, endedAt) : undefined,
  };
}

/** Until the end the check run only says "in the queue": the comment shows the progress, at half the writes. */
function briefly(text: CheckText): CheckText {
  if (text.status === 'COMPLETED') return text;
  const summary = 'The comment on the pull request says how it stands.';
  return { ...text, status: 'IN_PROGRESS', title: 'In the queue', summary };
}

function digestOfText({ status, conclusion, title, summary }: Omit<CheckText, 'name'>): string {
  return digestOf(status, conclusion, title, status === 'COMPLETED' ? summary : undefined);
}

function withCheck(note: Note, queueId: QueueId, check: CheckNote): Note {
  return { ...note, checks: { ...note.checks, [queueId]: check } };
}

function withOpen({ isOpen: _isOpen, ...note }: CheckNote, isOpen: boolean): CheckNote {
  return isOpen ? { ...note, isOpen } : note;
}

function begin(entry: Entry): CheckNote {
  const startedAt = entry.admission?.at ?? entry.stateChangedAt;
  const { submission } = entry;
  return { id: undefined, headSha: entry.pr.headSha, submission, startedAt, hash: undefined, isOpen: true };
}

/** GitHub's limit is 65,535. */
const MAX_SUMMARY = 60_000;

type CheckText = Pick<CheckRunDraft, 'name' | 'status' | 'conclusion' | 'title' | 'summary'>;

/** The state of the pull request as a check run on its head. */
// SPEC G48
export function renderCheckRun(situation: PageFacts): CheckText {
  return {
    name: checkNameOf(situation.branch),
    ...STEPS[situation.entry.state],
    title: tame(titleOf(situation), 250),
    summary: joinLines(renderSituation(situation).slice(1), MAX_SUMMARY, '*There is more.*').trim(),
  };
}

function checkNameOf(branch: string): string {
  return `Sluice (${tame(branch, 200)})`;
}

const STEPS: { readonly [State in EntryState]: Pick<CheckRunDraft, 'status' | 'conclusion'> } = {
  // After its admission: it left the line with one that it is built on.
  NOT_READY: { status: 'QUEUED', conclusion: undefined },
  PENDING: { status: 'QUEUED', conclusion: undefined },
  TESTING: { status: 'IN_PROGRESS', conclusion: undefined },
  PENDING_FAILURE: { status: 'IN_PROGRESS', conclusion: undefined },
  TESTS_PASSED: { status: 'IN_PROGRESS', conclusion: undefined },
  MERGED: { status: 'COMPLETED', conclusion: 'SUCCESS' },
  FAILED: { status: 'COMPLETED', conclusion: 'FAILURE' },
  CANCELLED: { status: 'COMPLETED', conclusion: 'CANCELLED' },
};
