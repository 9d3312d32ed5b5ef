import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('a landing moves the branch to what was tested', () => {
  it('lands one candidate at a time, from exactly the head that is known [L1]', () => {
    const told = play(PARALLEL)`hold landings; submit A[x] B[y]; pass A B → AB=passed; target M`;
    assert.equal(told.queue.landing?.expectedHead, 'head:M');
    assert.equal(told.queue.landing?.candidate, told.candidate('A').number);
    const asked = () => told.steps.flatMap(({ effects }) => effects.filter(({ kind }) => kind === 'land_candidate'));
    assert.equal(asked().length, 1);
    told.play('release landings → AB=merged; target M+A+B; proof A=SAME_TREE B=COMPOSED+A');
    assert.equal(asked().length, 2);
    assert.deepEqual(asked().at(-1), { kind: 'land_candidate', candidate: 2, expectedHead: 'head:M+A' });
  });

  it('begins one landing where several candidates could land in one step [L1]', () => {
    const told = play(PARALLEL)`submit A[x] B[y]; pause; pass A B; hold landings; resume → AB=passed`;
    const asked = told.steps.flatMap(({ effects }) => effects.filter(({ kind }) => kind === 'land_candidate'));
    assert.deepEqual(asked, [{ kind: 'land_candidate', candidate: 1, expectedHead: 'head:M' }]);
    told.play('release landings → AB=merged; target M+A+B');
  });

  it('records kind, commits, trees, test run, old head and what it was composed with [L3]', () => {
    const told = play(PARALLEL)`submit A[x] B[y]; pass B; wait 3m; pass A`;
    const landed = told.ended.get(numberOf('A'))?.landed;
    assert.deepEqual(landed, {
      kind: 'COMPOSED',
      sha: 'l1',
      tree: 'tree:A+B+M',
      pushedSha: 'head:M+B+A',
      pushedTree: 'tree:A+B+M',
      testedSha: 'c1',
      testedTree: 'tree:A+M',
      candidate: 1,
      base: 'head:M+B',
      composedWith: [2],
      at: told.now,
    });
  });

  it('records IDENTICAL where the tested commit itself became the head [L19]', () => {
    const told = play()`hold landings; submit A B; pass A`;
    const candidate = told.candidate('A');
    told.branch.history.push('A');
    told.tell({
      kind: 'candidate_landed',
      at: told.now,
      candidate: candidate.number,
      how: 'IDENTICAL',
      base: 'head:M' as never,
      pushedSha: 'c1' as never,
      pushedTree: 'tree:A+M' as never,
      entries: [{ prNumber: numberOf('A'), sha: 'c1' as never, tree: 'tree:A+M' as never }],
    });
    told.play('→ A=merged B=testing; proof A=IDENTICAL; runs A A+B');
    assert.equal(told.queue.head?.sha, 'c1');
  });

  story('keeps lands of a disjoint lane good however many landed beside it [C4] [L20]', PARALLEL)`
    with concurrency=9
    submit A[x] B[y] C[z] D[x]; pass B C A+D → D=passed
    pass A                                   → ABCD=merged; target M+B+C+A+D
                                             → proof A=COMPOSED+B+C D=COMPOSED+B+C; runs A B C A+D
  `;

  story(
    'lands nothing composed in a queue that lands exactly: it is tested again on the new head at once [L20] [L4]',
    PARALLEL,
  )`
    with exactLanding=true
    submit A[x] B[y]; pass B → B=merged A=testing; trail A TEST_RUN_STARTED TARGET_BRANCH_MOVED TEST_RUN_STARTED
                             → testing A; runs A B A
    pass A                   → A=merged; target M+B+A; proof A=SAME_TREE
  `;

  it('tests again what would have been composed when the queue begins to land exactly [L4] [E11]', () => {
    const told = play(PARALLEL)`
      submit A[x] B[y]; pass B; set exactLanding=true → A=testing; runs A B
      pass A → A=testing; trail A TEST_RUN_PASSED LANDING_NOT_COMPOSABLE TEST_RUN_STARTED; runs A B A
      pass A → proof A=SAME_TREE; target M+B+A
    `;
    const why = told.trailOf('A').find(({ because }) => because.reason === 'LANDING_NOT_COMPOSABLE');
    assert.equal(why?.because.prNumber, numberOf('B'));
  });

  story('abandons a candidate that cannot be composed, and tests it on the new head [L4]', PARALLEL)`
    submit A[x] B[y] C[x]; pass B; hold landings; pass A
    refuse composition       → AC=testing; trail A TEST_RUN_PASSED LANDING_NOT_COMPOSABLE TEST_RUN_STARTED
                             → trail C LANDING_NOT_COMPOSABLE TEST_RUN_STARTED; testing A A+C
    release landings; pass A → A=merged; proof A=SAME_TREE; target M+B+A
  `;

  story('lands in order within a lane, whatever passes first [L2]', PARALLEL)`
    submit A[x] B[x] C[y]; pass A+B → B=passed
    pass C                          → target M+C
    pass A                          → target M+C+A+B; ABC=merged
  `;
});

