import type { QueueSettings } from '../src/engine/model/settings.ts';
import { printFigure } from './lib/figure.ts';
import { QueueLoad } from './lib/queue-load.ts';
import { measureSimulation } from './lib/simulation.ts';

const SIZES = [100, 1_000, 10_000];
/** With the largest cost of a step in the longest queue, relative to the shortest. */
const VARIANTS: Readonly<Record<string, { readonly settings: Partial<QueueSettings>; readonly goal: number }>> = {
  single: { settings: {}, goal: 3 },
  parallel: { settings: { mode: 'PARALLEL' }, goal: 3 },
  adaptive: { settings: { optimizationMode: 'ADAPTIVE' }, goal: 2 },
  parallel_adaptive: { settings: { mode: 'PARALLEL', optimizationMode: 'ADAPTIVE' }, goal: 2 },
};
const ROUNDS = 5;
const STEPS_A_ROUND = 4_000;

/** The cost of a step by the number of live entries, and the speed of the simulator. */
export async function run(): Promise<void> {
  for (const name of Object.keys(VARIANTS)) measureVariant(name);
  await measureSimulation();
}

/** Sizes take turns, so that other load on the machine affects all of them. */
function measureVariant(variant: string): void {
  const { settings = {}, goal = 0 } = VARIANTS[variant] ?? {};
  const loads = SIZES.map((size) => new QueueLoad(variant, size, settings).fill());
  for (const load of loads) load.measure(STEPS_A_ROUND);
  for (const load of loads) load.times.length = 0;
  for (let round = 0; round < ROUNDS; round += 1) for (const load of loads) load.measure(STEPS_A_ROUND);
  const [first] = loads;
  const baseline = first?.mean() ?? 0;
  for (const load of loads) {
    const name = `engine.${variant}.${load.size}`;
    const mean = load.mean();
    printFigure({ name: `${name}.step`, value: mean, unit: 'µs', baseline, goal });
    printFigure({ name: `${name}.steps_per_second`, value: 1_000_000 / mean, unit: '1/s' });
    printFigure({ name: `${name}.step_p99.9`, value: load.quantile(0.999) / 1_000, unit: 'ms', goal: 50 });
  }
}
