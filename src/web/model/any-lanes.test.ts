import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { act, perform, settings } from '../../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { viewCandidate } from '../../app/queue/candidate-view.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import { entriesInOrder } from '../../engine/model/roster.ts';
import { explain } from '../../words/explain.ts';
import type { ExplanationReason } from '../../words/explanation.ts';
import { drawLanes, type LaneNode } from './lanes.ts';

const history = fc.array(act, { minLength: 1, maxLength: 120, size: 'max' });

/** A run as the page reads it. */
function viewOf({ queue }: Scenario, candidate: Candidate) {
  return viewCandidate(candidate, {
    ...{ testRunId: String(candidate.number), testBranch: `sluice/${candidate.number}`, queue, entries: new Map() },
    ...{ impactedTargets: undefined, impactedTargetsForTestedPrs: undefined, isDetailed: true, reuses: undefined },
  });
}

type Drawn = ReturnType<typeof viewOf>;

/** For each run of the lanes, what a reader sees it built on: the boxes before it, and what they name besides. */
function seenIn(lanes: readonly { readonly nodes: readonly LaneNode<Drawn>[] }[]): Map<number, readonly number[]> {
  const seen = new Map<number, readonly number[]>();
  for (const { nodes } of lanes) {
    let before: number[] = [];
    for (const { run, on } of nodes) {
      before = [...before, ...on];
      seen.set(Number(run.testRunId), before);
      before = [...before, ...run.testedPullRequests.map(({ prNumber }) => prNumber)];
    }
  }
  return seen;
}

/** For each run that a sentence is about, what it says the run is tested on. */
function toldIn({ queue, now }: Scenario): [run: number, on: number[]][] {
  const told = (reasons: readonly ExplanationReason[]): [number, number[]][] =>
    reasons.flatMap(({ code, testRun, text, reasons: inner }) => {
      const [sentence = ''] = /^It is tested.*?\.|^It is under test\./.exec(text) ?? [];
      const [, list = ''] = / on top of (.*?)(?:, and is the only .*)?\.$/.exec(sentence) ?? [];
      // A longer list is cut.
      const isCut = / and \d+ more$/.test(list);
      const own: [number, number[]][] =
        code === 'TESTING' && testRun !== undefined && sentence !== '' && !isCut
          ? [[testRun, [...list.matchAll(/#(\d+)/g)].map(([, number]) => Number(number))]]
          : [];
      return [...own, ...told(inner)];
    });
  return entriesInOrder(queue).flatMap((entry) => told(explain(queue, entry, now).reasons));
}

describe('the picture of a queue', () => {
  it('draws a run on the runs that it is tested on, and not on a landed one [C63]', () => {
    const story = new Scenario().play('submit A B C; pass A; submit D');
    const runs = story.candidates().map((candidate) => viewOf(story, candidate));
    const drawn = drawLanes(runs).lanes.map(({ nodes }) => nodes.flatMap(({ run }) => run.testedPullRequests));
    assert.deepEqual(
      drawn.map((lane) => lane.map(({ prNumber }) => prNumber)),
      [[2, 3, 4]],
    );
  });

  it('agrees with the explanation after any history [C63]', () => {
    let compared = 0;
    fc.assert(
      fc.property(settings, history, (chosen, acts) => {
        const story = new Scenario(chosen);
        for (const each of acts) {
          perform(story, each);
          const live = story.candidates().filter(({ state }) => state !== 'abandoned');
          const seen = seenIn(drawLanes(live.map((candidate) => viewOf(story, candidate))).lanes);
          for (const [run, on] of toldIn(story)) {
            const drawn = seen.get(run);
            if (drawn === undefined) continue;
            compared += on.length;
            assert.deepEqual([...drawn].sort(), [...on].sort(), `run ${run}\n${story.describe()}`);
          }
        }
      }),
      { numRuns: 40 * Number(process.env['PROPERTY_RUNS'] ?? 1) },
    );
    assert.ok(compared > 20, `${compared} were compared`);
  });
});
