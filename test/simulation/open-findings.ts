import { WRONGS } from './blame.ts';
import { RED_HOLD_ENDS } from './invariants.ts';

/**
 * Invariants that today's engine breaks, and why. A run counts these breaches (`open.<name>`) instead of failing, unless
 * it is strict: `npm run simulate -- --strict --seed 141`. A line goes when its cause is mended.
 */
export const OPEN_INVARIANTS: ReadonlyMap<string, string> = new Map([
  [WRONGS.searched, 'B1: a search on a red head goes on when the target was mended, and another head is tested'],
  [WRONGS.required, 'B5: branch protection that is gone for a moment removes whatever starts'],
  [WRONGS.excess, 'V10 counts only failures by one check: a head that is red in two is suspected late'],
  [RED_HOLD_ENDS, 'B2: a red hold has no timer'],
]);

/** Seeds that break one of them, each for another cause. They move to FROZEN_SEEDS when it is mended. */
export const OPEN_SEEDS: readonly (readonly [seed: number, found: string])[] = [
  [113, 'V10: while a suspected head is under test, entries are removed for another check that is red on it'],
  [141, 'B2: nothing is due while the target is red'],
  [30_006, 'B1: a search that was begun on a red head removes the innocent'],
  [30_061, 'V10: an outage fails unit and lint in turn, so that no two failures in a row are alike'],
  [30_084, 'B5: a protection that is gone removes three in a row'],
];
