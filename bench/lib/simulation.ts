import { runSeeds } from '../../test/simulation/run-seeds.ts';
import { printFigure, progress } from './figure.ts';

const SEEDS = 2_000;
const GOAL_SECONDS = 180;

/** The whole shell, with as many seeds as the tests run. */
export async function measureSimulation(): Promise<void> {
  progress(`simulating ${SEEDS} seeds`);
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  let events = 0;
  let tasks = 0;
  const startedAt = performance.now();
  await runSeeds({
    seeds,
    onReport: (report) => {
      events += report.events;
      tasks += report.tasks;
    },
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  printFigure({ name: `simulation.${SEEDS}_seeds`, value: seconds, unit: 's', goal: GOAL_SECONDS });
  printFigure({ name: 'simulation.events_per_second', value: events / seconds, unit: '1/s' });
  printFigure({ name: 'simulation.tasks_per_second', value: tasks / seconds, unit: '1/s' });
}
