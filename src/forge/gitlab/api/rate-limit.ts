import { pause, type Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { Answer } from '../../hosted/exchange.ts';
import { KNOWN_NOT_APPLIED } from '../../known-not-applied.ts';

/** Longer waits are for the caller. */
const MAX_WAIT_MS = 30_000;
const USUAL_WAIT_MS = 10_000;
/** The rest of the limit is for landings. */
const RESERVED = 0.05;

export interface RateLimit {
  /** Resolves when a request may be sent. */
  admit(isUrgent: boolean): Promise<void>;
  /** True if the limit refused the request. */
  observe(answer: Answer<unknown>): boolean;
}

/** Follows the headers of GitLab's answers. */
// SPEC G186
export function createRateLimit(clock: Timing): RateLimit {
  let blockedUntil = 0;
  let scarceUntil = 0;
  return {
    async admit(isUrgent) {
      const waitMs = (isUrgent ? blockedUntil : Math.max(blockedUntil, scarceUntil)) - clock.now();
      if (waitMs <= 0) return;
      if (waitMs > MAX_WAIT_MS) {
        const at = new Date(clock.now() + waitMs).toISOString().slice(11, 19);
        throw new Fault('FORGE_UNAVAILABLE', `GitLab's rate limit is used up until ${at} UTC.`, {
          cause: KNOWN_NOT_APPLIED,
        });
      }
      await pause(clock, waitMs);
    },
    observe({ status, headers }) {
      const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
        numberIn(headers, `ratelimit-${name}`),
      );
      const resetAt = reset === undefined ? undefined : reset * 1_000;
      if (status === 429) {
        const after = numberIn(headers, 'retry-after');
        blockedUntil = after === undefined ? (resetAt ?? clock.now() + USUAL_WAIT_MS) : clock.now() + after * 1_000;
        return true;
      }
      const isScarce = limit !== undefined && remaining !== undefined && remaining < limit * RESERVED;
      scarceUntil = isScarce ? (resetAt ?? 0) : 0;
      return false;
    },
  };
}

function numberIn(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
