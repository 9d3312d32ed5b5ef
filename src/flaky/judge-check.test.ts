import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newTestState } from './core/state.ts';
import { type CheckFacts, type FailedTest, judgeCheck } from './judge-check.ts';

const ADMITTED = Date.UTC(2026, 8, 17, 12);
const BEFORE = ADMITTED - 1;
const AFTER = ADMITTED + 1;

/** A person quarantined it long ago. */
const FLAKY: FailedTest = {
  name: 'spins',
  parent: 'wheel',
  quarantinedAt: BEFORE,
  isAutomatic: false,
  quarantine: { by: 'person', at: 0, suites: [''] },
  decidedBy: 'ada',
  state: newTestState(0),
  monitors: [],
};

const AUTOMATIC: Partial<FailedTest> = { isAutomatic: true, quarantine: { by: 'auto' } };
const byPerson = (at: number, ...suites: string[]) => ({ by: 'person' as const, at, suites });

const LAST_PASS = { isWhole: true, isWaiting: false, uploadIds: ['p'], testNos: [1, 2, 3] };

function judge(facts: Partial<CheckFacts> = {}, test: Partial<FailedTest> = {}) {
  const failing = [{ testNo: 2, testId: 'b' }];
  return judgeCheck({
    conclusion: 'FAILURE',
    isWaiting: false,
    isComplete: false,
    isOfSeveralRuns: false,
    results: { isWhole: true, problem: null, uploadIds: ['u'], testNos: [1, 2, 3], failing },
    lastPass: LAST_PASS,
    admittedAt: ADMITTED,
    tests: new Map([['b', { ...FLAKY, ...test }]]),
    others: [],
    repetitionsLeft: 2,
    maxFailing: 1_000,
    ...facts,
  });
}

function results(changes: Partial<NonNullable<CheckFacts['results']>>): Partial<CheckFacts> {
  const failing = [{ testNo: 2, testId: 'b' }];
  return { results: { isWhole: true, problem: null, uploadIds: ['u'], testNos: [1, 2, 3], failing, ...changes } };
}

describe('a failure of quarantined tests only', () => {
  it('[V15] is waived, and says which', () => {
    const { kind, reason, tests, failing } = judge();
    assert.deepEqual([kind, reason], ['excused', 'Only quarantined tests failed (1 test).']);
    assert.deepEqual([tests, failing], [[{ id: 'b', name: 'spins', excusedBy: { kind: 'person', name: 'ada' } }], 1]);
  });

  it('[V50] is waived where tests have come that the last pass did not have', () => {
    assert.equal(judge(results({ testNos: [1, 2, 3, 4] })).kind, 'excused');
  });
});

