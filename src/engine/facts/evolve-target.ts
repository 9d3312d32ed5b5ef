import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { endHold } from '../evidence/hold.ts';
import { leaveHead, takeTried } from '../evidence/suspicion.ts';
import { giveUpDirectMerge } from '../line/direct-merge.ts';
import { abandon, abandonLine } from '../line/line.ts';
import { noteTargetMoved } from '../line/search-runs.ts';
import type { HeadTried, TargetObserved } from '../model/event.ts';
import type { PrNumber } from '../model/pull-request.ts';
import type { Because } from '../model/queue.ts';
import { requiredChecks } from '../model/required.ts';
import { candidatesFor, candidatesOf } from '../model/roster.ts';
import { APPLIED, amend, ignored, type Outcome, type Work } from '../model/work.ts';

// SPEC C26
export function observeTarget(work: Work, event: TargetObserved): Outcome {
  const { queue } = work;
  if (event.head === queue.head?.sha) return ignored('The target is where it was.');
  if (queue.landing?.isBegun) return ignored('A landing is under way: its own answer says where the target is.');
  if (event.since !== queue.heads) return ignored('The target was looked at before it moved last.');
  moveTarget(work, event);
  return APPLIED;
}

/** It counts only for the blame of failures on this head: nothing lands by it. */
// SPEC V82
export function takeTry(work: Work, { head, ran, passed, sources }: HeadTried): Outcome {
  const { queue } = work;
  if (queue.head === undefined || queue.head.sha !== head) return ignored('The head is another one by now.');
  const required = requiredChecks(queue.settings, sources, queue.lastPasses);
  if (typeof required === 'string' || !required.names.every((name) => passed.includes(name)))
    return ignored('The try did not run all required checks.');
  takeTried(work, queue.head, ran);
  return APPLIED;
}

/** The target branch was pushed to outside the queue. Nothing in the line was tested on its new head. */
// SPEC C6
// SPEC L37
export function moveTarget(work: Work, to: Pick<TargetObserved, 'head' | 'isDescendant' | 'isOwn'>): void {
  const { queue } = work;
  const isFirstLook = queue.heads === 0;
  const isDescendant = to.isDescendant && queue.head !== undefined;
  startAgain(
    work,
    { ...to, isDescendant },
    { reason: to.isOwn ? 'TARGET_BRANCH_MOVED' : 'MANUAL_PUSH_TO_TARGET_BRANCH' },
  );
  if (!isFirstLook && !to.isOwn) raiseAlarm(work, queue.head?.sha, to.head);
}

interface Stray {
  readonly prNumber: PrNumber;
  readonly from: Sha;
  readonly head: Sha;
  readonly isDescendant: boolean;
}

/** The merge API of the forge merged an entry onto a commit that it was not tested with. */
export function moveTargetByStray(work: Work, { prNumber, from, ...to }: Stray): void {
  const { head } = to;
  startAgain(work, to, { reason: 'TARGET_BRANCH_MOVED', prNumber });
  const { branch } = work.queue;
  const text = `The forge merged #${prNumber} onto something else than what it was tested on: ${branch} is at ${head}, which was not tested. Everything under test starts again on it.`;
  work.effects.push({ kind: 'raise_alarm', code: 'UNPROVEN_LANDING', text, move: { from, to: head } });
}

function startAgain(
  work: Work,
  { head, isDescendant }: { readonly head: Sha | undefined; readonly isDescendant: boolean },
  because: Because,
): void {
  leaveHead(work, because, 'push');
  endHold(work, because);
  advanceTarget(work, head, { isDescendant });
  amend(work, { pushedHead: work.queue.heads });
  noteTargetMoved(work, []);
  abandonLine(work, because);
  for (const repair of candidatesFor(work.queue, 'repair')) abandon(work, repair, because);
  for (const candidate of candidatesOf(work.queue)) {
    if (candidate.purpose.kind === 'direct') giveUpDirectMerge(work, candidate);
  }
}

/** Records a new head of the target branch, whether it was landed or pushed. */
export function advanceTarget(
  work: Work,
  head: Sha | undefined,
  { isDescendant, isProven = false }: { readonly isDescendant: boolean; readonly isProven?: boolean },
): void {
  const heads = work.queue.heads + 1;
  const epochs = isDescendant ? work.queue.epochs : work.queue.epochs + 1;
  const proof = isProven ? { isProven: true as const } : {};
  const target = head === undefined ? undefined : { sha: head, ordinal: heads, epoch: epochs, ...proof };
  amend(work, { heads, epochs, head: target });
}

function raiseAlarm(work: Work, from: Sha | undefined, head: Sha | undefined): void {
  const { branch } = work.queue;
  work.effects.push(
    head === undefined
      ? { kind: 'raise_alarm', code: 'TARGET_GONE', text: `The branch ${branch} does not exist any more.` }
      : {
          kind: 'raise_alarm',
          code: 'FOREIGN_PUSH',
          text: `${branch} was moved to ${head} by somebody else. Everything under test starts again on it.`,
          ...present({ move: from && { from, to: head } }),
        },
  );
}
