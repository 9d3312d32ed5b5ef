/** How a state looks: a shape and a word beside the colour, so that nobody needs to tell colours apart. */
export interface Look {
  readonly word: string;
  readonly shape: Shape;
  readonly tone: Tone;
}

export type Tone = 'quiet' | 'busy' | 'good' | 'bad' | 'warn';
export type Shape = 'ring' | 'half' | 'check' | 'cross' | 'dash' | 'mark' | 'pause' | 'drop' | 'dot';

const STATES: Readonly<Record<string, Look>> = {
  NOT_READY: { word: 'Not ready', shape: 'mark', tone: 'warn' },
  PENDING: { word: 'Waiting', shape: 'ring', tone: 'quiet' },
  TESTING: { word: 'Testing', shape: 'half', tone: 'busy' },
  TESTS_PASSED: { word: 'Passed', shape: 'check', tone: 'good' },
  PENDING_FAILURE: { word: 'Failing', shape: 'mark', tone: 'warn' },
  MERGED: { word: 'Landed', shape: 'check', tone: 'good' },
  FAILED: { word: 'Removed', shape: 'cross', tone: 'bad' },
  CANCELLED: { word: 'Cancelled', shape: 'dash', tone: 'quiet' },
};

const QUEUES: Readonly<Record<string, Look>> = {
  RUNNING: { word: 'Running', shape: 'dot', tone: 'good' },
  PAUSED: { word: 'Paused', shape: 'pause', tone: 'warn' },
  DRAINING: { word: 'Draining', shape: 'drop', tone: 'warn' },
  SWITCHING_MODES: { word: 'Switching modes', shape: 'half', tone: 'busy' },
};

const CHECKS: Readonly<Record<string, Look>> = {
  SUCCESS: { word: 'passed', shape: 'check', tone: 'good' },
  FAILURE: { word: 'failed', shape: 'cross', tone: 'bad' },
  TIMED_OUT: { word: 'timed out', shape: 'cross', tone: 'bad' },
  CANCELLED: { word: 'was cancelled', shape: 'dash', tone: 'quiet' },
  SKIPPED: { word: 'was skipped', shape: 'dash', tone: 'quiet' },
  NEUTRAL: { word: 'is neutral', shape: 'dash', tone: 'quiet' },
};

/** A pull request that left may have been submitted again. */
export function hasLeft({ state }: { readonly state?: string }): boolean {
  return state === 'MERGED' || state === 'FAILED' || state === 'CANCELLED';
}

export function lookOfEntry(state: string | undefined): Look {
  return STATES[state ?? ''] ?? { word: 'Never submitted', shape: 'dash', tone: 'quiet' };
}

/** A held or frozen queue runs and lands nothing. */
// SPEC A77
export function lookOfQueue({ state, held, frozen }: { state: string; held?: unknown; frozen?: unknown }): Look {
  if (held !== undefined && state === 'RUNNING') return { word: 'Held', shape: 'mark', tone: 'bad' };
  if (frozen !== undefined && state === 'RUNNING') return { word: 'Frozen', shape: 'pause', tone: 'warn' };
  return QUEUES[state] ?? { word: state, shape: 'dash', tone: 'quiet' };
}

const RUNS: Readonly<Record<string, Look>> = {
  IN_PROGRESS: { word: 'Testing', shape: 'half', tone: 'busy' },
  SUCCEEDED: { word: 'Passed', shape: 'check', tone: 'good' },
  FAILED: { word: 'Failed', shape: 'cross', tone: 'bad' },
};

export function lookOfRun({ status }: { readonly status?: string }): Look {
  return RUNS[status ?? ''] ?? { word: 'Ended', shape: 'dash', tone: 'quiet' };
}

/** `isOver`: its run has ended, so that nothing waits for it any more. */
export function lookOfCheck(
  { status, conclusion }: { readonly status?: string; readonly conclusion?: string },
  isOver = false,
): Look {
  if (conclusion !== undefined)
    return CHECKS[conclusion] ?? { word: conclusion.toLowerCase(), shape: 'mark', tone: 'warn' };
  if (isOver) return { word: 'did not finish', shape: 'dash', tone: 'quiet' };
  return status === 'IN_PROGRESS'
    ? { word: 'is running', shape: 'half', tone: 'busy' }
    : { word: 'waits', shape: 'ring', tone: 'quiet' };
}

const TESTS: Readonly<Record<string, Look>> = {
  HEALTHY: { word: 'Healthy', shape: 'check', tone: 'good' },
  FLAKY: { word: 'Flaky', shape: 'mark', tone: 'warn' },
  BROKEN: { word: 'Broken', shape: 'cross', tone: 'bad' },
};

export function lookOfTest(status: string): Look {
  return TESTS[status] ?? { word: status, shape: 'dash', tone: 'quiet' };
}
