import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeQueue } from '../src/app/core/queue-codec.ts';
import { Forecaster } from '../src/app/forecast/forecaster.ts';
import type { Queue } from '../src/engine/queue.ts';
import { systemClock } from '../src/lib/clock.ts';
import { SimulatorThread } from '../src/simulator/thread/simulator-thread.ts';
import type { Store } from '../src/storage/store.ts';
import { silentLog } from '../test/helpers/silent-log.ts';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { busyQueue } from './lib/watched-queues.ts';

const QUEUES = 20;
const ASKED_EVERY_MS = 500;
const ALONE_MS = 10_000;
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
  const listEndedCandidates: Store['queues']['listEndedCandidates'] = async (id, limit) =>
    (rows.get(id) ?? []).slice(-limit);
  const store = { queues: { listEndedCandidates } } as unknown as Store;
  const simulator = new SimulatorThread({
    entry: new URL('../src/simulator-main.ts', import.meta.url),
    clock: systemClock,
    log: silentLog,
  });
  const forecaster = new Forecaster({ store, simulator, clock: systemClock, log: silentLog });
  const ask = (version: number) => queues.map(({ loaded }) => forecaster.find({ ...loaded, version }));
  const work = () => encodeQueue(queues[0]?.loaded.queue as Queue);
  const alone = await answerFor(ALONE_MS, work);
  const [usage, beganAt] = [process.cpuUsage(), performance.now()];
  let told = ask(0);
  const beside: number[] = [];
  // Every queue changes all the time.
  for (let version = 1; performance.now() - beganAt < seconds * 1_000; version += 1) {
    beside.push(...(await answerFor(ASKED_EVERY_MS, work)));
    told = ask(version);
  }
  const { user, system } = process.cpuUsage(usage);
  const tookMs = performance.now() - beganAt;
  await simulator.stop();
  const made = told.flatMap((one) => one ?? []);
  const samples = made.reduce((sum, { basis }) => sum + basis.samples, 0) / Math.max(1, made.length);
  // The work of the answers is not the forecasts'.
  const answeredMs = beside.reduce((sum, each) => sum + each / 1_000, 0);
  const core = (100 * ((user + system) / 1_000 - answeredMs)) / tookMs;
  printFigure({ name: 'forecast.cost.core', value: core, unit: '% of a core', goal: 25 });
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
