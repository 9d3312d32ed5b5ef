/** How long to wait before trying again: doubling, capped, and spread so that many do not come back at once. */
export function backoffMs(attempts: number, { firstMs, capMs, spread }: Backoff): number {
  const full = Math.min(capMs, firstMs * 2 ** Math.min(attempts, 30));
  return Math.round(full * (0.5 + spread / 2));
}

export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
  /** From 0 to 1: where within the upper half of the wait this one falls. */
  readonly spread: number;
}
