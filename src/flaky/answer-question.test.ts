import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerQuestion, type QuestionFacts } from './answer-question.ts';

/** Test 1 and 2 are asked. The last pass ran 1 to 3. */
function answer(changes: Partial<QuestionFacts['results']> | undefined, more: Partial<QuestionFacts> = {}): string {
  const whole = { uploadIds: ['u'], testNos: [1, 2], isWhole: true, problem: null, failing: [] };
  const results = changes === undefined ? undefined : { ...whole, ...changes };
  const asked = [1, 2].map((testNo) => ({ testId: `t${testNo}`, testNo }));
  const lastPass = { uploadIds: ['v'], testNos: [1, 2, 3], isWhole: true, isWaiting: false };
  const facts = { asked, isWaiting: false, isComplete: true, isOfSeveralRuns: false, lastPass, ...more };
  const { kind, failed } = answerQuestion({ ...facts, results });
  return [kind, ...failed].join(' ');
}

const LAST = { uploadIds: ['v'], testNos: [2, 3], isWhole: true, isWaiting: false };

describe('the reports of a probe', () => {
  it('the question passes if all its tests ran and passed, also where others failed [B18]', () => {
    assert.equal(answer({}), 'passed');
    assert.equal(answer({ testNos: [1, 2, 3, 4], failing: [{ testNo: 4, testId: 't4' }] }), 'passed');
  });

  it('the question fails if one of its tests failed, also where others did not run [B18]', () => {
    assert.equal(answer({ failing: [{ testNo: 2, testId: 't2' }] }), 'failed t2');
    assert.equal(answer({ testNos: [2], failing: [{ testNo: 2, testId: 't2' }], isWhole: false }), 'failed t2');
  });

  it('nothing is said where a test did not run, was skipped or is forgotten, or a report is broken [B18]', () => {
    assert.equal(answer({ testNos: [2] }), 'none');
    assert.equal(answer({ testNos: [] }), 'none');
    assert.equal(answer({ skippedNos: [1] }), 'none');
    assert.equal(answer({ isWhole: false }), 'none');
    assert.equal(answer({}, { isOfSeveralRuns: true }), 'none');
    assert.equal(answer({}, { asked: [{ testId: 't1', testNo: undefined }] }), 'none');
    assert.equal(answer(undefined), 'none');
  });

  it('a test that the branch does not know either may be missing: others brought it [B18]', () => {
    assert.equal(answer({ testNos: [2] }, { lastPass: LAST }), 'passed');
    assert.equal(answer({ testNos: [2], skippedNos: [1] }, { lastPass: LAST }), 'none');
    assert.equal(answer({ testNos: [2], isWhole: false }, { lastPass: LAST }), 'none');
    for (const lastPass of [null, { ...LAST, isWhole: false }, { ...LAST, isWaiting: true }, { ...LAST, testNos: [] }])
      assert.equal(answer({ testNos: [2] }, { lastPass }), 'none');
  });

  it('more results are waited for as long as they may come [B18]', () => {
    assert.equal(answer(undefined, { isComplete: false }), 'open');
    assert.equal(answer({ testNos: [2] }, { isComplete: false }), 'open');
    assert.equal(answer({}, { isWaiting: true }), 'open');
    assert.equal(answer({}, { isComplete: false }), 'passed');
  });
});
