import type { Instant } from '../lib/clock.ts';

/**
 * A check that failed may have failed in nothing but quarantined tests. Whether it did is found out by whoever has the
 * results; the queue waits for that no longer than this, and only where it honors quarantine.
 */
export const JUDGEMENT_MS = 60_000;

/** How many failing tests a judgement names; one that waives more is none: so much at once is no flakiness. */
export const MAX_JUDGED_TESTS = 1_000;

/** A test that failed in the check. */
export interface JudgedTest {
  readonly id: string;
  readonly name: string;
  /** Why its failure is nobody's excuse; absent where it is quarantined as it should be. */
  readonly why?: string;
}

export interface JudgementFinding {
  readonly isWaived: boolean;
  /** A sentence. */
  readonly reason: string;
  /** At most MAX_JUDGED_TESTS, those that are no excuse first. */
  readonly tests: readonly JudgedTest[];
  readonly failing: number;
}

export type Judgement =
  /** It counts neither way until it is judged, or until then. */
  | { readonly kind: 'awaited'; readonly until: Instant }
  /** In shadow, nothing follows from it: it says what would have. */
  | ({ readonly kind: 'judged'; readonly at: Instant; readonly isShadow: boolean } & JudgementFinding);

export type Judged = Extract<Judgement, { readonly kind: 'judged' }>;

export const QUARANTINE_VERDICTS = [
  'PENDING',
  'WAIVED',
  'NOT_WAIVED',
  'WOULD_BE_WAIVED',
  'WOULD_NOT_BE_WAIVED',
] as const;
export type QuarantineVerdict = (typeof QUARANTINE_VERDICTS)[number];

/** In a word. */
export function quarantineVerdictOf(judgement: Judgement): QuarantineVerdict {
  if (judgement.kind === 'awaited') return 'PENDING';
  if (judgement.isShadow) return judgement.isWaived ? 'WOULD_BE_WAIVED' : 'WOULD_NOT_BE_WAIVED';
  return judgement.isWaived ? 'WAIVED' : 'NOT_WAIVED';
}

export const NOT_JUDGED: JudgementFinding = {
  isWaived: false,
  reason: `Its results were not processed within ${JUDGEMENT_MS / 1_000} seconds.`,
  tests: [],
  failing: 0,
};

interface Judgeable {
  readonly judgement?: Judgement;
}

export function isAwaited({ judgement }: Judgeable): boolean {
  return judgement?.kind === 'awaited';
}

export function isWaived({ judgement }: Judgeable): boolean {
  return judgement?.kind === 'judged' && judgement.isWaived && !judgement.isShadow;
}
