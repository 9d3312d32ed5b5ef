import { Fault } from '../../lib/fault.ts';

/** Another wrote the same thing meanwhile, and nobody knows whose words came last: it is said once more. No failure. */
export class ConcurrentWrite extends Error {
  constructor() {
    super('Somebody else said the same meanwhile.');
  }
}

/** Another still writes, and was told to do so once more. Tried again as what failed is: it cannot go on for ever. */
export function leftToOther(): Fault {
  return new Fault('FORGE_UNAVAILABLE', 'Somebody else is saying the same on the pull request.');
}
