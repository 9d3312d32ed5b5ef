import { isKnownNotApplied } from '../../forge/known-not-applied.ts';
import type { Instant } from '../../lib/clock.ts';

/** Recorded before a write and removed after it: while it is there, the text at the forge is unknown. */
export interface WriteIntent {
  /** The attempt that writes. */
  readonly by: string;
  readonly at: Instant;
  /** The writer's id: after a crash the same writer continues. Notes of earlier versions have none. */
  readonly id?: string;
  /** An earlier writer wrote meanwhile, so that the last write is unknown. */
  readonly isDisturbed?: true;
}

/** GitHub may apply a request up to ten seconds after its client is gone. */
const ARRIVES_MS = 15_000;
/** A writer that has not confirmed within a minute has crashed. */
const GIVEN_UP_MS = 60_000;
const RETRY_MS = 2_000;

export function intentOf({ turn, id }: { readonly turn: string; readonly id: string }, now: Instant): WriteIntent {
  return { by: turn, at: now, id };
}

export function disturbed(writing: WriteIntent): WriteIntent {
  return { ...writing, isDisturbed: true };
}

/** For how long the write of an earlier writer may still arrive. */
export function arrivesWithin(earlier: Pick<WriteIntent, 'at'> | undefined, now: Instant): number {
  return earlier === undefined ? 0 : Math.max(0, ARRIVES_MS - ageOf(earlier, now));
}

/**
 * How long to wait for another writer that is at work; 0: there is none. The wait grows with the age of its intent. Two
 * writers that did not wait for each other would disturb each other again and again.
 */
export function waitForOther(other: Pick<WriteIntent, 'id' | 'at'> | undefined, id: string, now: Instant): number {
  if (other?.id === undefined || other.id === id) return 0;
  const age = ageOf(other, now);
  return age >= GIVEN_UP_MS ? 0 : Math.min(Math.max(RETRY_MS, age), GIVEN_UP_MS - age);
}

/** Another server's clock may be ahead, so that an intent far in the future is old too. */
function ageOf({ at }: Pick<WriteIntent, 'at'>, now: Instant): number {
  return Math.abs(now - at);
}

/** A write that certainly did not happen takes its intent back. */
export async function writeOrTakeBack<Answer>(
  write: () => Promise<Answer>,
  takeBack: () => Promise<unknown>,
): Promise<Answer> {
  try {
    return await write();
  } catch (error) {
    if (isKnownNotApplied(error)) await takeBack();
    throw error;
  }
}
