import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Candidate, DeniedWaiver, ExcusedCheck, Pass } from './candidate.ts';
import type { Check } from './check.ts';
import { isAwaited, isWaived, type Judged, type JudgementFinding, rulingOf } from './judgement.ts';
import { isFailFast } from './required.ts';
import type { QueueSettings } from './settings.ts';

/**
 * A plain failure of a required check may be one of excused tests only, and reports of a passed one may hold failures
 * that it ignored. A cancelled or timed-out check says nothing about tests.
 */
// SPEC V44, V55, V84
export function isJudgeable({ required, purpose, question }: Candidate, check: Check): boolean {
  const { status, conclusion, isUnconfirmed, hasUploads } = check;
  if (status !== 'COMPLETED' || isUnconfirmed === true || purpose.kind === 'direct') return false;
  if (conclusion === 'SUCCESS' ? hasUploads !== true && question === undefined : conclusion !== 'FAILURE') return false;
  if (conclusion === 'FAILURE' && isFailFast(required, check.name)) return true;
  return required?.names.includes(check.name) === true;
}

/**
 * Stores the judgement of one check. Undefined if it is about an older attempt of that check, or if the check was judged:
 * only more failed tests than those that were excused are news.
 */
// SPEC V44
export function withFinding(
  checks: readonly Check[],
  finding: JudgementFinding,
  of: {
    readonly check: string;
    readonly attempt: Instant | undefined;
    readonly at: Instant;
    readonly mode: QueueSettings['honorQuarantine'];
    /** Nothing can follow from it any more. */
    readonly isTooLate?: boolean;
  },
): readonly Check[] | undefined {
  const index = checks.findIndex(({ name }) => name === of.check);
  const known = checks[index];
  if (known === undefined || known.startedAt !== of.attempt) return undefined;
  const { conclusion, judgement: before } = known;
  const isRuled = rulingOf(known)?.isWaived === true && of.isTooLate !== true;
  if (before?.kind === 'judged' && !(isRuled && finding.failing > before.failing)) return undefined;
  if (conclusion !== 'FAILURE' && conclusion !== 'SUCCESS') return undefined;
  const { isWaived: isExcused, isRepeat, reason, tests, failing, reportsAfterMs } = finding;
  const { judgement: _awaited, ...plain } = known;
  const signature = conclusion === 'FAILURE' ? (finding.signature ?? []) : undefined;
  const { isBuild, isWhole } = finding;
  const reported: Check = { ...plain, ...present({ reportsAfterMs, signature, isBuild, isWhole }) };
  // Quarantine is not asked. The failed tests are read for the sake of those to blame.
  if (conclusion === 'FAILURE' && of.mode === 'OFF' && before === undefined) return checks.with(index, reported);
  // A pass without a failed test needs no word.
  if (conclusion === 'SUCCESS' && isExcused && failing === 0) return checks.with(index, reported);
  const isHonored = conclusion === 'SUCCESS' || ((isAwaited(known) || isRuled) && of.mode === 'ON');
  const isShadow = of.isTooLate === true || !isHonored;
  const common = { kind: 'judged', at: of.at, isShadow, isWaived: isExcused, reason, tests, failing } as const;
  const judgement: Judged = { ...common, ...present({ isRepeat }) };
  return checks.with(index, { ...reported, judgement });
}

/** A failed check is waived, or makes the candidate be repeated, only while the queue honors quarantine. */
export function needsHonor(check: Check): boolean {
  const ruling = rulingOf(check);
  return check.conclusion === 'FAILURE' && (ruling?.isWaived === true || ruling?.isRepeat === true);
}

/** The judgement stays on record in shadow mode: it says what would have been waived, and waives nothing. */
export function withoutWaiver(check: Check): Check {
  if (check.judgement?.kind !== 'judged' || !needsHonor(check)) return check;
  return { ...check, judgement: { ...check.judgement, isShadow: true } };
}

/** The waivers that a pass by these checks depends on. A check that is no longer required adds none. */
// SPEC V13
export function waivedIn(candidate: Candidate): ExcusedCheck[] {
  return excusesIn(candidate, isWaived);
}

/** Required checks that passed although tests failed in their reports. */
// SPEC V57
export function excusedIn(candidate: Candidate): ExcusedCheck[] {
  return excusesIn(candidate, (check) => check.conclusion === 'SUCCESS' && rulingOf(check)?.isWaived === true);
}

/** As a pass records them. */
export function excusesOf(candidate: Candidate): Pick<Pass, 'waived' | 'excused'> {
  const [waived, excused] = [waivedIn(candidate), excusedIn(candidate)];
  return { ...(waived.length > 0 && { waived }), ...(excused.length > 0 && { excused }) };
}

function excusesIn({ checks, required }: Candidate, isExcused: (check: Check) => boolean): ExcusedCheck[] {
  const excused = checks.filter((check) => isExcused(check) && required?.names.includes(check.name) === true);
  return excused.map((check) => ({ check: check.name, tests: rulingOf(check)?.tests ?? [] }));
}

/** Reports of a check that passed hold failures that nothing excuses. */
// SPEC V63
export function isDoubted({ checks }: Candidate): boolean {
  return checks.some(
    ({ conclusion, judgement }) => conclusion === 'SUCCESS' && judgement?.kind === 'judged' && !judgement.isWaived,
  );
}

/** The reasons why judged failures were not waived. */
// SPEC V46
export function deniedIn({ checks }: Candidate, names: readonly string[]): DeniedWaiver[] {
  return checks.flatMap((check) => {
    const ruling = names.includes(check.name) ? rulingOf(check) : undefined;
    return ruling === undefined || ruling.isWaived ? [] : [{ check: check.name, why: ruling.reason }];
  });
}
