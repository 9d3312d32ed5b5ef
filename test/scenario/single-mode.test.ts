import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('one line: every entry is tested on the target and on all ahead of it', () => {
  it('tests the first entry on the target, and each further one on those ahead [C1] [C22]', () => {
    const told = play()`
      submit A B C D → testing A A+B A+B+C A+B+C+D; runs A A+B A+B+C A+B+C+D; ABCD=testing
                     → trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED; order A B C D
    `;
    const d = told.candidate('A+B+C+D');
    // Entries beneath are not blamed: D's candidate tests only D.
    const numbers = (members: typeof d.members) => members.map(({ prNumber }) => prNumber).join();
    assert.deepEqual([numbers(d.members), numbers(d.beneath)], ['4', '1,2,3']);
  });

  story('ignores impacted targets in single mode: every entry impacts everything [C22] [C2]')`
    submit A[x] B[y] C[] → testing A A+B A+B+C
    targets B[z]         → testing A A+B A+B+C; ABC=testing
  `;

  story('lands the first entry when it passes, and leaves those behind alone [C4] [L1]')`
    submit A B C D; pass A → A=merged BCD=testing; why A=MERGE_GRAPH_MERGE; target M+A; testing B B+C B+C+D
                           → runs A A+B A+B+C A+B+C+D
                           → trail B API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED; proof A=SAME_TREE
  `;

  story('keeps an entry that passed first waiting for those ahead, and lands in order [L2]')`
    submit A B C D; pass A+B+C → C=passed ABD=testing; why C=TEST_RUN_PASSED; target M
    pass A+B                   → BC=passed; target M
    pass A                     → ABC=merged D=testing; target M+A+B+C
    pass D                     → target M+A+B+C+D; runs A A+B A+B+C A+B+C+D
  `;

  story('holds a failure while an entry ahead is still tested, and lets those behind go on [V4]')`
    submit A B C D; fail A+B → A=testing B=held C=testing D=testing; why B=TEST_RUN_REQUIRED_STATUS_FAILED
                             → checks B=ci; candidates A=testing A+B=failed A+B+C=testing A+B+C+D=testing
                             → runs A A+B A+B+C A+B+C+D
  `;

  story('removes the held entry once those ahead passed, and tests the others again without it [V4] [V5] [C5]')`
    submit A B C D; fail A+B; pass A → A=merged B=failed CD=testing; why B=TEST_RUN_REQUIRED_STATUS_FAILED
                                     → checks B=ci; path B pending testing held failed
                                     → trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
                                     → trail D PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
                                     → path C testing pending testing; testing C C+D; target M+A
                                     → runs A A+B A+B+C A+B+C+D C C+D
  `;

  story('names the entry that failed as the cause of the others starting again [C5] [E11]')`
    with concurrency=3
    submit A B C; pause; fail A → A=failed BC=pending
                                → why B=PREREQUISITE_MERGE_ITEM_FAILED C=PREREQUISITE_MERGE_ITEM_FAILED
                                → cause B=A C=A; candidates nothing
  `;

  story('tests a held entry again without the one ahead that failed instead [V27]')`
    submit A B C D; fail A+B → B=held
    fail A                   → A=failed BCD=testing
                             → trail B TEST_RUN_REQUIRED_STATUS_FAILED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
                             → testing B B+C B+C+D; target M
  `;

  story('fails only the first of a chain of failures; the others are tested once more [V4] [V5]')`
    submit A B C; fail A+B+C A+B → A=testing BC=held
    fail A                       → A=failed BC=testing; runs A A+B A+B+C B B+C
    pass B C                     → BC=merged; target M+B+C; runs A A+B A+B+C B B+C
  `;

  for (const [act, reason] of [
    ['cancel', 'USER_REQUESTED'],
    ['close', 'PR_CLOSED'],
    ['draft', 'PR_CONVERTED_TO_DRAFT'],
    ['retarget', 'PR_BASE_BRANCH_CHANGED'],
    ['push', 'PR_PUSHED_TO'],
    ['vanish', 'PR_CLOSED'],
    ['merge-elsewhere', 'PR_MERGED_INTO_OTHER_BRANCH'],
  ] as const) {
    story(
      `tests those behind again without an entry that left by "${act}", and not the one ahead [C5] [E8] [E9] [E10]`,
    )`
      submit A B C D; ${act} B → A=testing B=cancelled CD=testing; why B=${reason}
                               → trail C PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
                               → trail D PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED; testing A A+C A+C+D
                               → runs A A+B A+B+C A+B+C+D A+C A+C+D
                               → trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
    `;
  }

  story('starts everything again when an entry was merged by hand [C5] [C6] [E20]')`
    submit A B C D; merge B → B=merged ACD=testing; why B=MANUAL_MERGE; proof B=none; target M+B
                            → testing A A+C A+C+D; trail A MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED
                            → alarm FOREIGN_PUSH
  `;

  it('says that an entry ahead was merged by hand where the target is not known to have moved yet [C5]', () => {
    const told = play()`submit A B C; pause`;
    told.observe(told.candidate('A+B').members[0]?.prNumber as never, { status: 'merged' });
    told.play(`
      → A=testing B=merged C=pending; why B=MANUAL_MERGE C=PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED; cause C=B
      → testing A
    `);
  });

  story('starts everything again on a commit that somebody else pushed [C25] [C6]')`
    submit A B C D; pass A+B+C; fail A+B; foreign X → ABCD=testing; testing A A+B A+B+C A+B+C+D; target M+X
           → trail A TEST_RUN_STARTED MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED
           → trail B TEST_RUN_REQUIRED_STATUS_FAILED MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED
           → trail C TEST_RUN_PASSED MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED; alarm FOREIGN_PUSH
    pass A → target M+X+A; proof A=SAME_TREE
  `;

  story('tests no more candidates than there are slots, and the next one when a slot is free [C3]')`
    with concurrency=2
    submit A B C D → testing A A+B; AB=testing CD=pending; why C=MERGE_ITEM_NOW_READY
    pass A         → A=merged B=testing C=testing D=pending; testing B B+C; runs A A+B B+C
  `;

  story('frees the slot of an entry that passed or is held, but builds no deeper than there are slots [C3] [C23]')`
    with concurrency=2
    submit A B C D E → testing A A+B
    pass A+B         → testing A A+B+C  # A and B lie beneath C: two, as many as allowed
                     → B=passed D=pending
    pass A+B+C       → testing A  # D would have three beneath
                     → C=passed D=pending
    pass A           → ABC=merged; testing D D+E; target M+A+B+C
  `;

  story('finishes what runs in a paused queue, and starts and lands nothing [L5] [V11]')`
    with concurrency=2
    submit A B C D; pause; pass A → A=passed B=testing CD=pending; target M
    pass A+B                      → AB=passed CD=pending; testing nothing
    resume                        → AB=merged CD=testing; target M+A+B; testing C C+D
  `;

  it('builds no candidate on a base that is not the target as it is known [C1] [L1]', () => {
    const told = play()`with concurrency=2; submit A B; pass A; submit C → testing B B+C`;
    const [b, c] = told.candidates();
    assert.deepEqual([b?.base.sha, c?.base.sha], ['head:M', 'head:M+A']);
    // B's candidate has A beneath, which has landed. C's candidate is built on B's commit, which contains both.
    assert.equal(c?.parent, b?.number);
    told.play('pass B C → target M+A+B+C; proof A=SAME_TREE B=SAME_TREE C=SAME_TREE');
  });
});
