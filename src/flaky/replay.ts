import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { onlyPathOf, pathsOf } from './core/paths.ts';
import { outcomeOf, type RetryEvent } from './core/retry.ts';
import { type EarlierOutcome, isSameCode, type ObservedRun, type UploadFacts } from './core/run.ts';
import { type MonitorData, newTestState, type TestState } from './core/state.ts';
import { standing, withRetries } from './detectors/pass-on-retry.ts';
import { evaluate, expire } from './evaluate.ts';
import { fold, scopeOf } from './observe.ts';

/** The runs of one test in one upload or part, with the time of processing. */
export interface PastRuns {
  readonly upload: UploadFacts;
  readonly at: Instant;
  readonly runs: readonly ObservedRun[];
}

/**
 * The state of a test as if these uploads were the only ones. Stored runs carry neither their attempt number nor their
 * suite path, so retries that need these come from the known state.
 */
export function replay(
  known: TestState,
  monitors: readonly Monitor[],
  { past, by }: { readonly past: readonly PastRuns[]; readonly by: Instant },
): TestState {
  const inOrder = past.filter(({ upload }) => upload.flaw === null).toSorted((one, other) => one.at - other.at);
  const hasOnePath = pathsOf(known).length < 2;
  const path = onlyPathOf(known);
  const remembered = retriesToKeep(known, monitors, new Set(inOrder.map(({ upload }) => upload.id)));
  const before: PastRuns[] = [];
  let state = newTestState(known.firstSeenAt);
  for (const batch of inOrder) {
    const { upload, at } = batch;
    const runs = batch.runs.map((run) => ({ ...run, path }));
    const { looking } = scopeOf(upload, monitors, at);
    const folding = hasOnePath ? looking : looking.filter(({ type }) => type !== 'pass_on_retry');
    state = fold(state, { upload, runs, earlier: before.flatMap((other) => earlierOf(other, upload)), at }, folding);
    const retries = remembered.filter(({ uploadId }) => uploadId === upload.id);
    state = withRetries(state, looking, retries);
    state = evaluate(state, { monitors, looking: monitors, at }).state;
    before.push(batch);
  }
  return expire(state, monitors, by).state;
}

function retriesToKeep(
  known: TestState,
  monitors: readonly Monitor[],
  uploadIds: ReadonlySet<string>,
): readonly RetryEvent[] {
  const hasOnePath = pathsOf(known).length < 2;
  const isKept = ({ otherUploadId }: RetryEvent) =>
    otherUploadId === null || (!hasOnePath && uploadIds.has(otherUploadId));
  return monitors.flatMap(({ id, type }) => {
    const data = type === 'pass_on_retry' ? known.monitors[id]?.data : null;
    if (data === null || data === undefined) return [];
    return standing(data as MonitorData['pass_on_retry'], []).filter(isKept);
  });
}

function earlierOf({ upload, runs }: PastRuns, asking: UploadFacts): readonly EarlierOutcome[] {
  const { id: uploadId, sha, tree, candidateId, branch, prNumber, jobAttempt } = upload;
  if (uploadId === asking.id || !isSameCode(upload, asking)) return [];
  const ran = runs.filter(({ conclusion }) => conclusion !== 'SKIPPED');
  if (ran.length === 0) return [];
  return [{ uploadId, sha, tree, candidateId, branch, prNumber, jobAttempt, ...outcomeOf(ran) }];
}
