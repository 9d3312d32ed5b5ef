import { ADAPTIVE_STRATEGY } from './adaptive.ts';
import type { Queue } from './queue.ts';
import { REFERENCE_STRATEGY } from './reference.ts';
import type { Strategy } from './strategy.ts';

/** The strategy that the settings name. */
export function strategyOf({ settings }: Queue): Strategy {
  return settings.optimizationMode === 'ADAPTIVE' ? ADAPTIVE_STRATEGY : REFERENCE_STRATEGY;
}
