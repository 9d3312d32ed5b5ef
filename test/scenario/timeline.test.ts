import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

describe('every transition is kept with its instant, reason, actor and candidate', () => {
  it('tells the whole life of an entry that lands [E1] [E11]', () => {
    const told = play()`submit A unready; wait 2m; ready A; wait 10m; pass A`;
    const life = told.trailOf('A').map(({ from, to, because, durationMs }) => {
      return [from, to, because.reason, because.candidate, because.actor, (durationMs ?? 0) / 60_000];
    });
    assert.deepEqual(life, [
      [undefined, 'NOT_READY', 'API_REQUESTED', undefined, 'ada', 0],
      ['NOT_READY', 'PENDING', 'MERGE_ITEM_NOW_READY', undefined, undefined, 2],
      ['PENDING', 'TESTING', 'TEST_RUN_STARTED', 1, undefined, 0],
      ['TESTING', 'TESTS_PASSED', 'TEST_RUN_PASSED', 1, undefined, 10],
      ['TESTS_PASSED', 'MERGED', 'MERGE_GRAPH_MERGE', 1, undefined, 0],
    ]);
    assert.equal(told.lastOf('A')?.inQueueMs, 10 * 60_000);
  });

  it('names the candidate and the checks of a failure, held and settled [E11] [V5]', () => {
    const told = play()`sources protection=a,b; submit A B; pass A+B by=a; fail A+B by=b; pass A by=a; pass A by=b`;
    const ends = told.trailOf('B').slice(-2);
    assert.deepEqual(
      ends.map(({ to, because }) => [to, because]),
      [
        ['PENDING_FAILURE', { reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', checks: ['b'], candidate: 2, onTopOf: [1] }],
        [
          'FAILED',
          {
            reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
            checks: ['b'],
            candidate: 2,
            onTopOf: [1],
            cause: 'UNKNOWN',
          },
        ],
      ],
    );
  });

  it('names who removed it, and nobody for what the queue or a forge did [E11]', () => {
    const told = play()`submit A B C; cancel A; close B; fail C`;
    assert.deepEqual(
      ['A', 'B', 'C'].map((name) => told.lastOf(name)?.because.actor),
      ['ada', undefined, undefined],
    );
  });

  it('names the checks for which a batch is searched [E11] [B4]', () => {
    const told = play()`with batch=true batchingMinSize=2; submit A B; fail AB`;
    const required = told.trailOf('B').find(({ because }) => because.reason === 'BISECTION_REQUIRED');
    assert.deepEqual(required?.because, { reason: 'BISECTION_REQUIRED', checks: ['ci'], candidate: 1 });
  });

  it('names the run that vouched, and the one that was withdrawn [E11] [V8]', () => {
    const told = play()`with canOptimisticallyMerge=true; submit A B; pause; pass A+B; cancel B`;
    const [vouched, withdrawn] = told.trailOf('A').slice(-2);
    assert.deepEqual(vouched?.because, { reason: 'SUCCESSOR_TEST_RUN_PASSED', candidate: 2 });
    assert.deepEqual(withdrawn?.because, { reason: 'SUCCESSOR_TEST_RUN_WITHDRAWN', candidate: 2 });
  });

  it('names the entry it conflicts with [E11] [C33]', () => {
    const told = play()`conflict B A; submit A B`;
    assert.deepEqual(told.lastOf('B')?.because, {
      reason: 'CONFLICTS_WITH_PREREQUISITE',
      prNumber: numberOf('A'),
      candidate: 2,
    });
  });

  it('keeps an ended candidate with why it ended [C5] [C11]', () => {
    const told = play()`submit A B; cancel A; pass B`;
    const endings = [1, 2, 3].map((number) => {
      const { state, ending } = told.endedCandidates.get(number) ?? {};
      return [state, ending?.reason, ending?.prNumber];
    });
    assert.deepEqual(endings, [
      ['abandoned', 'PREREQUISITE_MERGE_ITEM_CANCELLED', 1],
      ['abandoned', 'PREREQUISITE_MERGE_ITEM_CANCELLED', 1],
      ['passed', 'MERGE_GRAPH_MERGE', undefined],
    ]);
  });

  it('asks the outside to discard every candidate that was started, once [C11]', () => {
    const told = play()`submit A B; cancel A; pass B; submit C; restart C; fail C; pause; submit D`;
    const asked = told.steps.flatMap(({ effects }) => effects);
    const numbers = (kind: string) => asked.flatMap((e) => (e.kind === kind && 'candidate' in e ? [e.candidate] : []));
    assert.deepEqual(numbers('build_candidate'), [1, 2, 3, 4, 5]);
    assert.deepEqual(
      numbers('discard_candidate').sort((a, b) => a - b),
      [1, 2, 3, 4, 5],
    );
  });
});
