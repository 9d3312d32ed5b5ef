import type { findBreakage as operation } from '../../contract/breakage.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { findingOf } from '../../engine/evidence/breakage.ts';
import type { Queue } from '../../engine/model/queue.ts';
import { present } from '../../lib/present.ts';
import { breakageText } from '../../words/queue.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, runEvent } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';

export type BreakageView = ReplyOf<typeof operation>;

// SPEC V90
export async function findBreakage(app: App, caller: Caller, input: RequestOf<typeof operation>): Answer<BreakageView> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { again } = input;
  const asked = await runEvent(app, found, () => ({
    ...{ kind: 'breakage_asked' as const, at: app.clock.now(), actor: caller.name },
    ...present({ again }),
  }));
  if (isRefusal(asked)) return asked;
  const reading = { state: 'SEARCHING', commits: 0, runs: 0, text: 'The commits of the branch are read.' };
  return viewBreakage(asked.queue) ?? reading;
}

/** Undefined while the queue does not search. */
export function viewBreakage(queue: Pick<Queue, 'branch' | 'hold'>): BreakageView | undefined {
  const { hold } = queue;
  const text = breakageText(queue);
  if (hold?.breakage === undefined || text === undefined) return undefined;
  const { line, runs, isGivenUp } = hold.breakage;
  const finding = findingOf(hold);
  const { culprit, before } = finding ?? {};
  const open = isGivenUp ? 'UNKNOWN' : 'SEARCHING';
  const end = culprit === undefined ? 'OUTSIDE' : 'FOUND';
  return {
    state: finding === undefined ? open : end,
    ...{ commits: line.length - 1, runs },
    ...present({ commit: culprit?.sha, before: culprit && before, prNumber: culprit?.prNumber }),
    text,
  };
}
