import type { CheckCaches, CheckRunner } from '../../src/check-runner/runner.ts';

export const noCaches: CheckCaches = { limitBytes: 0, list: async () => [], remove: async () => undefined };

/** For servers whose repositories have no commands. A job would be a bug. */
export const noJobs: CheckRunner = {
  safety: { protection: 'bubblewrap', sentence: 'Nothing runs.', runsUntrusted: true, closesNetwork: false },
  isCrowded: false,
  caches: noCaches,
  explainMissing: async () => '',
  run: () => Promise.reject(new Error('nobody registered a check')),
  close: async () => undefined,
};
