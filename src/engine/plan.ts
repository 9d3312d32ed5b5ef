import { changedKeys, getIn } from '../lib/int-map.ts';
import { admittedInOrder, notReadyInOrder } from './order.ts';
import { type Entry, isAdmitted, withMode } from './queue.ts';
import { isReady, readinessOf } from './readiness.ts';
import { move, type Work } from './work.ts';

/** Decides what follows from the state. Running it again on its own result changes nothing. */
export function plan(work: Work): void {
  finishModeSwitch(work);
  admitReady(work);
}

function finishModeSwitch(work: Work): void {
  const { queue } = work;
  if (queue.modeSwitch === undefined || admittedInOrder(queue).length > 0) return;
  const { to, from } = queue.modeSwitch;
  work.queue = withMode({ ...queue, state: from, modeSwitch: undefined }, to);
}

function admitReady(work: Work): void {
  if (work.queue.state !== 'RUNNING') return;
  for (const entry of reconsidered(work)) {
    if (isReady(readinessOf(work.queue, entry))) admit(work, entry);
  }
}

/**
 * Entries that may have become ready: all that wait when the queue itself changed, otherwise those that this step
 * changed, so that the cost of a step does not grow with the length of the queue.
 */
function reconsidered({ before, queue }: Work): Entry[] {
  if (queue.state !== before.state || queue.settings !== before.settings) return notReadyInOrder(queue);
  return changedKeys(before.entries, queue.entries).flatMap((prNumber) => {
    const entry = getIn(queue.entries, prNumber);
    return entry === undefined || isAdmitted(entry) ? [] : [entry];
  });
}

function admit(work: Work, entry: Entry): void {
  const ordinal = work.queue.admissions + 1;
  work.queue = { ...work.queue, admissions: ordinal };
  move(work, { ...entry, admission: { at: work.at, ordinal } }, { to: 'PENDING', reason: 'MERGE_ITEM_NOW_READY' });
}
