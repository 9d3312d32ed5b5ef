/** Given as the cause of a fault: what was asked for was not even sent, or refused before it was begun. */
export const NOT_DONE = { isNotDone: true } as const;

/** True: certainly nothing was done. False: nobody knows. */
export function isNotDone(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.cause !== 'object' || error.cause === null) return false;
  return 'isNotDone' in error.cause && error.cause.isNotDone === true;
}
