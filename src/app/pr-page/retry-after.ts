/** Another writer is at work, or its write may still arrive: the effect runs again after a while. No failure. */
export class RetryAfter extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('Somebody else is saying the same.');
    this.delayMs = delayMs;
  }
}
