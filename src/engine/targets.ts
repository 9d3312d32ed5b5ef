/** A pull request with more targets than this counts as impacting everything. */
export const MAX_TARGETS = 100_000;

export type ImpactedTargets = {
  /** Uploaded by the CI of a fork, which has no token. Absent: uploaded with a token. */
  readonly from?: 'fork';
} & TargetsSaid;

type TargetsSaid =
  | { readonly kind: 'all'; readonly cause: 'declared' | 'too_many' }
  /** Equal sets of targets have the same `digest`. The targets are sorted and unique. */
  | {
      readonly kind: 'list';
      readonly digest: string;
      readonly count: number;
      /** Empty for an entry that ended, because targets are needed only in the queue. */
      readonly targets: readonly string[];
    };

export const ALL_TARGETS: ImpactedTargets = { kind: 'all', cause: 'declared' };
export const TOO_MANY_TARGETS: ImpactedTargets = { kind: 'all', cause: 'too_many' };

/** A fork cannot replace the targets that were uploaded with a token for the same head. */
// SPEC G80
export function isOutranked(targets: ImpactedTargets, known: ImpactedTargets | undefined): boolean {
  return targets.from === 'fork' && known !== undefined && known.from === undefined;
}
