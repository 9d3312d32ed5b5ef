import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aMonitor, anUpload, aRun, FlakyWorld } from '../../test/helpers/test-history.ts';
import { newTestState } from './core/state.ts';
import { type FailedTest, type FailureFacts, judgeFailure, type TestEvidence } from './judge-failure.ts';

const ADMITTED = Date.UTC(2026, 8, 17, 12);
const BEFORE = ADMITTED - 1;
const AFTER = ADMITTED + 1;

/** A person flagged it as flaky long ago. */
const FLAKY: FailedTest = {
  name: 'spins',
  parent: 'wheel',
  quarantinedAt: BEFORE,
  quarantine: { by: 'auto' },
  state: { ...newTestState(0), flag: { at: 0, actor: 'ada', reason: null } },
  monitors: [],
};

const byPerson = (at: number, ...suites: string[]) => ({ by: 'person' as const, at, suites });

const LAST_PASS = { isWhole: true, isWaiting: false, uploadIds: ['p'], testNos: [1, 2, 3] };

function judge(facts: Partial<FailureFacts> = {}, test: Partial<FailedTest> = {}) {
  const failing = [{ testNo: 2, testId: 'b' }];
  return judgeFailure({
    isWaiting: false,
    isComplete: false,
    isOfSeveralRuns: false,
    results: { isWhole: true, problem: null, uploadIds: ['u'], testNos: [1, 2, 3], failing },
    lastPass: LAST_PASS,
    admittedAt: ADMITTED,
    tests: new Map([['b', { ...FLAKY, ...test }]]),
    evidence: new Map(),
    maxFailing: 1_000,
    ...facts,
  });
}

function results(changes: Partial<NonNullable<FailureFacts['results']>>): Partial<FailureFacts> {
  const failing = [{ testNo: 2, testId: 'b' }];
  return { results: { isWhole: true, problem: null, uploadIds: ['u'], testNos: [1, 2, 3], failing, ...changes } };
}

describe('a failure of quarantined tests only', () => {
  it('[V15] is waived, and says which', () => {
    const { kind, reason, tests, failing } = judge();
    assert.deepEqual([kind, reason], ['waived', 'Only quarantined tests failed (1 test).']);
    assert.deepEqual([tests, failing], [[{ id: 'b', name: 'spins' }], 1]);
  });

  it('[V50] is waived where tests have come that the last pass did not have', () => {
    assert.equal(judge(results({ testNos: [1, 2, 3, 4] })).kind, 'waived');
  });
});

