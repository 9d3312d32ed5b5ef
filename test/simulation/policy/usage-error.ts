/** A wrong usage. The message explains it to the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
