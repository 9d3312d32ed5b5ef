/** Given as the cause of a fault: what was asked for was not even sent, or refused before it was begun. */
export const KNOWN_NOT_APPLIED = { isKnownNotApplied: true } as const;

/** True: certainly nothing was done. False: nobody knows. */
export function isKnownNotApplied(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.cause !== 'object' || error.cause === null) return false;
  return 'isKnownNotApplied' in error.cause && error.cause.isKnownNotApplied === true;
}
