import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupLanes } from './format-run.ts';
import type { TestRun } from './read-queue.ts';

/** `3 on 1,2` as a run. */
function aRun(text: string): TestRun {
  const [tested = '', on = ''] = text.split(' on ');
  const numbers = (list: string): number[] => list.split(/[+,]/).filter(Boolean).map(Number);
  return {
    requiredStatuses: [],
    testBranch: text,
    testBranchSha: '',
    checkSuites: [],
    statusChecks: [],
    testedPullRequests: numbers(tested).map((prNumber) => ({ prNumber, prUrl: '', title: '' })),
    dependentPrs: numbers(on),
  };
}

const lanesOf = (...runs: string[]): string[] =>
  groupLanes(runs.map(aRun)).map((lane) => lane.map(({ testBranch }) => testBranch).join(' | '));

describe('lanes', () => {
  it('hold runs that stand on each other', () => {
    assert.deepEqual(lanesOf(), []);
    assert.deepEqual(lanesOf('1', '2 on 1', '3 on 1,2'), ['1 | 2 on 1 | 3 on 1,2']);
    assert.deepEqual(lanesOf('1', '2', '3 on 1', '4+5 on 2'), ['1 | 3 on 1', '2 | 4+5 on 2']);
  });

  it('become one where a run stands on several, also on the same that is not under test any more', () => {
    assert.deepEqual(lanesOf('1', '2', '4', '3 on 1,2'), ['1 | 2 | 3 on 1,2', '4']);
    assert.deepEqual(lanesOf('2 on 1', '3 on 1'), ['2 on 1 | 3 on 1']);
  });
});
