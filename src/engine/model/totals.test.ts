import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { act, perform, settings } from '../../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { play } from '../../../test/worlds/engine/story.ts';
import { addTotals, NO_TOTALS, type Totals } from './totals.ts';

const MINUTE = 60_000;

/** Every number of the totals, by a name. */
function flat({ left, candidates, causes, inQueue, ...sums }: Totals): Readonly<Record<string, number>> {
  return {
    ...left,
    ...candidates,
    ...causes,
    ...sums,
    ...Object.fromEntries(inQueue.map((count, index) => [`le ${index}`, count])),
  };
}

describe('the totals of a queue', () => {
  it('count pull requests that left and candidates that ended, with their times [M11]', () => {
    const { queue } = play()`
      submit A B; wait 10m; pass A; wait 10m; fail B
      submit C; cancel C
    `;
    assert.deepEqual(queue.totals, {
      left: {
        'MERGED MERGE_GRAPH_MERGE': 1,
        'FAILED TEST_RUN_REQUIRED_STATUS_FAILED': 1,
        'CANCELLED USER_REQUESTED': 1,
      },
      candidates: { 'main passed': 1, 'main failed': 1, 'main abandoned': 1 },
      causes: { 'main UNKNOWN': 1 },
      ciMs: 30 * MINUTE,
      reusedTrees: 0,
      waived: 0,
      inQueue: [1, 0, 1, 0, 1, 0, 0, 0, 0],
      inQueueMs: 30 * MINUTE,
    });
  });

  it('count no CI time for a tree that had passed, and each waived check [M11]', () => {
    const { totals } = play({ honorQuarantine: 'ON' })`submit A; wait 5m; fail A; waive A`.queue;
    assert.deepEqual([totals.waived, totals.ciMs], [1, 5 * MINUTE]);
    const reused = play()`submit A; wait 5m; pass A; submit B; cancel B`.queue.totals;
    const ended = play()`submit A`.candidates()[0];
    assert.ok(ended);
    const twin = { ...ended, testingSince: 0, endedAt: 9, pass: { at: 9, by: 'reused_run' } } as never;
    const more = addTotals(reused, { transitions: [], endedCandidates: [twin] });
    assert.deepEqual([more.reusedTrees, more.ciMs], [1, reused.ciMs]);
  });

  it('equal a count of the whole history, and never go down, whatever happens [M11]', () => {
    fc.assert(
      fc.property(settings, fc.array(act, { minLength: 1, maxLength: 200, size: 'max' }), (chosen, acts) => {
        const told = new Scenario(chosen);
        for (const each of acts) {
          const before = flat(told.queue.totals);
          perform(told, each);
          const after = flat(told.queue.totals);
          for (const [name, value] of Object.entries(before)) assert.ok((after[name] ?? 0) >= value, name);
        }
        const endedCandidates = [...told.endings.values()];
        const recounted = addTotals(NO_TOTALS, { transitions: told.transitions, endedCandidates });
        const { inQueueMs, ...exact } = recounted;
        assert.deepEqual(flat(told.queue.totals), flat({ ...exact, inQueueMs }));
      }),
      { numRuns: 40 * Number(process.env.PROPERTY_RUNS ?? 1) },
    );
  });
});
