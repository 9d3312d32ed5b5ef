import type { Ingest } from '../../src/app/core/app.ts';

/** For worlds in which nobody uploads results. */
export const noIngest: Ingest = {
  wake: () => {},
  withWritesPaused: (action) => action(),
  onCheckResults: () => () => {},
};
