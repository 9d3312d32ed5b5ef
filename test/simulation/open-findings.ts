/**
 * Invariants that today's engine, or the judge of these worlds, breaks in rare histories. A run counts these breaches
 * (`open.<name>`) instead of failing, unless it is strict (`--strict`). A line goes when its cause is mended.
 */
export const OPEN_INVARIANTS: ReadonlyMap<string, string> = new Map([]);

/** Seeds that break one of them, each for another cause. They move to FROZEN_SEEDS when it is mended. */
export const OPEN_SEEDS: readonly (readonly [seed: number, found: string])[] = [];
