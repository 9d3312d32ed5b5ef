import type { LaneReader } from '../../src/lanes/lanes.ts';
import { TASKS } from '../../src/lanes/tasks.ts';

/** Without a thread. */
export const localLanes: LaneReader = {
  parse: async (configuration) => TASKS.parse(configuration),
  join: async (rules, manifests) => TASKS.join({ rules, manifests }),
  place: async (input) => TASKS.place(input),
  async stop() {},
};
