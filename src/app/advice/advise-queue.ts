import type { ReplyOf } from '../../contract/operation.ts';
import type { adviseQueue as contract } from '../../contract/queues.ts';
import type { Queue } from '../../engine/model/queue.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import { memo } from '../../lib/memo.ts';
import { present } from '../../lib/present.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { type Change, HOUR_MS } from '../../policy/workload.ts';
import type { ReplayInput, Simulator } from '../../simulator/simulator.ts';
import {
  adviceText,
  BUSY_TEXT,
  ENOUGH_DECIDED,
  type Replay,
  RUN_COST_WORDS,
  TOO_LONG_TEXT,
  tooFewText,
  triedText,
} from '../../words/advice.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, type QueueRef } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';
import { type QueueHistory, readQueueHistory } from './queue-history.ts';

type AdviceView = ReplyOf<typeof contract>;

const MOST_DECIDED = 500;
/** Busy queues are read for a day only. */
const WINDOWS_DAYS = [1, 7, 30, 90];
/** Four for each pull request are usual. Long lines that fail often need many more, and each takes longer. */
export const MOST_STEPS = 4000;

/** One replay at a time in each server. */
export const replaying = new Semaphore(1);
/** More that wait would keep forecasts waiting too: they are made on the same thread. */
export const MOST_WAITING = 8;

/** A queue is immutable: its history is replayed once, and once with each of the latest settings that were tried. */
const advicesOn = memo((_queue: Queue) => new Map<string, Promise<AdviceView>>());
const MOST_KNOWN = 32;

export type TriedSettings = Partial<Pick<QueueSettings, 'mode' | 'concurrency' | 'optimizationMode' | 'runCost'>>;

// SPEC K26
export async function adviseQueue(
  app: App,
  caller: Caller,
  { settings, ...ref }: QueueRef & { readonly settings?: TriedSettings | undefined },
): Answer<AdviceView> {
  const found = await findQueue(app, caller, ref);
  if (isRefusal(found)) return found;
  const advices = advicesOn(found.queue);
  const key = JSON.stringify(settings ?? null);
  const before = advices.get(key);
  if (before !== undefined) return before;
  if (replaying.waiting >= MOST_WAITING) return refuse('RATE_LIMITED', BUSY_TEXT);
  const advice = replaying.run(async () => {
    const { changes } = await readDecided(app, found);
    return adviseOn(app.simulator, changes, { settings: found.queue.settings, tried: settings });
  });
  if (advices.size >= MOST_KNOWN) advices.delete(advices.keys().next().value ?? '');
  advices.set(key, advice);
  advice.catch(() => advices.delete(key));
  return advice;
}

interface Compared {
  readonly settings: QueueSettings;
  /** Undefined: ADAPTIVE at five costs of a run. */
  readonly tried?: TriedSettings | undefined;
  readonly mostSteps?: number;
}

/** Steps are counted rather than time, so that most histories have the same advice on every machine. */
// SPEC K28
export async function adviseOn(
  simulator: Simulator,
  decided: readonly Change[],
  { settings, tried, mostSteps = MOST_STEPS }: Compared,
): Promise<AdviceView> {
  if (decided.length < ENOUGH_DECIDED)
    return { decided: decided.length, text: tooFewText(decided.length), replays: [] };
  let changes = decided;
  while (changes.length >= ENOUGH_DECIDED) {
    const played = { changes: changes.map(renumber), settings, mostSteps };
    const replays = await (tried === undefined ? replayAll(simulator, played) : replayTried(simulator, played, tried));
    if (replays !== undefined) return { decided: changes.length, ...replays };
    changes = changes.slice(Math.ceil(changes.length / 2));
  }
  return { decided: decided.length, text: TOO_LONG_TEXT, replays: [] };
}

export function renumber(change: Change, index: number): Change {
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

// SPEC K32
async function replayTried(
  simulator: Simulator,
  played: ReplayInput,
  tried: TriedSettings,
): Promise<Pick<AdviceView, 'text' | 'replays'> | undefined> {
  const settings: QueueSettings = { ...played.settings, ...tried };
  const now = await replay(simulator, played);
  const other = now && (await replay(simulator, { ...played, settings }));
  if (now === undefined || other === undefined) return undefined;
  const runCost = settings.optimizationMode === 'ADAPTIVE' ? settings.runCost : undefined;
  return { text: triedText(now, other), replays: [now, { ...other, runCost }].map(viewReplay) };
}

function viewReplay({ runsPerDecided, ciHours, ...others }: Replay): AdviceView['replays'][number] {
  return { runsPerDecided, ciHours, ...present(others) };
}

export type Decided = Pick<QueueHistory, 'changes' | 'barriers'>;

/** The latest pull requests that landed or failed by a test, as a workload. */
export async function readDecided({ store, clock }: App, found: FoundQueue): Promise<Decided> {
  const until = clock.now();
  let decided: Decided = { changes: [], barriers: new Map() };
  for (const days of WINDOWS_DAYS) {
    const history = await readQueueHistory(store, found, { from: until - days * 24 * HOUR_MS, until });
    const changes = (history?.changes ?? []).filter(({ isUnmergeable }) => !isUnmergeable);
    decided = { changes: changes.slice(-MOST_DECIDED), barriers: history?.barriers ?? new Map() };
    if (changes.length >= MOST_DECIDED) break;
  }
  return decided;
}

/** Undefined if it takes too many steps. */
export async function replay(simulator: Simulator, played: ReplayInput): Promise<Replay | undefined> {
  const measured = await simulator.replay(played);
  if (measured === undefined) return undefined;
  const { runsPerDecided, ciHours, timeToLandMinutes } = measured;
  const { p50, p95 } = timeToLandMinutes;
  return { runCost: undefined, runsPerDecided, ciHours, p50Minutes: p50 ?? undefined, p95Minutes: p95 ?? undefined };
}