describe('landings that are refused', () => {
  story('fails an entry that was pushed to between pass and landing; the others are tested again [L6]')`
    submit A B; hold landings; pass A
    refuse A PR_UPDATED_AT_MERGE_TIME → A=failed B=testing; why A=PR_UPDATED_AT_MERGE_TIME
                                      → trail B PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; testing B
                                      → target M
  `;

  story('fails an entry with the reason of the forge, and tests the rest of its batch again [L6]')`
    with batch=true batchingMinSize=3
    submit A B C; hold landings; pass ABC
    refuse B GITHUB_API_BRANCH_PROTECTION_UNMET → B=failed AC=testing; why B=GITHUB_API_BRANCH_PROTECTION_UNMET
    → testing AC; trail A TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; target M
  `;

  story('takes a target that was moved meanwhile for a foreign push [L23] [C6]')`
    submit A B; hold landings; pass A; refuse moved X → AB=testing
                             → trail A TEST_RUN_PASSED MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED
                             → testing A A+B; target M+X; alarm FOREIGN_PUSH
    release landings; pass A → target M+X+A
  `;

  it('builds the rest of a batch again that a merge API landed half of [L21] [C5] [C10]', () => {
    const told = play()`with batch=true batchingMinSize=3 landingMode=API; submit A B C; hold landings; pass ABC`;
    landFirstOf(told);
    told.play(`
                       → A=merged BC=passed  # built again on the new head: the tree is the one that passed
                       → proof A=PREFIX
                       → trail B TEST_RUN_PASSED LANDING_INTERRUPTED TEST_RUN_STARTED TEST_RUN_PASSED
                       → candidates BC=passed; target M+A; runs ABC
      release landings → BC=merged; proof B=SAME_TREE C=SAME_TREE
    `);
  });
});

/** A merge API landed A of the batch ABC and then stopped. */
function landFirstOf(told: Scenario): void {
  told.branch.history.push('A');
  told.tell({
    kind: 'candidate_landed',
    at: told.now,
    candidate: told.candidate('ABC').number,
    how: 'PREFIX',
    base: 'head:M' as never,
    pushedSha: 'head:M+A' as never,
    pushedTree: 'tree:A+M' as never,
    entries: [{ prNumber: numberOf('A'), sha: 'l1' as never, tree: 'tree:A+M' as never }],
  });
}

describe('events while a landing is under way', () => {
  it('removes an entry whose removal was asked for, unless it lands [L24]', () => {
    play()`
      hold landings; submit A; pass A; cancel A → A=passed
      release landings → A=merged; target M+A
    `;
    const told = play()`
      hold landings; submit A B; pass A; cancel A → A=passed
      refuse composition → A=cancelled B=testing; why A=USER_REQUESTED; testing B; target M
    `;
    assert.equal(told.lastOf('A')?.because.actor, 'ada');
  });

  it('removes an entry that did not land when a merge API stopped half-way [L24] [L3]', () => {
    const told = play()`
      with batch=true batchingMinSize=3 landingMode=API
      submit A B C; hold landings; pass ABC; cancel C
    `;
    landFirstOf(told);
    told.play('→ A=merged B=testing C=cancelled; why C=USER_REQUESTED; testing B');
  });

  story('forgets the wish to remove it when it is submitted again [L24] [E4]')`
    hold landings; submit A; pass A; cancel A; submit A
    refuse composition       → A=testing
    pass A; release landings → A=merged
  `;

  story('lets what is observed of the entry wait, and of the target count for nothing [L27] [C26]')`
    hold landings; submit A B; pass A; close A → ignored
    push A    → ignored
    foreign A → ignored; A=passed B=testing; alarm nothing
  `;

  story('removes others as usual, and tests what is behind without them [L7] [C5]')`
    hold landings; submit A B C; pass A; cancel B → A=passed B=cancelled C=testing; testing A+C
    release landings → testing C; target M+A; runs A A+B A+B+C A+C
  `;

  story('starts new entries on top of what is being landed [C1] [L1]')`
    hold landings; submit A; pass A; submit B → testing A+B
    pass A+B         → AB=passed
    release landings → target M+A+B; runs A A+B
  `;

  story('finishes a landing that had begun when the queue was paused, and begins no other [L5] [L1]')`
    hold landings; submit A B; pass A A+B; pause; release landings → A=merged B=passed; target M+A
    resume → B=merged; target M+A+B
  `;
});