describe('a failure is not waived', () => {
  it('[F50] where the test failed in another suite than the one it is quarantined for', () => {
    const state = {
      ...FLAKY.state,
      paths: [
        ['', 0],
        ['with coupon', AFTER],
      ] as const,
    };
    const failing = (path: string) => results({ failing: [{ testNo: 2, testId: 'b', paths: [path] }] });
    assert.equal(judge(failing(''), { state }).kind, 'waived');
    const [kind, reason] = pick(judge(failing('with coupon'), { state }));
    assert.equal(kind, 'denied');
    assert.match(reason, /several suites, and what it is quarantined for was not seen in the suite "with coupon"/);
    assert.equal(judge(results({}), { state }).kind, 'denied');
  });

  it('[V15] while its results are processed, which is waited for', () => {
    assert.deepEqual(pick(judge({ isWaiting: true })), ['open', 'Its test results are still being processed.']);
  });

  it('[V15] without results that are tied to it; those of the built-in runner are not waited for', () => {
    const reason = 'No test results were uploaded for this check of this test run.';
    assert.deepEqual(pick(judge({ results: undefined })), ['open', reason]);
    assert.deepEqual(pick(judge({ results: undefined, isComplete: true })), ['denied', reason]);
  });

  it('[V15] where a report is not whole', () => {
    const problem = 'unit.xml ends too early.';
    assert.deepEqual(pick(judge(results({ isWhole: false, problem }))), ['denied', problem]);
    assert.equal(judge(results({ isWhole: false })).reason, 'A test report is not whole.');
  });

  it('[V50] where a test of the last pass did not run, unless more results come', () => {
    const reason = '2 tests of the last pass of this check did not run.';
    assert.deepEqual(pick(judge(results({ testNos: [2] }))), ['open', reason]);
    assert.deepEqual(pick(judge({ ...results({ testNos: [2] }), isComplete: true })), ['denied', reason]);
  });

  it('[V49] where no earlier pass is known', () => {
    assert.deepEqual(pick(judge({ lastPass: null })), [
      'denied',
      'No results of an earlier pass of this check are known to compare with.',
    ]);
  });

  it('[V50] where a test was skipped that ran in the last pass: a suite that is cut short may list the rest', () => {
    const reason = '1 test of the last pass of this check did not run.';
    assert.deepEqual(pick(judge(results({ skippedNos: [3] }))), ['open', reason]);
    assert.equal(
      judge({ ...results({ skippedNos: [3] }), lastPass: { ...LAST_PASS, skippedNos: [3] } }).kind,
      'waived',
    );
  });

  it('[V50] where the results of the last pass are not whole, or none: they say nothing about what is missing', () => {
    const reason = 'The results of the last pass of this check are not whole: there is nothing to compare with.';
    assert.deepEqual(pick(judge({ lastPass: { ...LAST_PASS, isWhole: false, testNos: [] } })), ['denied', reason]);
    assert.deepEqual(pick(judge({ lastPass: { ...LAST_PASS, testNos: [] } })), ['denied', reason]);
  });

  it('[V50] while results of the last pass are processed', () => {
    const reason = 'The results of the last pass of this check are still being processed.';
    assert.deepEqual(pick(judge({ lastPass: { ...LAST_PASS, isWaiting: true } })), ['open', reason]);
  });

  it('[V50] where the last pass came in more uploads: one more may hold another failure', () => {
    const reason = 'The results of the last pass of this check came in 2 uploads, these in 1.';
    assert.deepEqual(pick(judge({ lastPass: { ...LAST_PASS, uploadIds: ['p', 'q'] } })), ['open', reason]);
  });

  it('[V48] where the results may be those of an earlier run of the check', () => {
    const reason = 'The check ran more than once, and its results may be those of an earlier run.';
    assert.deepEqual(pick(judge({ isOfSeveralRuns: true })), ['denied', reason]);
  });

  it('[V51] where no test failed', () => {
    const reason = 'No test failed in its results: something else did.';
    assert.deepEqual(pick(judge(results({ failing: [] }))), ['open', reason]);
    assert.deepEqual(pick(judge({ ...results({ failing: [] }), isComplete: true })), ['denied', reason]);
  });

  it('[V51] where more failed than flakiness explains', () => {
    const failing = ['b', 'c'].map((testId, index) => ({ testNo: index + 2, testId }));
    const tests = new Map(['b', 'c'].map((id) => [id, FLAKY]));
    const judged = judge({ ...results({ failing }), tests, maxFailing: 1 });
    assert.deepEqual([...pick(judged), judged.tests.length], ['denied', 'More than 1 tests failed.', 1]);
  });
});

