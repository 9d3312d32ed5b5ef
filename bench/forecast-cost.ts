import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeQueue } from '../src/app/core/queue-codec.ts';
import { Forecaster } from '../src/app/forecast/forecaster.ts';
import type { Queue } from '../src/engine/model/queue.ts';
import { systemClock } from '../src/lib/clock.ts';
import { SimulatorThread } from '../src/simulator/thread/simulator-thread.ts';
import type { Store } from '../src/storage/store.ts';
import { silentLog } from '../test/helpers/silent-log.ts';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { busyQueue } from './lib/watched-queues.ts';

const QUEUES = 20;
const ASKED_EVERY_MS = 500;
const TURNS = 4;
const TURN_MS = 6_000;
/** A forecast that is being made comes to its end. */
const SETTLE_MS = 5_000;
const WORK = 20;

/** Does the work of an answer again and again, with pauses, and says what each took in µs. */
async function answerFor(ms: number, work: () => unknown): Promise<number[]> {
  const times: number[] = [];
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) {
    const began = performance.now();
    for (let turn = 0; turn < WORK; turn += 1) work();
    times.push((performance.now() - began) * 1_000);
    await pause(10);
  }
  return times;
}

/** The CPU time of all forecasts of a server while busy queues are watched, and what it costs the thread of requests. */
export async function measureCost(seconds: number): Promise<void> {
  progress('forecast.cost');
  const queues = Array.from({ length: QUEUES }, (_, index) => busyQueue(`cost-${index}`, index));
  const rows = new Map(queues.map(({ loaded, ended }) => [loaded.id, ended]));
  const listEndedCandidates: Store['queueRecords']['listEndedCandidates'] = async (id, limit) =>
    (rows.get(id) ?? []).slice(-limit);
  const store = { queueRecords: { listEndedCandidates } } as unknown as Store;
  const simulator = new SimulatorThread({
    entry: new URL('../src/simulator-main.ts', import.meta.url),
    clock: systemClock,
    log: silentLog,
  });
  const forecaster = new Forecaster({ store, simulator, clock: systemClock, log: silentLog });
  const ask = (version: number) => queues.map(({ loaded }) => forecaster.find({ ...loaded, version }));
  const work = () => encodeQueue(queues[0]?.loaded.queue as Queue);
  const [usage, beganAt] = [process.cpuUsage(), performance.now()];
  let version = 0;
  let told = ask(version);
  // Every queue changes all the time.
  while (performance.now() - beganAt < seconds * 1_000) {
    await pause(ASKED_EVERY_MS);
    version += 1;
    told = ask(version);
  }
  const { user, system } = process.cpuUsage(usage);
  const tookMs = performance.now() - beganAt;
  const alone: number[] = [];
  const beside: number[] = [];
  // In turns, so that other load on the machine affects both.
  for (let turn = 0; turn < TURNS; turn += 1) {
    await pause(SETTLE_MS);
    alone.push(...(await answerFor(TURN_MS, work)));
    for (const endsAt = performance.now() + TURN_MS; performance.now() < endsAt; ) {
      version += 1;
      told = ask(version);
      beside.push(...(await answerFor(ASKED_EVERY_MS, work)));
    }
  }
  await simulator.stop();
  const made = told.flatMap((one) => one ?? []);
  const samples = made.reduce((sum, { basis }) => sum + basis.samples, 0) / Math.max(1, made.length);
  printFigure({ name: 'forecast.cost.core', value: (user + system) / 10 / tookMs, unit: '% of a core', goal: 25 });
  for (const [name, of] of Object.entries({ p50: median, p95 }))
    printFigure({
      name: `forecast.cost.answer_${name}`,
      value: of(beside),
      unit: 'µs',
      baseline: of(alone),
      goal: 1.05,
    });
  printFigure({ name: 'forecast.cost.queues', value: made.length, unit: `of ${QUEUES} told` });
  printFigure({ name: 'forecast.cost.samples', value: samples, unit: 'each' });
}
