import type { ComputeTargets } from '../../engine/model/effect.ts';
import { findEntry } from '../../engine/model/queue.ts';
import { computeTargets, haveLanesChanged } from '../queue/compute-targets.ts';
import { targetsOf } from '../queue/explain-targets.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';

/** Rules of a newer head are as good: the review of that head asks again if they are other ones. */
export async function computeTargetsOf(
  { app, found }: EffectRun,
  { prNumber, sha, version }: ComputeTargets,
): Promise<EffectAnswer> {
  const { queue, repository } = found;
  const asked = findEntry(queue, prNumber)?.lanesAsked;
  if (asked?.sha !== sha || asked.version !== version || queue.head === undefined) return DONE;
  const placed = await computeTargets(app, { repository, base: queue.head.sha }, { head: sha, shown: 0 });
  const targets = placed && targetsOf(placed);
  return { kind: 'event', event: { kind: 'targets_computed', prNumber, sha, version, targets } };
}

export async function reviewLanes({ app, found }: EffectRun): Promise<EffectAnswer> {
  const { head, lanes } = found.queue;
  if (head === undefined || lanes === undefined || lanes.checked === head.sha) return DONE;
  const isChanged = await haveLanesChanged(app, found.repository, { from: lanes.checked, to: head.sha });
  return { kind: 'event', event: { kind: 'lanes_reviewed', head: head.sha, isChanged } };
}
