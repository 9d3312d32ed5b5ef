/** Another writer committed first: the repository's tests in memory must be read again. */
export class Stale extends Error {
  override readonly name = 'Stale';
}

/**
 * The loop stops, or the store is about to be replaced. The current work continues later, from its last stored step.
 */
export class Interrupted extends Error {
  override readonly name: string = 'Interrupted';
}

/** Another server held the lease meanwhile, and ended the upload or got further with it. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/**
 * Other uploads wait, and too many are paused already. This one restarts behind its last stored part when a place is
 * free.
 */
export class PutBack extends Interrupted {
  override readonly name: string = 'PutBack';
}
