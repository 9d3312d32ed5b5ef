/** A pull request that names more targets than this counts as impacting all of them. */
export const MAX_TARGETS = 100_000;

export type ImpactedTargets =
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
