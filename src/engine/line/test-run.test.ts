import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { getIn, setIn } from '../../lib/int-map.ts';
import type { Candidate, Pass } from '../model/candidate.ts';
import type { Queue } from '../model/queue.ts';
import { requiredChecks } from '../model/required.ts';
import { step } from '../step.ts';

const SOURCES = { file: undefined, fileProblem: undefined, protection: ['ci'], commands: '' };

/** Two lanes. The first candidate has passed in the given way, the second is being built. */
function queueWithPass(by: Pass['by']): { readonly queue: Queue; readonly passed: Candidate; readonly at: number } {
  const story = new Scenario({ mode: 'PARALLEL' });
  story.play('pause\nsubmit A[x] B[y]\nhold builds\nhold landings\nresume');
  const [first, second] = story.candidates();
  assert.ok(first !== undefined && second !== undefined);
  const { base } = first;
  const required = requiredChecks(story.queue.settings, SOURCES, []);
  assert.ok(typeof required !== 'string');
  const checks = [{ name: 'ci', status: 'COMPLETED', conclusion: 'SUCCESS', reportedAt: story.now }] as const;
  const passed = {
    ...first,
    state: 'passed',
    commit: { sha: base.sha, tree: base.sha },
    required,
    checks: checks as unknown as Candidate['checks'],
    pass: { at: story.now, by, provenBy: first.number, provenSha: base.sha },
  } satisfies Candidate;
  return {
    queue: { ...story.queue, candidates: setIn(story.queue.candidates, first.number, passed) },
    passed,
    at: story.now,
  };
}

function build({ queue, passed, at }: ReturnType<typeof queueWithPass>): Candidate | undefined {
  const number = 2 as Candidate['number'];
  const { tree } = passed.commit as NonNullable<Candidate['commit']>;
  const sha = `${tree}2` as typeof tree;
  const { queue: next } = step(queue, { kind: 'candidate_built', at, candidate: number, sha, tree, sources: SOURCES });
  return getIn(next.candidates, number);
}

describe('a tree that passed', () => {
  it('proves an equal one by a run of its own [C10]', () => {
    const proof = queueWithPass('own_run');
    const taken = build(proof);
    assert.deepEqual(
      [taken?.state, taken?.pass?.by, taken?.pass?.provenBy],
      ['passed', 'reused_run', proof.passed.number],
    );
  });

  it('proves nothing where it was itself taken over, or passed elsewhere [C10]', () => {
    for (const by of ['reused_run', 'head_checks'] as const) {
      const built = build(queueWithPass(by));
      assert.deepEqual([built?.state, built?.pass], ['testing', undefined], by);
    }
  });
});
