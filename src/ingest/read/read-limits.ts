import { BUNDLE_LIMITS, type BundleLimits } from '../../bundle/read-bundle.ts';
import { DEFAULT_LIMITS, type JunitLimits } from '../../junit/limits.ts';

/** The cost limits of one upload. `bundle.maxBytes` applies to all of its files together, bundle or not. */
export interface ReadLimits {
  readonly bundle: BundleLimits;
  readonly junit: JunitLimits;
}

export const READ_LIMITS: ReadLimits = { bundle: BUNDLE_LIMITS, junit: DEFAULT_LIMITS };
