import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLanes, drawLanes, type Run } from './lanes.ts';

function aRun(name: string, tested: readonly number[], beneath: readonly number[] = []): Run {
  const testedPullRequests = tested.map((prNumber) => ({ prNumber, title: `PR ${prNumber}` }));
  return { testRunId: name, testBranch: `sluice/${name}`, testedPullRequests, dependentPrs: beneath };
}

function draw(...runs: Run[]): string[] {
  return drawLanes(runs).lanes.map(({ nodes }) =>
    nodes.map(({ run, isBranching }) => `${isBranching ? '^' : ''}${run.testRunId}`).join(' '),
  );
}

describe('the lanes of a queue', () => {
  it('are one row where everything is built on what is ahead', () => {
    assert.deepEqual(draw(aRun('a', [1]), aRun('b', [2], [1]), aRun('c', [3, 4], [1, 2])), ['a b c']);
  });

  it('are one row for each that is built on nothing else', () => {
    assert.deepEqual(draw(aRun('a', [1]), aRun('b', [2]), aRun('c', [3], [1])), ['a c', 'b']);
  });

  it('leave a row where two are built on the same', () => {
    assert.deepEqual(draw(aRun('a', [1]), aRun('b', [2], [1]), aRun('c', [3], [1])), ['a b', '^c']);
  });

  it('begin at the branch where what is beneath has ended', () => {
    assert.deepEqual(draw(aRun('b', [2], [1])), ['b']);
  });

  it('show searches apart', () => {
    const search = { ...aRun('s', [5, 6]), purpose: 'SEARCH' };
    const picture = drawLanes([aRun('a', [1]), search]);
    assert.deepEqual(picture.searches, [search]);
    assert.equal(describeLanes(picture, 'main'), 'main, then #1; a search tests #5, #6');
  });
});
