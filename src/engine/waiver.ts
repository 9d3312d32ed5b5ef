import type { Instant } from '../lib/clock.ts';
import type { Candidate, DeniedWaiver, WaivedCheck } from './candidate.ts';
import type { Check } from './check.ts';
import { isAwaited, isWaived, type Judged, type JudgementFinding } from './judgement.ts';
import type { QueueSettings } from './settings.ts';

/** Only a plain failure of a required check can be waived. A cancelled or timed-out check says nothing about tests. */
// SPEC V44
export function isJudgeable({ required, purpose }: Candidate, check: Check): boolean {
  if (check.status !== 'COMPLETED' || check.conclusion !== 'FAILURE') return false;
  return purpose.kind !== 'direct' && required?.names.includes(check.name) === true;
}

/** Stores the judgement of one check. Undefined if the judgement is about an older attempt of that check. */
// SPEC V44
export function withFinding(
  checks: readonly Check[],
  finding: JudgementFinding,
  of: {
    readonly check: string;
    readonly attempt: Instant | undefined;
    readonly at: Instant;
    readonly mode: QueueSettings['honorQuarantine'];
  },
): readonly Check[] | undefined {
  const index = checks.findIndex(({ name }) => name === of.check);
  const known = checks[index];
  if (known === undefined || known.startedAt !== of.attempt || known.conclusion !== 'FAILURE') return undefined;
  if (known.judgement?.kind === 'judged') return undefined;
  const { isWaived: isExcused, reason, tests, failing } = finding;
  const isShadow = !isAwaited(known) || of.mode !== 'ON';
  const judgement: Judged = { kind: 'judged', at: of.at, isShadow, isWaived: isExcused, reason, tests, failing };
  return checks.with(index, { ...known, judgement });
}

/** The judgement stays on record in shadow mode: it says what would have been waived, and waives nothing. */
export function withoutWaiver(check: Check): Check {
  if (check.judgement?.kind !== 'judged' || !isWaived(check)) return check;
  return { ...check, judgement: { ...check.judgement, isShadow: true } };
}

/** The waivers that a pass by these checks depends on. A check that is no longer required adds none. */
// SPEC V13
export function waivedIn({ checks, required }: Candidate): WaivedCheck[] {
  const waived = checks.filter((check) => isWaived(check) && required?.names.includes(check.name) === true);
  return waived.map(({ name, judgement }) => ({
    check: name,
    tests: judgement?.kind === 'judged' ? judgement.tests.map((test) => ({ id: test.id, name: test.name })) : [],
  }));
}

/** The reasons why judged failures were not waived. */
// SPEC V46
export function deniedIn({ checks }: Candidate, names: readonly string[]): DeniedWaiver[] {
  return checks.flatMap(({ name, judgement }) =>
    names.includes(name) && judgement?.kind === 'judged' && !judgement.isShadow && !judgement.isWaived
      ? [{ check: name, why: judgement.reason }]
      : [],
  );
}
