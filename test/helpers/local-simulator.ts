import type { Simulator } from '../../src/simulator/simulator.ts';
import { TASKS } from '../../src/simulator/thread/tasks.ts';

/** Without a thread. */
export const localSimulator: Simulator = {
  forecast: async (input) => TASKS.forecast(input),
  replay: async (input) => TASKS.replay(input),
  async stop() {},
};
