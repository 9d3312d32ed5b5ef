import { formatInstant, type Instant } from '../lib/clock.ts';
import type { Candidate, CandidateNumber } from './candidate.ts';
import { type Judged, quarantineVerdictOf } from './judgement.ts';
import { appFor } from './required.ts';

/** Why an entry is in its state, as a tree of reasons in words. */
export interface Explanation {
  readonly summary: string;
  /** From 1, among the admitted entries. */
  readonly position?: number;
  readonly next: string;
  readonly reasons: readonly ExplanationReason[];
}

export interface ExplanationReason extends About {
  readonly code: string;
  readonly text: string;
  readonly reasons: readonly ExplanationReason[];
}

interface About {
  readonly prNumber?: number;
  readonly check?: string;
  readonly testRun?: CandidateNumber;
  readonly since?: Instant;
}

export function reason(code: string, text: string, about: About = {}): ExplanationReason {
  return { code, text, ...about, reasons: [] };
}

/** The details of the test run list all of them. */
const NAMED = 5;

/** Explains the effect of quarantine on the failures of a candidate's checks. */
export function judgementReasons({ checks, number: testRun }: Candidate): ExplanationReason[] {
  return checks.flatMap(({ name: check, judgement }) => {
    if (judgement?.kind !== 'judged') return [];
    const about = { check, testRun, since: judgement.at };
    return [
      { ...reason(quarantineVerdictOf(judgement), textOf(check, judgement), about), reasons: testReasons(judgement) },
    ];
  });
}

function textOf(check: string, judged: Judged): string {
  const { isShadow, isWaived, reason: why } = judged;
  if (isShadow && isWaived) {
    return `The failure of ${check} would have been waived if the queue honored quarantine. ${why}`;
  }
  if (isShadow) return `The failure of ${check} would not have been waived either. ${why}`;
  return isWaived ? `The failure of ${check} is waived. ${why}` : `The failure of ${check} is not waived. ${why}`;
}

function testReasons({ tests, failing }: Judged): ExplanationReason[] {
  const named = tests
    .slice(0, NAMED)
    .map(({ name, why }) =>
      why === undefined
        ? reason('TEST_QUARANTINED', `${name} failed, and is quarantined.`)
        : reason('TEST_FAILED', `${name} failed. ${why}`),
    );
  const more = failing - named.length;
  if (more <= 0) return named;
  return [...named, reason('AND_MORE', `${more} more ${more === 1 ? 'test' : 'tests'} failed.`)];
}

export function openReason({ checks, required, number: testRun }: Candidate, check: string): ExplanationReason {
  const judgement = checks.find(({ name }) => name === check)?.judgement;
  if (judgement?.kind !== 'awaited') {
    const app = required && appFor(required, check);
    const only = app === undefined ? '' : ` It counts only when the app ${app} reports it.`;
    return reason('CHECK_OPEN', `${check} has not reported a result yet.${only}`, { check, testRun });
  }
  const until = formatInstant(judgement.until);
  const text = `${check} failed. Whether only quarantined tests did is being found out, until ${until} at the latest.`;
  return reason('JUDGEMENT_OPEN', text, { check, testRun });
}
