import { FEW_WRONGED, INNOCENT, MOVABLE } from './invariants.ts';

/**
 * Invariants that today's engine breaks, and why. A run counts these breaches (`open.<name>`) instead of failing, unless
 * it is strict: `npm run simulate -- --strict --seed 113`. A line goes when its cause is mended.
 */
export const OPEN_INVARIANTS: ReadonlyMap<string, string> = new Map([
  [INNOCENT, 'B1, B3: a red head is found out late, and those removed before stay removed'],
  [FEW_WRONGED, 'V10: failures by different checks of one broken head are not counted together'],
  [MOVABLE, 'B2: a red hold has no timer'],
]);

/** Seeds that break one of them, each for another cause. They move to FROZEN_SEEDS when it is mended. */
export const OPEN_SEEDS: readonly (readonly [seed: number, found: string])[] = [
  [113, 'B1: while a suspected head is under test, entries are removed for another check that is red on it'],
  [141, 'B2: nothing is due while the target is red'],
  [30_061, 'B1: an outage fails unit and lint in turn, so that no two failures in a row are alike'],
];
