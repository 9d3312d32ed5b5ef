import type { PrNumber } from '../../engine/pull-request.ts';
import { type EntryState, isLive } from '../../engine/queue.ts';
import type { Note } from './note.ts';
import type { PageOfQueue, PagePart, PageWrite } from './page-write.ts';

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
export function planLabels(page: PageWrite, note: Note, { loaded, entry }: PageOfQueue): PagePart | undefined {
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
