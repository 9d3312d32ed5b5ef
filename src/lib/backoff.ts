/** It doubles up to a cap and is spread, so that many clients do not retry at once. */
export function backoffMs(attempts: number, { firstMs, capMs, spread }: Backoff): number {
  const full = Math.min(capMs, firstMs * 2 ** Math.min(attempts, 30));
  return Math.round(full * (0.5 + spread / 2));
}

export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
  /** From 0 to 1, the position within the upper half of the wait. */
  readonly spread: number;
}
