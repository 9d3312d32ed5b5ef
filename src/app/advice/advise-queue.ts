import type { ReplyOf } from '../../contract/operation.ts';
import type { adviseQueue as contract } from '../../contract/queues.ts';
import type { Queue } from '../../engine/queue.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { present } from '../../lib/present.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { type Change, HOUR_MS } from '../../policy/workload.ts';
import type { ReplayInput, Simulator } from '../../simulator/simulator.ts';
import {
  adviceText,
  ENOUGH_DECIDED,
  type Replay,
  RUN_COST_WORDS,
  TOO_LONG_TEXT,
  tooFewText,
} from '../../words/advice.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, type QueueRef } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { readQueueHistory } from './queue-history.ts';

type AdviceView = ReplyOf<typeof contract>;

const MOST_DECIDED = 500;
/** Busy queues are read for a day only. */
const WINDOWS_DAYS = [1, 7, 30, 90];
/** Four for each pull request are usual. Long lines that fail often need many more, and each takes longer. */
const MOST_STEPS = 4000;

/** One replay at a time in each server. */
const replaying = new Semaphore(1);
/** A queue is immutable: its history is replayed once. */
const known = new WeakMap<Queue, Promise<AdviceView>>();

// SPEC K26
export async function adviseQueue(app: App, caller: Caller, ref: QueueRef): Answer<AdviceView> {
  const found = await findQueue(app, caller, ref);
  if (isRefusal(found)) return found;
  const { queue } = found;
  const advice = known.get(queue) ?? replaying.run(() => advise(app, found));
  known.set(queue, advice);
  advice.catch(() => known.delete(queue));
  return advice;
}

async function advise(app: App, found: FoundQueue): Promise<AdviceView> {
  return adviseOn(app.simulator, await readDecided(app, found), found.queue.settings);
}

/** Steps are counted rather than time, so that most histories have the same advice on every machine. */
// SPEC K28
export async function adviseOn(
  simulator: Simulator,
  decided: readonly Change[],
  settings: QueueSettings,
  mostSteps = MOST_STEPS,
): Promise<AdviceView> {
  if (decided.length < ENOUGH_DECIDED)
    return { decided: decided.length, text: tooFewText(decided.length), replays: [] };
  let changes = decided;
  while (changes.length >= ENOUGH_DECIDED) {
    const replays = await replayAll(simulator, { changes: changes.map(renumber), settings, mostSteps });
    if (replays !== undefined) return { decided: changes.length, ...replays };
    changes = changes.slice(Math.ceil(changes.length / 2));
  }
  return { decided: decided.length, text: TOO_LONG_TEXT, replays: [] };
}

function renumber(change: Change, index: number): Change {
  return { ...change, number: index + 1 };
}

async function replayAll(
  simulator: Simulator,
  played: ReplayInput,
): Promise<Pick<AdviceView, 'text' | 'replays'> | undefined> {
  const now = await replay(simulator, played);
  if (now === undefined) return undefined;
  const others: Replay[] = [];
  for (const runCost of RUN_COST_WORDS.keys()) {
    const settings: QueueSettings = { ...played.settings, optimizationMode: 'ADAPTIVE', runCost };
    const other = await replay(simulator, { ...played, settings });
    if (other === undefined) return undefined;
    others.push({ ...other, runCost });
  }
  return { text: adviceText(now, others), replays: [now, ...others].map(viewReplay) };
}

function viewReplay({ runsPerDecided, ...others }: Replay): AdviceView['replays'][number] {
  return { runsPerDecided, ...present(others) };
}

/** The latest pull requests that landed or failed by a test, as a workload. */
async function readDecided({ store, clock }: App, found: FoundQueue): Promise<readonly Change[]> {
  const until = clock.now();
  let decided: readonly Change[] = [];
  for (const days of WINDOWS_DAYS) {
    const history = await readQueueHistory(store, found, { from: until - days * 24 * HOUR_MS, until });
    decided = (history?.changes ?? []).filter(({ isUnmergeable }) => !isUnmergeable);
    if (decided.length >= MOST_DECIDED) break;
  }
  return decided.slice(-MOST_DECIDED);
}

/** Undefined if it takes too many steps. */
async function replay(simulator: Simulator, played: ReplayInput): Promise<Replay | undefined> {
  const measured = await simulator.replay(played);
  if (measured === undefined) return undefined;
  const { runsPerDecided, timeToLandMinutes } = measured;
  const { p50, p95 } = timeToLandMinutes;
  return { runCost: undefined, runsPerDecided, p50Minutes: p50 ?? undefined, p95Minutes: p95 ?? undefined };
}
