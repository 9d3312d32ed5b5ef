import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { step } from '../../src/engine/step.ts';
import { landedText } from '../../src/words/landing.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const BATCH = { batch: true, batchingMinSize: 3, landingMode: 'API' } as const;
const API = { landingMode: 'API' } as const;
const LANDING = 'hold landings; submit A B C; pass ABC';

describe('a landing by a merge API', () => {
  it('that stops at a refusal fails that entry, and tests the rest again [L29] [L6]', () => {
    const told = play(BATCH)`
      ${LANDING}
      stop A refused B GITHUB_API_BRANCH_PROTECTION_UNMET → A=merged B=failed C=testing
                               → why B=GITHUB_API_BRANCH_PROTECTION_UNMET; proof A=PREFIX
                               → trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
                               → path B passed failed; testing C; target M+A; alarm nothing
      release landings; pass C → target M+A+C
    `;
    assert.equal(told.lastOf('B')?.because.detail, 'No.');
  });

  story('fails one further on, too, where that is the one that was refused [L29]', BATCH)`
    ${LANDING}
    stop A refused C PR_UPDATED_AT_MERGE_TIME → A=merged B=testing C=failed; testing B
  `;

  story('that meets a foreign push starts the rest again on it [L29] [C6]', BATCH)`
    ${LANDING}
    stop AB moved X          → AB=merged C=testing; proof A=PREFIX B=PREFIX; alarm FOREIGN_PUSH; target M+A+B+X
                             → testing C
    release landings; pass C → target M+A+B+X+C; proof C=SAME_TREE
  `;

  it('that merges an entry onto something else says that nobody tested it [L26] [N11]', () => {
    const told = play(BATCH)`
      ${LANDING}
      submit D; stop A strayed B X → AB=merged CD=testing; proof A=PREFIX B=UNPROVEN; why B=MERGE_GRAPH_MERGE
                                   → path B passed merged; alarm UNPROVEN_LANDING; target M+A+X+B
                                   → trail C TEST_RUN_PASSED LANDING_INTERRUPTED TEST_RUN_STARTED
    `;
    const stray = told.ended.get(numberOf('B'));
    assert.ok(stray?.landed !== undefined);
    assert.match(landedText(stray.landed), /was not tested/);
    assert.deepEqual([stray?.landed?.base, stray?.landed?.pushedSha], ['head:M+A', 'head:M+A+X+B']);
    assert.equal(told.queue.head?.sha, 'head:M+A+X+B');
  });

  it('may stray with the very first [L26]', () => {
    play(BATCH)`
      ${LANDING}
      stop - strayed A X → A=merged BC=testing; proof A=UNPROVEN; alarm UNPROVEN_LANDING
    `;
    play()`
      with directMergeMode=ALWAYS landingMode=API
      hold landings; submit A; pass A; stop - strayed A X → A=merged; proof A=UNPROVEN
    `;
  });

  it('records for each entry where the target was before and after it [L3]', () => {
    const told = play(BATCH)`
      ${LANDING}
      stop AB
    `;
    const moves = ['A', 'B'].map((name) => told.ended.get(numberOf(name))?.landed);
    assert.deepEqual(
      moves.map((landed) => [landed?.base, landed?.pushedSha]),
      [
        ['head:M', 'head:M+A'],
        ['head:M+A', 'head:M+A+B'],
      ],
    );
  });

  story('keeps to the way it began in, whatever the setting is by then [L30]', BATCH)`
    ${LANDING}
    set landingMode=PUSH; stop A moved X → A=merged BC=testing
  `;

  story('ends the runs of what it landed, and tests what it vouched for and did not land [L29] [V8]')`
    with canOptimisticallyMerge=true pendingFailureDepth=1 landingMode=API
    hold landings; submit A B C; pass A+B+C → ABC=passed
    stop A refused B GITHUB_API_MERGE_PR_FAILED → A=merged B=failed C=testing; testing C
  `;

  it('parks the queue where what it says cannot be [I1] [L29]', () => {
    const told = play(BATCH)`${LANDING}`;
    const target = 'head:M' as never;
    const event = {
      kind: 'candidate_landed' as const,
      at: told.now,
      candidate: told.candidate('ABC').number,
      how: 'PREFIX' as const,
      base: target,
      pushedSha: 'head:M+A' as never,
      pushedTree: 'tree:A+M' as never,
      entries: [{ prNumber: numberOf('A'), sha: 'head:M+A' as never, tree: 'tree:A+M' as never }],
    };
    const moved = { kind: 'target_moved', head: target, isDescendant: true } as const;
    const stray = { kind: 'strayed', sha: target, tree: target, head: target, isDescendant: true } as const;
    const refused = { kind: 'entry_refused', reason: 'GITHUB_API_MERGE_PR_FAILED' } as const;
    const [A, B, C] = [numberOf('A'), numberOf('B'), numberOf('C')];
    assert.equal(step(told.queue, { ...event, stopped: { ...stray, prNumber: B } }).outcome.kind, 'applied');
    for (const bad of [
      { ...event, stopped: { ...stray, prNumber: C } },
      { ...event, stopped: { ...refused, prNumber: A } },
      { ...event, how: 'UNPROVEN' as const },
      { ...event, how: 'SAME_TREE' as const, stopped: moved },
      { ...event, entries: [], stopped: moved },
      { ...event, entries: [] },
      { ...event, entries: event.entries.map((entry) => ({ ...entry, prNumber: B })), stopped: moved },
    ]) {
      assert.equal(step(told.queue, bad).outcome.kind, 'parked', JSON.stringify(bad));
    }
  });
});

describe('a landing that stops half-way', () => {
  story('a run that was put off during the landing starts again where its entry did not land [L27] [L29]', API)`
    with canOptimisticallyMerge=true
    hold landings; submit A B C; pass A+B+C
    unbuildable A+B START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH → ABC=passed
    stop A refused C GITHUB_API_MERGE_PR_FAILED                  → A=merged B=testing C=failed
                                                                 → runs A A+B A+B+C B
  `;

  it('a landing that began by a merge API is recorded as one though the setting changed [L30] [L9]', () => {
    const told = play(API)`
      with batch=true batchingMinSize=2
      hold landings; submit A B; pass AB; set landingMode=PUSH; stop AB → AB=merged
    `;
    assert.equal(told.ended.get(numberOf('A'))?.landed?.pushedSha, 'head:M+A');
    assert.equal(told.ended.get(numberOf('B'))?.landed?.base, 'head:M+A');
  });
});
