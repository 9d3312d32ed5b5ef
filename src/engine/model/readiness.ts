import type { Mergeability } from './pull-request.ts';
import type { Entry, Queue } from './queue.ts';

/** The conditions for admission, as the API shows them. They are derived on every read and never stored. */
export interface Readiness {
  readonly hasImpactedTargets: boolean;
  readonly requiresImpactedTargets: boolean;
  readonly doesBaseBranchMatch: boolean;
  readonly mergeability: Mergeability;
}

// SPEC E2
export function readinessOf(queue: Queue, entry: Entry): Readiness {
  return {
    hasImpactedTargets: entry.targets !== undefined,
    requiresImpactedTargets: requiresTargets(queue, entry),
    doesBaseBranchMatch: entry.pr.baseBranch === queue.branch,
    mergeability: entry.pr.mergeability,
  };
}

export function isReady(readiness: Readiness): boolean {
  return (
    readiness.doesBaseBranchMatch &&
    readiness.mergeability === 'MERGEABLE' &&
    (readiness.hasImpactedTargets || !readiness.requiresImpactedTargets)
  );
}

function requiresTargets(queue: Queue, entry: Entry): boolean {
  return queue.settings.mode === 'PARALLEL' && entry.submission > queue.submissionsBeforeParallel;
}
