import type { Queue } from '../engine/model/queue.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { Forecasts } from '../policy/forecast.ts';
import type { Measures } from '../policy/measure.ts';
import type { Pace } from '../policy/pace.ts';
import type { Change } from '../policy/workload.ts';

/** Plays queues in simulated time. That takes seconds of CPU time, so it has a thread of its own. */
export interface Simulator {
  forecast(input: ForecastInput): Promise<Forecasts>;
  /** Undefined if it takes too many steps, or too long. */
  replay(input: ReplayInput): Promise<Measures | undefined>;
  stop(): Promise<void>;
}

export interface ForecastInput {
  readonly queue: Queue;
  readonly now: Instant;
  readonly pace: Pace;
  readonly seed: string;
}

export interface ReplayInput {
  readonly changes: readonly Change[];
  readonly settings: QueueSettings;
  readonly mostSteps: number;
}
