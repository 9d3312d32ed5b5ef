import { isKnownNotApplied } from '../../forge/known-not-applied.ts';
import type { Instant } from '../../lib/clock.ts';

/** Somebody began to write something and has not said that it is done: until then nobody knows what it says. */
export interface WriteIntent {
  /** The turn in which it is written. */
  readonly by: string;
  readonly at: Instant;
  /** Names whoever writes: after a crash the same one goes on. What was noted by earlier versions has none. */
  readonly id?: string;
  /** One that began before wrote meanwhile: nobody knows whose words came last. */
  readonly isDisturbed?: true;
}

/** GitHub carries on for ten seconds with what it was asked for, also when whoever asked is gone. */
const ARRIVES_MS = 15_000;
/** Whoever began to write something this long ago, and did not say that it is there, has died over it. */
const GIVEN_UP_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;

export function intentOf({ turn, id }: { readonly turn: string; readonly id: string }, now: Instant): WriteIntent {
  return { by: turn, at: now, id };
}

export function disturbed(writing: WriteIntent): WriteIntent {
  return { ...writing, isDisturbed: true };
}

/** For how long what another began to write may still arrive. Whoever waits before it is sent finds out afterwards. */
export function arrivesWithin(earlier: Pick<WriteIntent, 'at'> | undefined, now: Instant): number {
  return earlier === undefined ? 0 : Math.max(0, ARRIVES_MS - ageOf(earlier, now));
}

/**
 * How long to leave it to somebody else who writes it right now, ever longer; 0: nobody does. Two who do not wait for
 * each other both have to begin again, and again.
 */
export function waitForOther(other: Pick<WriteIntent, 'id' | 'at'> | undefined, id: string, now: Instant): number {
  if (other?.id === undefined || other.id === id) return 0;
  const age = ageOf(other, now);
  return age >= GIVEN_UP_MS ? 0 : Math.min(Math.max(LOOK_AGAIN_MS, age), GIVEN_UP_MS - age);
}

/** Another server's clock may be ahead: what is far from now is old. */
function ageOf({ at }: Pick<WriteIntent, 'at'>, now: Instant): number {
  return Math.abs(now - at);
}

/** What certainly was not written leaves no doubt behind. */
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
