/** Somebody else says the same, or has said something that may still arrive: that is seen after a while. No failure. */
export class RetryAfter extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('Somebody else is saying the same.');
    this.delayMs = delayMs;
  }
}
