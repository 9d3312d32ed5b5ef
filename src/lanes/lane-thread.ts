import { TaskThread } from '../lib/task-thread.ts';
import type { LaneReader } from './lanes.ts';
import type { TASKS } from './tasks.ts';

/** Far more than the largest repository needs. A thread that hangs is ended then. */
export const LONGEST_TASK_MS = 10_000;

// SPEC T12
export function createLaneReader(options: Omit<ConstructorParameters<typeof TaskThread>[0], 'name'>): LaneReader {
  const thread = new TaskThread<typeof TASKS>({ ...options, name: 'lanes' });
  return {
    parse: (configuration) => thread.run('parse', configuration, LONGEST_TASK_MS),
    join: (rules, manifests) => thread.run('join', { rules, manifests }, LONGEST_TASK_MS),
    place: (input) => thread.run('place', input, LONGEST_TASK_MS),
    stop: () => thread.stop(),
  };
}
