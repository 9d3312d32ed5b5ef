import type { Instant } from '../../lib/clock.ts';
import type { Signature } from './signature.ts';

/**
 * Tests may have failed that quarantine excuses. The shell judges that from the uploaded test results. A candidate waits
 * for the judgement no longer than this.
 */
export const JUDGEMENT_MS = 60_000;

/** How often a candidate is repeated because of tests that are quarantined automatically. */
export const MAX_REPETITIONS = 2;

/** How many failing tests a judgement names. More failures at once are not flakiness, so they are not waived. */
export const MAX_JUDGED_TESTS = 1_000;

export interface JudgedTest {
  readonly id: string;
  readonly name: string;
  /** The suites in which it failed, at most 10; absent if one of them is not known. */
  readonly suites?: readonly string[];
  /** Why its failure counts; absent if the failure is excused. */
  readonly why?: string;
  readonly excusedBy?: Excuse;
}

/** A person quarantined the test; or it passed in another run of the tree; or the check passed in spite of it. */
export type Excuse =
  | { readonly kind: 'person'; readonly name?: string }
  | { readonly kind: 'run'; readonly candidate: number }
  | { readonly kind: 'check' };

export interface JudgementFinding {
  /** The check passes. */
  readonly isWaived: boolean;
  /** The candidate is to be repeated: failed tests are quarantined automatically, and have not passed on its tree. */
  readonly isRepeat?: true;
  readonly reason: string;
  /** At most MAX_JUDGED_TESTS. Tests that are not excused come first. */
  readonly tests: readonly JudgedTest[];
  readonly failing: number;
  /** How long after the result of the check its reports were there; absent if there were none. */
  readonly reportsAfterMs?: number;
  /** The failed tests of a failed check. Absent if they are not known. */
  readonly signature?: Signature;
  readonly isBuild?: true;
  readonly isWhole?: true;
  /** Of a probe. */
  readonly answer?: Answer;
}

/** All tests of the question ran and passed, or one failed, or neither. */
export type Answer = 'passed' | 'failed' | 'none';

export type Judgement =
  /** The check is pending until it is judged, at the latest until this instant. */
  | { readonly kind: 'awaited'; readonly until: Instant }
  /** A shadow judgement has no effect. It says what would have happened. */
  | ({ readonly kind: 'judged'; readonly at: Instant; readonly isShadow: boolean } & JudgementFinding);

export type Judged = Extract<Judgement, { readonly kind: 'judged' }>;

export const QUARANTINE_VERDICTS = [
  'PENDING',
  'WAIVED',
  'REPEATED',
  'NOT_WAIVED',
  'WOULD_BE_WAIVED',
  'WOULD_BE_REPEATED',
  'WOULD_NOT_BE_WAIVED',
] as const;
export type QuarantineVerdict = (typeof QUARANTINE_VERDICTS)[number];

export function quarantineVerdictOf(judgement: Judgement): QuarantineVerdict {
  if (judgement.kind === 'awaited') return 'PENDING';
  const { isShadow, isWaived: isExcused, isRepeat } = judgement;
  if (isExcused) return isShadow ? 'WOULD_BE_WAIVED' : 'WAIVED';
  if (isRepeat) return isShadow ? 'WOULD_BE_REPEATED' : 'REPEATED';
  return isShadow ? 'WOULD_NOT_BE_WAIVED' : 'NOT_WAIVED';
}

export const NOT_JUDGED: JudgementFinding = {
  isWaived: false,
  reason: `Its results were not processed within ${JUDGEMENT_MS / 1_000} seconds.`,
  tests: [],
  failing: 0,
};

export const NOTHING_FAILED: JudgementFinding = { isWaived: true, reason: '', tests: [], failing: 0 };

interface Judgeable {
  readonly judgement?: Judgement;
}

export function isAwaited({ judgement }: Judgeable): boolean {
  return judgement?.kind === 'awaited';
}

/** The judgement of an attempt, if it decides something. */
export function rulingOf({ judgement }: Judgeable): Judged | undefined {
  return judgement?.kind === 'judged' && !judgement.isShadow ? judgement : undefined;
}

/** Its failure is excused. */
// SPEC V13
export function isWaived(check: Judgeable & { readonly conclusion?: string | undefined }): boolean {
  return check.conclusion === 'FAILURE' && rulingOf(check)?.isWaived === true;
}
