import { setImmediate as otherRequests } from 'node:timers/promises';
import type { ReplyOf } from '../../contract/operation.ts';
import type { adviseQueue as contract } from '../../contract/queues.ts';
import type { Queue } from '../../engine/queue.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { present } from '../../lib/present.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { measure } from '../../policy/measure.ts';
import type { Outcome } from '../../policy/referee.ts';
import { playSluice } from '../../policy/sluice.ts';
import { type Change, HOUR_MS, type Workload } from '../../policy/workload.ts';
import { adviceText, ENOUGH_DECIDED, type Replay, RUN_COST_WORDS, tooFewText } from '../../words/advice.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, type QueueRef } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { readQueueHistory } from './queue-history.ts';

type AdviceView = ReplyOf<typeof contract>;

const MOST_DECIDED = 500;
/** Busy queues are read for a day only. */
const WINDOWS_DAYS = [1, 7, 30, 90];
/** Other requests wait at most about this long. */
const TURN_MS = 10;
/** A replay that takes more is cut off: no history of this length needs them. */
const MOST_STEPS = 200_000;

/** One replay at a time in each server. */
const turns = new Semaphore(1);
/** A queue is immutable: its history is replayed once. */
const known = new WeakMap<Queue, Promise<AdviceView>>();

// SPEC K26
export async function adviseQueue(app: App, caller: Caller, ref: QueueRef): Answer<AdviceView> {
  const found = await findQueue(app, caller, ref);
  if (isRefusal(found)) return found;
  const { queue } = found;
  const advice = known.get(queue) ?? turns.run(() => advise(app, found));
  known.set(queue, advice);
  advice.catch(() => known.delete(queue));
  return advice;
}

async function advise(app: App, found: FoundQueue): Promise<AdviceView> {
  const changes = await readDecided(app, found);
  const decided = changes.length;
  if (decided < ENOUGH_DECIDED) return { decided, text: tooFewText(decided), replays: [] };
  const { settings } = found.queue;
  const now = await replay(changes, settings, undefined);
  const others: Replay[] = [];
  for (const runCost of RUN_COST_WORDS.keys()) {
    others.push(await replay(changes, { ...settings, optimizationMode: 'ADAPTIVE', runCost }, runCost));
  }
  return { decided, text: adviceText(now, others), replays: [now, ...others].map(viewReplay) };
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
  return decided.slice(-MOST_DECIDED).map((change, index) => ({ ...change, number: index + 1 }));
}

async function replay(
  changes: readonly Change[],
  settings: QueueSettings,
  runCost: number | undefined,
): Promise<Replay> {
  const workload = { source: '', changes, chance: { seed: '1', flakeRate: 0, gitMs: 0 } };
  const { runsPerDecided, timeToLandMinutes } = measure([{ workload, outcome: await play(workload, settings) }]);
  const { p50, p95 } = timeToLandMinutes;
  return { runCost, runsPerDecided, p50Minutes: p50 ?? undefined, p95Minutes: p95 ?? undefined };
}

// SPEC K28
async function play(workload: Workload, settings: QueueSettings): Promise<Outcome> {
  const game = playSluice(workload, settings);
  let turnEndsAt = performance.now() + TURN_MS;
  for (let steps = 1; ; steps += 1) {
    const { done, value } = game.next();
    if (done || steps >= MOST_STEPS) return value;
    if (performance.now() < turnEndsAt) continue;
    await otherRequests();
    turnEndsAt = performance.now() + TURN_MS;
  }
}
