import { BUNDLE_LIMITS, type BundleLimits } from '../../bundle/read-bundle.ts';
import { DEFAULT_LIMITS, type JunitLimits } from '../../junit/limits.ts';

/** The cost limits of one upload. `bundle.maxBytes` applies to all of its files together, bundle or not. */
export interface ReadLimits {
  readonly bundle: BundleLimits;
  readonly junit: JunitLimits;
}

export const READ_LIMITS: ReadLimits = { bundle: BUNDLE_LIMITS, junit: DEFAULT_LIMITS };

/** Makes text storable: PostgreSQL refuses U+0000, and a lone surrogate is not valid UTF-8. */
// SPEC U25
export function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}

/** V8 copies shorter substrings. A longer one points into its parent text, and keeps all of it in memory. */
const SHORTEST_SLICE = 13;

/** Returns a copy, for text that outlives the block of the report it was read from. */
export function ownText(text: string): string {
  const storable = storableText(text);
  return storable.length < SHORTEST_SLICE ? storable : Buffer.from(storable, 'utf8').toString('utf8');
}
