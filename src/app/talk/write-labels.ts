import type { PrNumber } from '../../engine/pull-request.ts';
import { isLive } from '../../engine/queue.ts';
import { stateLabelChange } from './labels.ts';
import { changeNote, readNote } from './note.ts';
import { Overtaken } from './overtaken.ts';
import type { Talk, View } from './talk.ts';

/** Its state as a label; and the label that submitted it is taken off when it has left, so that it can be put on again. */
export async function writeLabels(talk: Talk, { loaded, entry }: View): Promise<void> {
  const { settings } = loaded.queue;
  const note = await readNote(talk.app, talk.key);
  const states = stateLabelChange({
    state: entry.state,
    isEnabled: settings.stateLabelsEnabled,
    known: note.labels,
  });
  const submitting =
    settings.labelCommandsEnabled && !isLive(entry.state) && note.enqueueingLabel !== undefined
      ? [note.enqueueingLabel]
      : [];
  const remove = [...states.remove, ...submitting];
  if (states.add.length + remove.length === 0) return;
  // Noted first: what we put on it is ours to take off, also after a crash.
  const noted =
    states.add.length === 0
      ? note
      : await changeNote(talk.app, talk.key, (known) => ({
          ...known,
          labels: [...new Set([...known.labels, ...states.add])],
        }));
  const { repository, key } = talk;
  await talk.hosting.changeLabels({ repository, number: key.prNumber as PrNumber, add: states.add, remove });
  let isOurs = false;
  await changeNote(talk.app, talk.key, (known) => {
    isOurs = known.labels.join() === noted.labels.join();
    return {
      ...known,
      // What another put on it or took off meanwhile may be on it, or not: all of it is ours to take off.
      labels: isOurs
        ? known.labels.filter((label) => !states.remove.includes(label))
        : [...new Set([...known.labels, ...noted.labels])],
      enqueueingLabel: submitting.includes(known.enqueueingLabel ?? '') ? undefined : known.enqueueingLabel,
    };
  });
  if (!isOurs) throw new Overtaken();
}
