import type { Instant } from '../lib/clock.ts';

/**
 * A check may have failed in quarantined tests only. The shell judges that from the uploaded test results. A candidate
 * waits for the judgement no longer than this, and only if the queue honors quarantine.
 */
export const JUDGEMENT_MS = 60_000;

/** How many failing tests a judgement names. More failures at once are not flakiness, so they are not waived. */
export const MAX_JUDGED_TESTS = 1_000;

export interface JudgedTest {
  readonly id: string;
  readonly name: string;
  /** The suites in which it failed, at most 10; absent if one of them is not known. */
  readonly suites?: readonly string[];
  /** Why its failure counts; absent if its quarantine excuses the failure. */
  readonly why?: string;
}

export interface JudgementFinding {
  readonly isWaived: boolean;
  readonly reason: string;
  /** At most MAX_JUDGED_TESTS. Tests that are not excused come first. */
  readonly tests: readonly JudgedTest[];
  readonly failing: number;
}

export type Judgement =
  /** The check is pending until it is judged, at the latest until this instant. */
  | { readonly kind: 'awaited'; readonly until: Instant }
  /** A shadow judgement has no effect. It says what would have happened. */
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

// SPEC V13
export function isWaived({ judgement }: Judgeable): boolean {
  return judgement?.kind === 'judged' && judgement.isWaived && !judgement.isShadow;
}
