/** A pull request that names more targets than this counts as impacting all of them. */
export const MAX_TARGETS = 100_000;

export type ImpactedTargets = {
  /** A fork's CI said so, which has no token. Absent: somebody with one. */
  readonly from?: 'fork';
} & TargetsSaid;

type TargetsSaid =
  | { readonly kind: 'all'; readonly cause: 'declared' | 'too_many' }
  /** `digest` is the same for the same set of targets; the targets are sorted and each is there once. */
  | {
      readonly kind: 'list';
      readonly digest: string;
      readonly count: number;
      /** None for an entry that ended: nobody needs them any more. */
      readonly targets: readonly string[];
    };

export const ALL_TARGETS: ImpactedTargets = { kind: 'all', cause: 'declared' };
export const TOO_MANY_TARGETS: ImpactedTargets = { kind: 'all', cause: 'too_many' };

/** A fork cannot take back what somebody with a token said of the same head. */
export function isOutranked(targets: ImpactedTargets, known: ImpactedTargets | undefined): boolean {
  return targets.from === 'fork' && known !== undefined && known.from === undefined;
}
