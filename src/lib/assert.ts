/** A failed assertion is a bug in Sluice. Faults of users and of other systems are in fault.ts. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function unreachable(value: never): never {
  throw new AssertionError(`unexpected value ${JSON.stringify(value)}`);
}
