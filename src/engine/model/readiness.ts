import type { Mergeability } from './pull-request.ts';
import type { Entry, Queue } from './queue.ts';

/** The conditions for admission, as the API shows them. They are derived on every read and never stored. */
export interface Readiness {
  readonly hasImpactedTargets: boolean;
  readonly requiresImpactedTargets: boolean;
  readonly doesBaseBranchMatch: boolean;
  readonly mergeability: Mergeability;
  /** It depends on a pull request of another repository, which has not landed. */
  readonly waitsElsewhere: boolean;
}

// SPEC E2
export function readinessOf(queue: Queue, entry: Entry): Readiness {
  return {
    hasImpactedTargets: entry.targets !== undefined,
    requiresImpactedTargets: requiresTargets(queue, entry),
    doesBaseBranchMatch: entry.pr.baseBranch === queue.branch || isChained(entry),
    mergeability: entry.pr.mergeability,
    waitsElsewhere: (entry.pr.waitsFor ?? []).length > 0,
  };
}

export function isReady(readiness: Readiness): boolean {
  return (
    !readiness.waitsElsewhere &&
    readiness.doesBaseBranchMatch &&
    readiness.mergeability === 'MERGEABLE' &&
    (readiness.hasImpactedTargets || !readiness.requiresImpactedTargets)
  );
}

/** Its base is the head branch of another pull request. */
// SPEC O30
function isChained({ pr }: Entry): boolean {
  return pr.below?.some(({ by }) => by === 'base') === true;
}

function requiresTargets(queue: Queue, entry: Entry): boolean {
  return queue.settings.mode === 'PARALLEL' && entry.submission > queue.submissionsBeforeParallel;
}
