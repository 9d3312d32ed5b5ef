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
import { readQueueHistory } from './queue-history.ts';

type AdviceView = ReplyOf<typeof contract>;

const MOST_DECIDED = 500;
/** Busy queues are read for a day only. */
const WINDOWS_DAYS = [1, 7, 30, 90];
/** Four for each pull request are usual. Long lines that fail often need many more, and each takes longer. */
const MOST_STEPS = 4000;

/** One replay at a time in each server. */
const replaying = new Semaphore(1);
/** More that wait would keep forecasts waiting too: they are made on the same thread. */
const MOST_WAITING = 8;

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
    const decided = await readDecided(app, found);
    return adviseOn(app.simulator, decided, { settings: found.queue.settings, tried: settings });
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
  const { runsPerDecided, ciHours, timeToLandMinutes } = measured;
  const { p50, p95 } = timeToLandMinutes;
  return { runCost: undefined, runsPerDecided, ciHours, p50Minutes: p50 ?? undefined, p95Minutes: p95 ?? undefined };
}
