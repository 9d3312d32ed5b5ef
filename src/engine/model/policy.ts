import type { Queue } from './queue.ts';
import type { QueueSettings } from './settings.ts';

/**
 * Everything in which ADAPTIVE and the fixed settings differ, besides what they propose to test (strategy.ts). The other
 * parts of the engine ask for these figures and never for the mode.
 */
export interface Policy extends Pick<QueueSettings, FixedName> {
  readonly kind: 'fixed' | 'adaptive';
  /** How a failed candidate of several members is searched. */
  readonly searches: 'halves' | 'prefixes';
  /** An entry that failed alone fails again in runs of its own before it is removed. */
  readonly confirms: boolean;
  /** A set of entries that failed before in a search is not tested again in it. */
  readonly skipsKnownFailures: boolean;
  /** A failed candidate makes the queue abandon everything built on it at once, and start nothing on it. */
  readonly abandonsBehindFailure: boolean;
  /** Entries may be tested on the head ahead of their turn. */
  readonly scouts: boolean;
  /** A run that takes this many times as long as others goes on as a search. */
  readonly overrun: number;
  /** Similar removals in a row make a commit suspect if they come by chance no more often than this. */
  readonly largestCoincidence: number;
  /** The strategy is asked again after each round, because the first starts change which groups follow. */
  readonly asksAgain: boolean;
}

/** The settings that ADAPTIVE does not use. */
type FixedName =
  | 'batch'
  | 'batchingMinSize'
  | 'batchingMaxWaitTimeMinutes'
  | 'bisectionConcurrency'
  | 'pendingFailureDepth'
  | 'canOptimisticallyMerge';

// SPEC K1
const ADAPTIVE: Omit<Policy, 'confirms'> = {
  kind: 'adaptive',
  batch: false,
  batchingMinSize: 1,
  batchingMaxWaitTimeMinutes: 0,
  bisectionConcurrency: 0,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: true,
  searches: 'prefixes',
  skipsKnownFailures: true,
  abandonsBehindFailure: true,
  scouts: true,
  overrun: 4,
  largestCoincidence: 0.25,
  asksAgain: true,
};

const known = new WeakMap<QueueSettings, Policy>();

/** The policy that the settings name. */
export function policyOf({ settings }: Pick<Queue, 'settings'>): Policy {
  const policy = known.get(settings) ?? readPolicy(settings);
  known.set(settings, policy);
  return policy;
}

function readPolicy(settings: QueueSettings): Policy {
  const policy = settings.optimizationMode === 'ADAPTIVE' ? ADAPTIVE : fixedPolicy(settings);
  return { ...policy, confirms: settings.confirmFailures === 'AUTO' };
}

function fixedPolicy(settings: QueueSettings): Omit<Policy, 'confirms'> {
  return {
    ...settings,
    kind: 'fixed',
    searches: 'halves',
    skipsKnownFailures: settings.optimizationMode === 'BISECTION_SKIP_REDUNDANT_TESTS',
    abandonsBehindFailure: false,
    scouts: false,
    overrun: Number.POSITIVE_INFINITY,
    largestCoincidence: 1,
    asksAgain: settings.batch,
  };
}
