import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Forecast } from '../../policy/forecast.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { LoadedQueue } from './commit-draft.ts';

export interface Forecasting {
  /** The latest forecast; undefined before the first. An outdated one is made again later. */
  find(found: LoadedQueue): QueueForecast | undefined;
  /** The latest forecast, which is not made again for this question. */
  findMade(id: QueueId): QueueForecast | undefined;
  /** The latest attempt failed; the next one is made after this instant, if somebody asks then. */
  retriesAt(id: QueueId): Instant | undefined;
}

export interface QueueForecast {
  readonly madeAt: Instant;
  readonly entries: ReadonlyMap<PrNumber, Forecast>;
  readonly next: Forecast | undefined;
  readonly basis: Basis;
}

interface Basis {
  /** How often the queue was played; 0 if there are too few runs. */
  readonly samples: number;
  /** The past runs that durations are drawn from, and the end of the oldest one. */
  readonly runs: number;
  readonly since: Instant | undefined;
}
