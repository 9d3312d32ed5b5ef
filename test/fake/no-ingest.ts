import type { Ingest } from '../../src/app/core/app.ts';

/** For worlds without uploads. */
export const noIngest: Ingest = {
  wake: () => {},
  withWritesPaused: (action) => action(),
  onCheckResults: () => () => {},
};
