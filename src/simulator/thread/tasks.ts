import { type Forecasts, forecastQueue } from '../../policy/forecast.ts';
import { type Measures, measure } from '../../policy/measure.ts';
import { playSluice } from '../../policy/sluice.ts';
import type { ForecastInput, ReplayInput } from '../simulator.ts';

/** Inputs and results are plain values that can be sent to a thread. */
export const TASKS = { forecast, replay };

const FEWEST_SAMPLES = 30;
const MOST_SAMPLES = 200;
/** A forecast stops after this time, if it has the fewest samples by then. */
const FORECAST_MS = 300;
/** A very long queue gets fewer samples rather than an old forecast. */
const LONGEST_FORECAST_MS = 10_000;

// SPEC Z2
function forecast({ queue, now, pace, seed }: ForecastInput): Forecasts {
  const startedAt = performance.now();
  const isEnough = (samples: number) => {
    const tookMs = performance.now() - startedAt;
    if (samples >= MOST_SAMPLES || tookMs >= LONGEST_FORECAST_MS) return samples > 0;
    return samples >= FEWEST_SAMPLES && tookMs >= FORECAST_MS;
  };
  return forecastQueue(queue, now, pace, { seed, isEnough });
}

/** With hundreds of slots a step may take so long that time is the limit. */
const LONGEST_REPLAY_MS = 5_000;

/** Undefined if it takes too many steps, or too long. */
// SPEC K28
function replay({ changes, settings, mostSteps }: ReplayInput): Measures | undefined {
  const workload = { source: '', changes, chance: { seed: '1', flakeRate: 0, gitMs: 0 } };
  const game = playSluice(workload, settings);
  const endsAt = performance.now() + LONGEST_REPLAY_MS;
  for (let steps = 0; steps < mostSteps && performance.now() < endsAt; steps += 1) {
    const step = game.next();
    if (step.done) return measure([{ workload, outcome: step.value }]);
  }
  return undefined;
}
