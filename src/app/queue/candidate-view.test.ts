import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { Check } from '../../engine/model/check.ts';
import type { Judgement } from '../../engine/model/judgement.ts';
import { createQueue } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import { viewCandidate, viewCheck } from './candidate-view.ts';

function failed(judgement?: Judgement): Check {
  const nothing = { startedAt: undefined, url: undefined, summary: undefined, reportedAt: 0 };
  const check = { name: 'unit', status: 'COMPLETED', conclusion: 'FAILURE', ...nothing } as const;
  return judgement === undefined ? check : { ...check, judgement };
}

const FOUND = {
  kind: 'judged',
  at: 0,
  isShadow: false,
  isWaived: false,
  reason: 'breaks: It is not quarantined.',
  tests: [
    { id: 'b', name: 'breaks', why: 'It is not quarantined.' },
    { id: 'a', name: 'spins' },
  ],
  failing: 2,
} as const;

describe('a failed check in the details of a test run', () => {
  it('[V53] names the tests that failed, which of them are excused, and why the others are not', () => {
    assert.deepEqual(viewCheck(failed(FOUND)).quarantine, {
      verdict: 'NOT_WAIVED',
      reason: 'breaks: It is not quarantined.',
      failedTests: [
        { id: 'b', name: 'breaks', isExcused: false, reason: 'It is not quarantined.' },
        { id: 'a', name: 'spins', isExcused: true },
      ],
      failedTestsTotal: 2,
    });
  });

  it('[V14] says what quarantine makes of it, or would have made', () => {
    const verdictOf = (judgement?: Judgement) => viewCheck(failed(judgement)).quarantine?.verdict;
    assert.equal(verdictOf(), undefined);
    assert.equal(verdictOf({ kind: 'awaited', until: 1 }), 'PENDING');
    assert.equal(verdictOf({ ...FOUND, isWaived: true }), 'WAIVED');
    assert.equal(verdictOf({ ...FOUND, isShadow: true }), 'WOULD_NOT_BE_WAIVED');
    assert.equal(verdictOf({ ...FOUND, isShadow: true, isWaived: true }), 'WOULD_BE_WAIVED');
  });
});

describe('a probe in the details of a test run', () => {
  it('[C71] names its tests where the reader asked for details', () => {
    const asked = (isDetailed: boolean) => {
      const question = [{ check: 'unit', tests: [{ id: 'a', name: 'spins' }] }];
      const blank = { checks: [], members: [], beneath: [], plannedAt: 0, state: 'testing', question };
      const candidate = { ...blank, purpose: { kind: 'bisection', bisection: 1 } } as unknown as Candidate;
      const nothing = { impactedTargets: undefined, impactedTargetsForTestedPrs: undefined, reuses: undefined };
      const queue = createQueue('main', DEFAULT_SETTINGS, 'RUNNING');
      const context = { testRunId: 'r', testBranch: 'b', queue, entries: new Map(), ...nothing, isDetailed };
      return viewCandidate(candidate, context).asked;
    };
    assert.deepEqual([asked(true), asked(false)], [['spins'], undefined]);
  });
});
