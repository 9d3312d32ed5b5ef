import { TaskThread } from '../../lib/task-thread.ts';
import type { ForecastInput, ReplayInput, Simulator } from '../simulator.ts';
import type { TASKS } from './tasks.ts';

export class SimulatorThread implements Simulator {
  readonly #thread: TaskThread<typeof TASKS>;

  constructor(options: Omit<ConstructorParameters<typeof TaskThread>[0], 'name'>) {
    this.#thread = new TaskThread({ ...options, name: 'simulator' });
  }

  async forecast(input: ForecastInput) {
    return this.#thread.run('forecast', input);
  }

  async replay(input: ReplayInput) {
    return this.#thread.run('replay', input);
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }
}
