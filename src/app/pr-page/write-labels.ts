import type { PrNumber } from '../../engine/pull-request.ts';
import { isLive } from '../../engine/queue.ts';
import { ConcurrentWrite, leftToOther } from './concurrent-write.ts';
import { stateLabelChange } from './labels.ts';
import { changeNote, type Note, readNote } from './note.ts';
import type { PageOfQueue, PageWrite } from './page-write.ts';
import { RetryAfter } from './retry-after.ts';
import { disturbed, intentOf, type WriteIntent, waitForOther } from './write-intent.ts';

/** Sets the state label. It also removes the enqueueing label of an ended entry, so that a person can add it again. */
// SPEC G140
export async function writeLabels(page: PageWrite, { loaded, entry }: PageOfQueue): Promise<void> {
  const { settings } = loaded.queue;
  const note = await readNote(page.app, page.key);
  const states = stateLabelChange({
    state: entry.state,
    isEnabled: settings.stateLabelsEnabled,
    known: note.labels,
    isUnsure: note.labelling !== undefined,
  });
  const submitting =
    settings.labelCommandsEnabled && !isLive(entry.state) && note.enqueueingLabel !== undefined
      ? [note.enqueueingLabel]
      : [];
  const remove = [...states.remove, ...submitting];
  if (states.add.length + remove.length === 0) return;
  await begin(page, note, states.add);
  const { repository, key } = page;
  await page.hosting.changeLabels({ repository, number: key.prNumber as PrNumber, add: states.add, remove });
  await finish(page, { states, submitting, submittedBy: note.enqueueingLabelId });
}

/** The note records the labels first, so that we can remove them also after a crash. */
async function begin(page: PageWrite, read: Note, add: readonly string[]): Promise<void> {
  const labelling = intentOf(page, page.app.clock.now());
  await changeNote(page.app, page.key, (note) => {
    const waitMs = waitForOther(note.labelling, page.id, labelling.at);
    if (waitMs > 0) throw new RetryAfter(waitMs);
    if (note.labels.join() !== read.labels.join()) throw new ConcurrentWrite();
    return { ...note, labels: [...new Set([...note.labels, ...add])], labelling };
  });
}

interface Changed {
  readonly states: { readonly add: readonly string[]; readonly remove: readonly string[] };
  readonly submitting: readonly string[];
  readonly submittedBy: string | undefined;
}

async function finish(page: PageWrite, { states, submitting, submittedBy }: Changed): Promise<void> {
  let found: WriteIntent | undefined;
  await changeNote(page.app, page.key, ({ labelling, ...note }) => {
    found = labelling;
    // A person may have added it again meanwhile.
    const isOff = submitting.includes(note.enqueueingLabel ?? '') && note.enqueueingLabelId === submittedBy;
    const enqueueingLabel = isOff ? undefined : note.enqueueingLabel;
    if (labelling?.by === page.turn && labelling.isDisturbed !== true) {
      return { ...note, labels: note.labels.filter((label) => !states.remove.includes(label)), enqueueingLabel };
    }
    // Another writer changed labels meanwhile: any of these may be present, and all of them are ours to remove.
    const labels = [...new Set([...note.labels, ...states.add, ...states.remove])];
    return {
      ...note,
      labels,
      enqueueingLabel,
      labelling: disturbed(labelling ?? intentOf(page, page.app.clock.now())),
    };
  });
  if (found !== undefined && found.by !== page.turn) throw leftToOther();
  if (found === undefined || found.isDisturbed === true) throw new ConcurrentWrite();
}
