import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('an entry that conflicts with the target', () => {
  story('fails at once, and not by way of being held [C9] [C8]')`
    conflict A main; submit A B → A=failed B=testing; why A=START_TEST_RUN_MERGE_CONFLICT
                                → path A waiting pending testing failed; testing B; runs B
  `;

  story('fails in a batch, and the others are built without it [C9] [B9]')`
    with batch=true batchingMinSize=3
    conflict B main; submit A B C → B=failed AC=testing; testing AC; runs AC
                                  → why B=START_TEST_RUN_MERGE_CONFLICT
  `;
});

describe('an entry that conflicts with one ahead', () => {
  story('goes ahead of it when it becomes urgent [C33] [O6]')`
    conflict B A; submit A low; submit B low → aside B=A
    submit B urgent                          → aside nothing; testing B B+A
    pass B                                   → B=merged
  `;

  story('is tried again once the one it conflicts with stands behind it [C33]')`
    with concurrency=2
    conflict C B; submit B C → aside C=B
    submit U V urgent        → B=pending UV=testing; aside C=B
    submit C high            → aside nothing
    pass U                   → testing V V+C
  `;

  story('stays behind one that is under test, whatever its own priority but urgent [C33]')`
    conflict B A; submit A low; submit B low; submit B high → aside B=A; testing A
  `;

  story('is set aside and explained: pending, and nobody’s predecessor [C33]')`
    conflict C B; submit A B C D → ABD=testing C=pending; why C=CONFLICTS_WITH_PREREQUISITE; cause C=B
                                 → aside C=B; testing A A+B A+B+D; runs A A+B A+B+D
  `;

  story('does not wait for one that landed while it was built, and was submitted again [C33]')`
    with concurrency=2
    conflict A D; submit D; hold builds; submit A; set mode=PARALLEL
    pass D                   → D=merged A=testing
    submit D; release builds → aside nothing; A=failed; why A=START_TEST_RUN_MERGE_CONFLICT
  `;

  story('fails once the one it conflicts with has landed [C9]')`
    conflict B A; submit A B C → aside B=A
    pass A                     → A=merged B=failed C=testing; why B=START_TEST_RUN_MERGE_CONFLICT; aside nothing
                               → testing C; path C waiting pending testing; runs A A+C
  `;

  for (const act of ['fail', 'cancel', 'push', 'close']) {
    story(`is tested when the one it conflicts with left by "${act}" [C33]`)`
      conflict B A; submit A B → aside B=A
      ${act} A                 → B=testing; aside nothing; testing B
      pass B                   → B=merged; target M+B
    `;
  }

  story('comes back ahead of later entries that are not under test [C33] [O1]')`
    with concurrency=2
    conflict B A; submit A B C D → testing A A+C; BD=pending
    cancel A                     → testing B B+C; D=pending; order B C D
  `;

  story('is not waited for by blame, and not blamed [C33] [V4]')`
    conflict B A; submit A B C; fail A+C → C=held B=pending
    pass A                               → A=merged C=failed B=failed; why C=TEST_RUN_REQUIRED_STATUS_FAILED
  `;

  story('does not prolong a hold [C33] [V6]')`
    with pendingFailureDepth=1 canOptimisticallyMerge=true
    conflict B A; submit A B → aside B=A
    fail A                   → A=failed B=testing
  `;

  story('does not stop what is behind it from landing [C33] [L2]')`
    conflict B A; conflict B C; submit A B C; hold landings
    pass A A+C       → AC=passed
    release landings → AC=merged B=failed; target M+A+C
  `;

  story('can conflict with the next one after the first has left [C33]')`
    conflict C A; conflict C B; submit A B C → aside C=A
    cancel A                                 → aside C=B; C=pending
    cancel B                                 → aside nothing; C=testing
  `;

  story('is left out of a batch, which is built without it at once [C34]')`
    with batch=true batchingMinSize=3
    conflict C A; submit A B C → AB=testing C=pending
                               → trail A PREREQUISITE_MERGE_ITEM_SET_ASIDE TEST_RUN_STARTED; cause A=none
                               → aside C=A; testing AB; runs AB
    pass AB                    → AB=merged C=failed; target M+A+B
  `;

  it('names the one that was set aside to the others of its batch [C34] [E11]', () => {
    const told = play()`with batch=true batchingMinSize=2; conflict B A; submit A B`;
    const transition = told.trailOf('A').find(({ because }) => because.reason === 'PREREQUISITE_MERGE_ITEM_SET_ASIDE');
    assert.equal(transition?.because.prNumber, 2);
  });

  story('takes what was built on its batch with it [C34] [C5]')`
    with batch=true batchingMinSize=2 batchingMaxWaitTimeMinutes=0
    conflict B A; pause; submit A B C D; hold builds; resume → testing AB AB+CD
    release builds → aside B=A; testing AC AC+D
  `;

  it('goes back into the line when it conflicts within a search, and is set aside there [C33] [B9]', () => {
    play()`
      with batch=true batchingMinSize=4 batchingMaxWaitTimeMinutes=0
      together A B C D; fail ABCD ~AB; conflict B A; fail ~A → A=failed BCD=testing
    `;
    play()`
      with batch=true batchingMinSize=2 batchingMaxWaitTimeMinutes=5
      together A B; conflict B A; fail AB → AB=testing; testing B ~A
                                          → trail B BISECTION_REQUIRED TEST_RUN_STARTED CONFLICTS_WITH_PREREQUISITE TEST_RUN_STARTED
    `;
  });

  story('is cancelled while set aside like any other [C33] [E6]')`
    conflict B A; submit A B; cancel B → B=cancelled A=testing
    pass A                             → target M+A
  `;

  story('is tried again after somebody moved the target, when its culprit ended [C33] [C6]')`
    conflict B A; submit A B; foreign X → aside B=A; testing A
    cancel A                            → testing B
  `;
});
