import type { Meeting, Queue } from '../../engine/model/queue.ts';
import type { Change } from '../../policy/workload.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { BUSY_TEXT, ENOUGH_DECIDED } from '../../words/advice.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, type QueueRef } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';
import { type Decided, MOST_STEPS, MOST_WAITING, readDecided, renumber, replay, replaying } from './advise-queue.ts';

type Reason = Pick<Meeting, 'kind' | 'name'>;

export interface Saving extends Reason {
  readonly p50MinutesNow: number;
  readonly p50MinutesWithout: number;
}

/** The savings of rules for the barrier and the target that most often put two pull requests into one lane. */
// SPEC T20
export async function findSavings(
  app: App,
  caller: Caller,
  { withSavings = false, ...ref }: QueueRef & { readonly withSavings?: boolean },
): Answer<readonly Saving[]> {
  const found = withSavings ? await findQueue(app, caller, ref) : undefined;
  if (found === undefined || isRefusal(found)) return found ?? [];
  const reasons = topReasons(found.queue);
  if (reasons.length === 0) return [];
  if (replaying.waiting >= MOST_WAITING) return refuse('RATE_LIMITED', BUSY_TEXT);
  return replaying.run(async () => savingsOf(app.simulator, await readDecided(app, found), { found, reasons }));
}

function topReasons({ meetings }: Queue): readonly Reason[] {
  return (['BARRIER', 'TARGET'] as const).flatMap((kind) => meetings.find((meeting) => meeting.kind === kind) ?? []);
}

async function savingsOf(
  simulator: Simulator,
  { changes, barriers }: Decided,
  { found, reasons }: { readonly found: FoundQueue; readonly reasons: readonly Reason[] },
): Promise<readonly Saving[]> {
  const play = async (played: readonly Change[]) => {
    const input = { changes: played.map(renumber), settings: found.queue.settings, mostSteps: MOST_STEPS };
    return (await replay(simulator, input))?.p50Minutes;
  };
  for (let kept = changes; kept.length >= ENOUGH_DECIDED; kept = kept.slice(Math.ceil(kept.length / 2))) {
    const p50MinutesNow = await play(kept);
    if (p50MinutesNow === undefined) continue;
    const savings: Saving[] = [];
    for (const reason of reasons) {
      const p50MinutesWithout = await play(kept.map((change) => without(change, reason, barriers)));
      if (p50MinutesWithout !== undefined) savings.push({ ...reason, p50MinutesNow, p50MinutesWithout });
    }
    return savings;
  }
  return [];
}

/** A barrier becomes a target of its own, and a target so small that no two pull requests share it. */
function without(change: Change, { kind, name }: Reason, barriers: Decided['barriers']): Change {
  if (kind === 'BARRIER') return barriers.get(change.number) === name ? { ...change, targets: [name] } : change;
  return change.targets === undefined
    ? change
    : { ...change, targets: change.targets.filter((target) => target !== name) };
}
