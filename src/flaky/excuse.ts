import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import type { TestState } from './core/state.ts';
import { type PastRuns, replay } from './replay.ts';

/**
 * Tells whether these uploads alone made the test flaky at that time. Evidence from anywhere else, such as the commits
 * under test, excuses no failure.
 */
export function isFlakyBy(
  state: TestState,
  monitors: readonly Monitor[],
  { past, by }: { readonly past: readonly PastRuns[]; readonly by: Instant },
): boolean {
  const speaking = monitors.filter((monitor) => callsFlaky(state, monitor, by));
  if (speaking.length === 0) return false;
  const upTo = past.flatMap((batch) => {
    const runs = batch.runs.filter(({ startedAt }) => startedAt <= by);
    return batch.at <= by && runs.length > 0 ? [{ ...batch, runs }] : [];
  });
  const replayed = replay(state, speaking, { past: upTo, by });
  return speaking.some(({ id }) => (replayed.monitors[id]?.activeSince ?? null) !== null);
}

function callsFlaky(state: TestState, { id, enabled, action }: Monitor, by: Instant): boolean {
  const own = state.monitors[id];
  if (!enabled || action.kind !== 'classify' || action.status !== 'FLAKY' || own === undefined) return false;
  return own.activeSince !== null && own.activeSince <= by && own.mute === null;
}
