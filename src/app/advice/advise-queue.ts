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
import { type Change, HOUR_MS } from '../../policy/workload.ts';
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
/** Other requests wait at most about this long. */
const TURN_MS = 10;
/** Four for each pull request are usual. Long lines that fail often need many more, and each takes longer. */
const MOST_STEPS = 4000;
/** With hundreds of slots a step may take so long that time is the limit: 5 s for each replay. */
const MOST_TURNS = 500;

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
  return adviseOn(await readDecided(app, found), found.queue.settings);
}

/** Steps are counted rather than time, so that most histories have the same advice on every machine. */
// SPEC K28
export async function adviseOn(
  decided: readonly Change[],
  settings: QueueSettings,
  mostSteps = MOST_STEPS,
): Promise<AdviceView> {
  if (decided.length < ENOUGH_DECIDED)
    return { decided: decided.length, text: tooFewText(decided.length), replays: [] };
  let changes = decided;
  while (changes.length >= ENOUGH_DECIDED) {
    const replays = await replayAll(changes.map(renumber), settings, mostSteps);
    if (replays !== undefined) return { decided: changes.length, ...replays };
    changes = changes.slice(Math.ceil(changes.length / 2));
  }
  return { decided: decided.length, text: TOO_LONG_TEXT, replays: [] };
}

function renumber(change: Change, index: number): Change {
  return { ...change, number: index + 1 };
}

async function replayAll(
  changes: readonly Change[],
  settings: QueueSettings,
  mostSteps: number,
): Promise<Pick<AdviceView, 'text' | 'replays'> | undefined> {
  const now = await replay(changes, settings, mostSteps);
  if (now === undefined) return undefined;
  const others: Replay[] = [];
  for (const runCost of RUN_COST_WORDS.keys()) {
    const other = await replay(changes, { ...settings, optimizationMode: 'ADAPTIVE', runCost }, mostSteps);
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
async function replay(
  changes: readonly Change[],
  settings: QueueSettings,
  mostSteps: number,
): Promise<Replay | undefined> {
  const workload = { source: '', changes, chance: { seed: '1', flakeRate: 0, gitMs: 0 } };
  const outcome = await play(playSluice(workload, settings), mostSteps);
  if (outcome === undefined) return undefined;
  const { runsPerDecided, timeToLandMinutes } = measure([{ workload, outcome }]);
  const { p50, p95 } = timeToLandMinutes;
  return { runCost: undefined, runsPerDecided, p50Minutes: p50 ?? undefined, p95Minutes: p95 ?? undefined };
}

async function play(game: Generator<void, Outcome>, mostSteps: number): Promise<Outcome | undefined> {
  let turnEndsAt = performance.now() + TURN_MS;
  let turns = 1;
  for (let steps = 0; steps < mostSteps && turns <= MOST_TURNS; steps += 1) {
    const step = game.next();
    if (step.done) return step.value;
    if (performance.now() < turnEndsAt) continue;
    await otherRequests();
    turns += 1;
    turnEndsAt = performance.now() + TURN_MS;
  }
  return undefined;
}
