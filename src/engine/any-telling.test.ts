import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { act, perform, settings } from '../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../test/worlds/engine/scenario.ts';
import { decodeQueue, encodeEffect, encodeQueue } from '../app/core/queue-codec.ts';
import { valuesOf } from '../lib/int-map.ts';
import type { QueueId } from '../storage/queues.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import type { Effect } from './model/effect.ts';
import type { BlockReason, PrNumber } from './model/pull-request.ts';
import { createQueue } from './model/queue.ts';
import { DEFAULT_SETTINGS } from './model/settings.ts';

const history = fc.array(act, { minLength: 1, maxLength: 120, size: 'max' });
const PLACE = { queueId: 'queue' as QueueId, version: 2, ordinal: 0, at: 1_000 };

const isTell = (effect: Effect) => effect.kind === 'update_page';
const toldIn = (effects: readonly Effect[]) => effects.flatMap((e) => (e.kind === 'update_page' ? e.prNumber : []));

function told(story: Scenario): Scenario {
  story.queue = { ...story.queue, hasPages: true };
  return story;
}

/**
 * The course of the story without page updates. A queue with pages wakes more often, which does not change its course.
 */
function courseOf(story: Scenario): readonly object[] {
  return story.steps.flatMap(({ effects, transitions }, index) => {
    const others = effects.filter((effect) => !isTell(effect));
    const isIdle = others.length + transitions.length === 0 && story.events[index]?.kind === 'time_passed';
    return isIdle ? [] : [{ effects: others, transitions }];
  });
}

describe('telling people', () => {
  it('tells of every change of state, once for each entry and step, and changes nothing else [G141] [I1]', () => {
    fc.assert(
      fc.property(settings, history, (chosen, acts) => {
        const silent = new Scenario(chosen);
        const loud = told(new Scenario(chosen));
        for (const each of acts) {
          perform(silent, each);
          perform(loud, each);
        }
        for (const step of loud.steps) {
          const numbers = toldIn(step.effects);
          assert.equal(new Set(numbers).size, numbers.length);
          for (const { prNumber } of step.transitions) assert.ok(numbers.includes(prNumber));
        }
        assert.deepEqual(courseOf(loud), courseOf(silent));
      }),
      { numRuns: 60 },
    );
  });

  it('tells of what keeps an entry from being admitted, when that changes [G45]', () => {
    const queue = told(new Scenario());
    queue.update({}, 'PAUSED');
    queue.play('submit A');
    const [entry] = valuesOf(queue.queue.entries);
    assert.ok(entry);
    const pr = { ...entry.pr, mergeability: 'NOT_MERGEABLE' as const, blockReasons: ['conflict'] as BlockReason[] };
    const observe = (facts: typeof entry.pr) =>
      toldIn(
        queue.tell({ kind: 'pull_request_observed', at: queue.now, prNumber: pr.number, pr: facts, targets: undefined })
          .effects,
      );
    assert.deepEqual(observe(pr), [pr.number]);
    assert.deepEqual(observe({ ...pr, title: 'Another' }), []);
    assert.deepEqual(observe({ ...pr, blockReasons: ['reviewRequired'] }), [pr.number]);
    const failing = { ...pr, blockReasons: ['failingCheck'] as BlockReason[] };
    assert.deepEqual(observe({ ...failing, failingChecks: ['unit'] }), [pr.number]);
    assert.deepEqual(observe({ ...failing, failingChecks: ['unit'] }), []);
    assert.deepEqual(observe({ ...failing, failingChecks: ['lint', 'unit'] }), [pr.number]);
  });

  it('is stored with the queue; one that knows nothing of it is not told of [G45]', () => {
    const row = { id: PLACE.queueId, repositoryId: 'r' as RepositoryId, branch: 'main', version: 1, createdAt: 0 };
    const load = (body: string) =>
      decodeQueue({ queue: { ...row, body }, entries: [], candidates: [], targetSets: [] }).hasPages;
    const body = encodeQueue(createQueue('main', DEFAULT_SETTINGS, 'RUNNING', { hasPages: true }));
    assert.equal(load(body), true);
    assert.equal(load(body.replace(/"hasPages":true,/, '')), false);
  });

  it('is due a moment later, in a line of its own for each pull request [G141]', () => {
    const effect = { kind: 'update_page', prNumber: 7 as PrNumber } as const;
    const { dueAt, stream } = encodeEffect(effect, PLACE);
    assert.deepEqual([dueAt, stream], [2_500, 'update_page 7']);
  });
});
