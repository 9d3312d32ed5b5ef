/** Cause of a fault whose request was never sent, or was refused before it began. */
export const KNOWN_NOT_APPLIED = { isKnownNotApplied: true } as const;

/** True: certainly nothing was written. False: unknown. */
export function isKnownNotApplied(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.cause !== 'object' || error.cause === null) return false;
  return 'isKnownNotApplied' in error.cause && error.cause.isKnownNotApplied === true;
}
