import type { PrNumber } from '../../engine/pull-request.ts';
import { isLive } from '../../engine/queue.ts';
import { ConcurrentWrite, leftToOther } from './concurrent-write.ts';
import { stateLabelChange } from './labels.ts';
import { changeNote, type Note, readNote } from './note.ts';
import type { PageOfQueue, PageWrite } from './page-write.ts';
import { RetryAfter } from './retry-after.ts';
import { disturbed, intentOf, type WriteIntent, waitForOther } from './write-intent.ts';

/** Its state as a label; and the label that submitted it is taken off when it has left, so that it can be put on again. */
export async function writeLabels(talk: PageWrite, { loaded, entry }: PageOfQueue): Promise<void> {
  const { settings } = loaded.queue;
  const note = await readNote(talk.app, talk.key);
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
  await begin(talk, note, states.add);
  const { repository, key } = talk;
  await talk.hosting.changeLabels({ repository, number: key.prNumber as PrNumber, add: states.add, remove });
  await finish(talk, { states, submitting, submittedBy: note.enqueueingLabelId });
}

/** Noted first: what we put on it is ours to take off, also after a crash. */
async function begin(talk: PageWrite, read: Note, add: readonly string[]): Promise<void> {
  const labelling = intentOf(talk, talk.app.clock.now());
  await changeNote(talk.app, talk.key, (note) => {
    const waitMs = waitForOther(note.labelling, talk.id, labelling.at);
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

async function finish(talk: PageWrite, { states, submitting, submittedBy }: Changed): Promise<void> {
  let found: WriteIntent | undefined;
  await changeNote(talk.app, talk.key, ({ labelling, ...note }) => {
    found = labelling;
    // Somebody may have put it on again before that was noted.
    const isOff = submitting.includes(note.enqueueingLabel ?? '') && note.enqueueingLabelId === submittedBy;
    const enqueueingLabel = isOff ? undefined : note.enqueueingLabel;
    if (labelling?.by === talk.turn && labelling.isDisturbed !== true) {
      return { ...note, labels: note.labels.filter((label) => !states.remove.includes(label)), enqueueingLabel };
    }
    // What another put on it or took off meanwhile may be on it, or not: all of it is ours to take off.
    const labels = [...new Set([...note.labels, ...states.add, ...states.remove])];
    return {
      ...note,
      labels,
      enqueueingLabel,
      labelling: disturbed(labelling ?? intentOf(talk, talk.app.clock.now())),
    };
  });
  if (found !== undefined && found.by !== talk.turn) throw leftToOther();
  if (found === undefined || found.isDisturbed === true) throw new ConcurrentWrite();
}
