/** Milliseconds since 1970, UTC. Instants are kept as numbers everywhere inside and become text at the edges. */
export type Instant = number;

export interface Clock {
  now(): Instant;
}

export const systemClock: Clock = { now: () => Date.now() };

export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString();
}
