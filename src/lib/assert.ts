/** A broken assertion is a bug in Sluice, never the fault of a user or of the world (see fault.ts for those). */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function unreachable(value: never): never {
  throw new AssertionError(`unexpected value ${JSON.stringify(value)}`);
}
