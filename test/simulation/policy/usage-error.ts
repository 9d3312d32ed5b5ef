/** What was asked for cannot be done; the message says why, to whoever asked. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