describe('a failure is not waived', () => {
  it('[F50] where the test failed in another suite than the one it is quarantined for', () => {
    const state = {
      ...newTestState(0),
      paths: [
        ['', 0],
        ['with coupon', AFTER],
      ] as const,
    };
    const failing = (path: string) => results({ failing: [{ testNo: 2, testId: 'b', paths: [path] }] });
    assert.equal(judge(failing(''), { state }).kind, 'excused');
    const [kind, reason] = pick(judge(failing('with coupon'), { state }));
    assert.equal(kind, 'denied');
    assert.match(reason, /It is quarantined in wheel, and failed in wheel > with coupon/);
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
      'excused',
    );
  });

  it('[V50] where the last pass has no whole results: then no test can be called missing', () => {
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
  const why = (facts: Partial<CheckFacts>, test: Partial<FailedTest>) => {
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
    assert.equal(judge({}, { quarantinedAt: ADMITTED }).kind, 'excused');
  });

  it('[V52] where a person decided only since the admission', () => {
    const late = 'It was quarantined only after the pull request had been admitted.';
    assert.equal(why({}, { quarantine: byPerson(AFTER) }), late);
  });

  it('[V52] where it is not known', () => {
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
    assert.deepEqual([excused?.suites, excused?.why], [['wheel > a'], undefined]);
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

/** Another run of the tree: the tests 1, 2 and 3 ran, and these failed. */
function aRun(candidate: number, ...failed: readonly number[]): CheckFacts['others'][number] {
  const failing = failed.map((testNo) => ({ testNo, testId: 'abc'[testNo - 1] as string }));
  const results = { isWhole: true, problem: null, uploadIds: ['o'], testNos: [1, 2, 3], failing };
  return { candidate, results };
}

describe('automatic quarantine', () => {
  it('[V56] is a right to be repeated, and no excuse', () => {
    const judged = judge({}, AUTOMATIC);
    assert.deepEqual(pick(judged), ['repeat', 'spins: It is flaky, and has not passed on this tree yet.']);
    assert.equal(judge({ repetitionsLeft: 0, others: [aRun(7, 2)] }, AUTOMATIC).kind, 'denied');
  });

  it('[V56] excuses a test that passed in another run of the tree, and names that run', () => {
    const judged = judge({ others: [aRun(7, 2), aRun(8, 1)] }, AUTOMATIC);
    assert.deepEqual([judged.kind, judged.tests[0]?.excusedBy], ['excused', { kind: 'run', candidate: 8 }]);
  });

  it('[V56] counts no run in which the test was skipped or is missing', () => {
    const { candidate, results: other } = aRun(7);
    const skipped = { candidate, results: { ...other, skippedNos: [2] } };
    const absent = { candidate, results: { ...other, testNos: [1, 3] } };
    assert.equal(judge({ others: [skipped, absent] }, AUTOMATIC).kind, 'repeat');
  });

  it('[V56] [F50] cannot tell which test passed where the id stands for several', () => {
    const state = { ...newTestState(0), paths: ['', 'inner'].map((path) => [path, 0] as const) };
    assert.equal(judge({ others: [aRun(7)] }, { ...AUTOMATIC, state }).kind, 'repeat');
  });

  it('[V56] gives a run that was cut short another try, and no excuse', () => {
    const cut = { ...results({ testNos: [2] }), isComplete: true };
    assert.equal(judge(cut, AUTOMATIC).kind, 'repeat');
    assert.equal(judge({ ...cut, others: [aRun(7)] }, AUTOMATIC).kind, 'denied');
    assert.equal(judge(results({ testNos: [2] }), AUTOMATIC).kind, 'open', 'another upload may hold a failure');
  });

  it('[V56] says at the end that the test never passed', () => {
    const judged = judge({ repetitionsLeft: 0, others: [aRun(7, 2), aRun(8, 2)] }, AUTOMATIC);
    assert.deepEqual(pick(judged), ['denied', 'spins: It is flaky, and passed in none of 3 runs of this tree.']);
  });
});

describe('a check that passed although tests failed', () => {
  const passed = (facts: Partial<CheckFacts> = {}, test: Partial<FailedTest> = {}) =>
    judge({ conclusion: 'SUCCESS', ...facts }, test);

  it('[V55] is repeated for a test that is quarantined automatically, until it passed in another run', () => {
    assert.equal(passed({}, AUTOMATIC).kind, 'repeat');
    assert.equal(passed({ others: [aRun(7)] }, AUTOMATIC).kind, 'excused');
    const never = passed({ others: [aRun(7, 2), aRun(8, 2)], repetitionsLeft: 0 }, AUTOMATIC);
    assert.deepEqual(pick(never), ['denied', 'spins: It is flaky, and passed in none of 3 runs of this tree.']);
  });

  it('[V55] passes by the decision of a person, also by one since the admission', () => {
    assert.deepEqual(passed({}, { quarantine: byPerson(AFTER, '') }).tests[0]?.excusedBy, {
      kind: 'person',
      name: 'ada',
    });
  });

  it('[V55] passes where the test is not quarantined: that is the business of the check', () => {
    const judged = passed({}, { quarantinedAt: null, quarantine: { by: 'auto' } });
    assert.deepEqual([judged.kind, judged.tests[0]?.excusedBy], ['excused', { kind: 'check' }]);
  });

  it('[V55] is repeated where the test stopped to be flaky during the run', () => {
    assert.equal(passed({}, { ...AUTOMATIC, quarantinedAt: null }).kind, 'repeat');
  });

  it('[V55] is repeated where a person quarantined the test of another suite only', () => {
    const state = {
      ...newTestState(0),
      paths: [
        ['', 0],
        ['inner', AFTER],
      ] as const,
    };
    const failing = [{ testNo: 2, testId: 'b', paths: ['inner'] }];
    assert.equal(passed(results({ failing }), { state }).kind, 'repeat');
  });

  it('[V58] waits for as many uploads as the last pass had, and passes without them at the end', () => {
    const lastPass = { ...LAST_PASS, uploadIds: ['p', 'q'] };
    assert.equal(passed({ lastPass }).kind, 'open');
    assert.equal(passed({ results: undefined }).kind, 'open');
    assert.equal(passed({ results: undefined, isComplete: true }).kind, 'excused');
    assert.equal(passed({ ...results({ failing: [] }), lastPass, isComplete: true }).kind, 'excused');
  });
});

function pick({ kind, reason }: { readonly kind: string; readonly reason: string }): readonly [string, string] {
  return [kind, reason];
}
