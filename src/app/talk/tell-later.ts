/** Somebody else is about to say the same: whether they did is seen after a while. No failure. */
export class TellLater extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('Somebody else is saying the same.');
    this.delayMs = delayMs;
  }
}
