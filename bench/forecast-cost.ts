import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Forecaster } from '../src/app/forecast/forecaster.ts';
import { systemClock } from '../src/lib/clock.ts';
import { SimulatorThread } from '../src/simulator/thread/simulator-thread.ts';
import type { Store } from '../src/storage/store.ts';
import { silentLog } from '../test/helpers/silent-log.ts';
import { printFigure, progress } from './lib/figure.ts';
import { busyQueue } from './lib/watched-queues.ts';

const QUEUES = 20;
const ASKED_EVERY_MS = 500;

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
  const [usage, loop, beganAt] = [process.cpuUsage(), performance.eventLoopUtilization(), performance.now()];
  let told = ask(0);
  // Every queue changes all the time.
  for (let version = 1; performance.now() - beganAt < seconds * 1_000; version += 1) {
    await pause(ASKED_EVERY_MS);
    told = ask(version);
  }
  const { user, system } = process.cpuUsage(usage);
  const tookMs = performance.now() - beganAt;
  await simulator.stop();
  const made = told.flatMap((one) => one ?? []);
  const samples = made.reduce((sum, { basis }) => sum + basis.samples, 0) / Math.max(1, made.length);
  printFigure({ name: 'forecast.cost.core', value: (user + system) / 10 / tookMs, unit: '% of a core', goal: 25 });
  const { utilization } = performance.eventLoopUtilization(loop);
  printFigure({ name: 'forecast.cost.requests', value: 100 * utilization, unit: '% of the thread', goal: 5 });
  printFigure({ name: 'forecast.cost.queues', value: made.length, unit: `of ${QUEUES} told` });
  printFigure({ name: 'forecast.cost.samples', value: samples, unit: 'each' });
}