describe('a failing test is no excuse', () => {
  const why = (facts: Partial<FailureFacts>, test: Partial<FailedTest>) => {
    const judged = judge(facts, test);
    assert.equal(judged.kind, 'denied');
    assert.equal(judged.reason, `spins: ${judged.tests[0]?.why}`);
    return judged.tests[0]?.why;
  };

  it('[V52] where it is not quarantined', () => {
    assert.equal(why({}, { quarantinedAt: null }), 'It is not quarantined.');
  });

  it('[V52] where it was quarantined after the admission', () => {
    const late = 'It was quarantined only after the pull request had been admitted.';
    assert.equal(why({}, { quarantinedAt: AFTER }), late);
    assert.equal(why({}, { quarantinedAt: AFTER, quarantine: byPerson(AFTER) }), late);
    assert.equal(judge({}, { quarantinedAt: ADMITTED }).kind, 'waived');
  });

  const NOT_SEEN =
    'What it is quarantined for was not seen before the admission on the target, or in test runs without these pull requests.';

  it('[V52] where nothing that counts has shown that it is flaky', () => {
    const state = newTestState(0);
    assert.equal(why({}, { state }), NOT_SEEN);
    // A person who decided before knew of it from elsewhere; one who decided since may not have.
    assert.equal(judge({}, { state, quarantine: byPerson(BEFORE) }).kind, 'waived');
    assert.equal(why({}, { state, quarantine: byPerson(AFTER) }), NOT_SEEN);
    assert.equal(why({}, { state: { ...state, flag: { at: AFTER, actor: 'ada', reason: null } } }), NOT_SEEN);
  });

  it('[V52] [V21] where what has shown it came only since the admission, or without a proven origin', () => {
    const world = new FlakyWorld([aMonitor({ type: 'pass_on_retry' })]);
    for (const [id, conclusion] of [
      ['failed', 'FAILURE'],
      ['passed', 'SUCCESS'],
    ] as const)
      world.tell({ upload: anUpload({ id }), runs: [aRun(conclusion, BEFORE)] }, BEFORE);
    const { monitors, past } = world;
    const state = world.state ?? newTestState(0);
    const given = (evidence: Partial<TestEvidence>) => ({
      evidence: new Map([['b', { past, hasUnproven: false, ...evidence }]]),
    });
    assert.equal(judge(given({}), { state, monitors }).kind, 'waived');
    assert.equal(why(given({ past: past.map((each) => ({ ...each, at: AFTER })) }), { state, monitors }), NOT_SEEN);
    const unproven = /came only in uploads whose origin is not proven/;
    assert.match(`${why(given({ past: past.slice(1), hasUnproven: true }), { state, monitors })}`, unproven);
  });

  it('[V21] where its results, or those of the last pass, came without a proven origin', () => {
    const withoutProof = results({ uploadIds: [], unprovenIds: ['u'], testNos: [] });
    assert.match(judge(withoutProof).reason, /^Its test results came only in uploads whose origin is not proven/);
    const lastPass = { ...LAST_PASS, uploadIds: [], testNos: [] };
    assert.match(judge({ lastPass }).reason, /^The results of the last pass of this check came only in uploads/);
  });

  it('[V52] where nobody knows it', () => {
    const judged = judge({ tests: new Map() });
    assert.deepEqual([judged.kind, judged.tests[0]?.why], ['denied', 'It is not known.']);
  });

  it('[F80] [V65] where a person quarantined it in another suite', () => {
    const state = {
      ...FLAKY.state,
      paths: [
        ['a', 0],
        ['b', 0],
      ],
    } as const;
    const failedIn = (...paths: (string | null)[]) => results({ failing: [{ testNo: 2, testId: 'b', paths }] });
    const test = { state, quarantine: byPerson(BEFORE, 'a') };
    assert.equal(why(failedIn('a', 'b'), test), 'It is quarantined in wheel > a, and failed in wheel > b.');
    assert.match(`${why(failedIn(null), test)}`, /in wheel > a, and failed in a suite that is not known\.$/);
    assert.match(`${why(failedIn('c'), { state, quarantine: byPerson(BEFORE) })}`, /since before any results named/);
    const [excused] = judge(failedIn('a'), test).tests;
    assert.deepEqual(excused, { id: 'b', name: 'spins', suites: ['wheel > a'] });
  });

  it('[V53] and is named before those that are one', () => {
    const failing = ['a', 'b', 'c'].map((testId, index) => ({ testNo: index + 1, testId }));
    const tests = new Map([
      ['a', FLAKY],
      ['b', { ...FLAKY, name: 'breaks', quarantinedAt: null }],
      ['c', { ...FLAKY, name: 'burns', quarantinedAt: null }],
    ]);
    const judged = judge({ ...results({ failing }), tests });
    assert.deepEqual(
      judged.tests.map(({ id }) => id),
      ['b', 'c', 'a'],
    );
    assert.equal(judged.reason, 'breaks: It is not quarantined. 1 other test failed likewise.');
  });
});

function pick({ kind, reason }: { readonly kind: string; readonly reason: string }): readonly [string, string] {
  return [kind, reason];
}
