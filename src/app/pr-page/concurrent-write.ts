import { Fault } from '../../lib/fault.ts';

/** Another writer wrote at the same time, and the last write is unknown: the page is written again. No failure. */
export class ConcurrentWrite extends Error {
  constructor() {
    super('Somebody else said the same meanwhile.');
  }
}

/**
 * Another writer is still at work, and will write again. A fault gives the retry a backoff, so that it ends some time.
 */
export function leftToOther(): Fault {
  return new Fault('FORGE_UNAVAILABLE', 'Somebody else is saying the same on the pull request.');
}
