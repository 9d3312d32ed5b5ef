import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLanes, drawLanes, foldLanes, type Run } from './lanes.ts';

function aRun(name: string, tested: readonly number[], beneath: readonly number[] = []): Run {
  const testedPullRequests = tested.map((prNumber) => ({ prNumber, title: `PR ${prNumber}` }));
  return { testRunId: name, testBranch: `sluice/${name}`, testedPullRequests, onTopOf: beneath };
}

function draw(...runs: Run[]): string[] {
  return drawLanes(runs).lanes.map(({ nodes }) =>
    nodes.map(({ run, on }) => [...on.map((prNumber) => `^${prNumber}`), run.testRunId].join(' ')).join(' '),
  );
}

describe('the lanes of a queue', () => {
  it('are one row where every run is built on the one ahead', () => {
    assert.deepEqual(draw(aRun('a', [1]), aRun('b', [2], [1]), aRun('c', [3, 4], [1, 2])), ['a b c']);
  });

  it('are one row for each that is built on nothing else', () => {
    assert.deepEqual(draw(aRun('a', [1]), aRun('b', [2]), aRun('c', [3], [1])), ['a c', 'b']);
  });

  it('leave a row where two are built on the same', () => {
    assert.deepEqual(draw(aRun('a', [1]), aRun('b', [2], [1]), aRun('c', [3], [1])), ['a b', '^1 c']);
  });

  it('name what they are tested on where no box shows it', () => {
    assert.deepEqual(draw(aRun('b', [2], [1])), ['^1 b']);
    const joined = [aRun('a', [1]), aRun('b', [2]), aRun('c', [3], [1, 2])];
    assert.deepEqual(draw(...joined), ['a ^2 c', 'b']);
    assert.equal(describeLanes(drawLanes(joined), 'main'), 'main, then #1, then #3, also on #2; main, then #2');
  });

  it('show searches apart', () => {
    const search = { ...aRun('s', [5, 6]), purpose: 'SEARCH' };
    const picture = drawLanes([aRun('a', [1]), search]);
    assert.deepEqual(picture.searches, [search]);
    assert.equal(describeLanes(picture, 'main'), 'main, then #1; a search tests #5, #6');
  });

  it('share a folded row where many have a single run', () => {
    const many = Array.from({ length: 300 }, (_, index) => aRun(`r${index}`, [index + 1]));
    const picture = drawLanes([...many, aRun('t', [901], [2])]);
    const { rows, singles, more } = foldLanes(picture.lanes, false);
    assert.deepEqual(
      rows.map(({ nodes }) => nodes.map(({ run }) => run.testRunId)),
      [['r1', 't']],
    );
    assert.deepEqual([singles.length, more], [40, 259]);
    const whole = foldLanes(picture.lanes, true);
    assert.deepEqual([whole.singles.length, whole.more], [299, 0]);
    assert.match(describeLanes(picture, 'main'), /main, then #12; and 288 more lanes$/);
  });

  it('keep their rows while a screen can show them', () => {
    const { lanes } = drawLanes([aRun('a', [1]), aRun('b', [2])]);
    assert.deepEqual(foldLanes(lanes, false), { rows: lanes, singles: [], more: 0 });
  });

  it('are drawn of a thousand runs on top of each other', () => {
    const before = (index: number) => Array.from({ length: index }, (_, other) => other + 1);
    const runs = Array.from({ length: 1_000 }, (_, index) => aRun(`r${index}`, [index + 1], before(index)));
    const { lanes } = drawLanes(runs);
    assert.deepEqual([lanes.length, lanes[0]?.nodes.length], [1, 1_000]);
  });
});
