import type { CheckRunner } from '../../src/check-runner/runner.ts';

/** For servers whose repositories have no commands. A job would be a bug. */
export const noJobs: CheckRunner = {
  safety: { protection: 'bubblewrap', sentence: 'Nothing runs.', runsUntrusted: true, closesNetwork: false },
  isCrowded: false,
  run: () => Promise.reject(new Error('nobody registered a check')),
  close: async () => undefined,
};
