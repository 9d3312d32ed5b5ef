import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

/** One entry in every state of an admitted entry: A is tested, B held, C passed, D waits for a slot. */
const ADMITTED = `
  submit A B C; fail A+B; pass A+B+C; set concurrency=1; submit D → A=testing B=held C=passed D=pending
`;

const ENDS = [
  ['push', 'cancelled', 'PR_PUSHED_TO'],
  ['close', 'cancelled', 'PR_CLOSED'],
  ['vanish', 'cancelled', 'PR_CLOSED'],
  ['draft', 'cancelled', 'PR_CONVERTED_TO_DRAFT'],
  ['retarget', 'cancelled', 'PR_BASE_BRANCH_CHANGED'],
  ['merge-elsewhere', 'cancelled', 'PR_MERGED_INTO_OTHER_BRANCH'],
  ['cancel', 'cancelled', 'USER_REQUESTED'],
] as const;

describe('events about a pull request that is not ready', () => {
  it('keeps it through a push, with the new head; targets must come again [E8] [E2]', () => {
    const told = play()`
      with mode=PARALLEL
      submit A[x] unready; push A → A=waiting
      ready A                     → A=waiting
      targets A[x]                → A=testing
    `;
    assert.equal(told.candidate('A').members[0]?.headSha, 'A@2');
  });

  story('admits it by itself once everything is there [E2]')`
    submit A unready → A=waiting
    block A          → A=waiting
    ready A          → A=testing; why A=TEST_RUN_STARTED
  `;

  story('cancels it when somebody without write access pushed [E8]')`
    submit A unready; untrusted A → A=cancelled; why A=PR_PUSHED_TO
  `;

  it('keeps it when the one without write access had pushed before it was submitted [E8]', () => {
    const told = new Scenario();
    told.submit(numberOf('A'), { pr: { mergeability: 'IN_PROGRESS', isHeadUntrusted: true } });
    told.observe(numberOf('A'), { isHeadUntrusted: true });
    told.play('→ A=testing');
  });

  story('waits when its base is changed, and goes on when it is changed back [E10]')`
    submit A unready; retarget A → A=waiting
    ready A                      → A=testing
  `;

  for (const [act, state, reason] of ENDS) {
    if (act === 'push' || act === 'retarget') continue;
    story(`ends as ${state} by "${act}" [E6] [E9] [E20]`)`submit A unready; ${act} A → A=${state}; why A=${reason}`;
  }

  story('is MERGED when it was merged by hand, and the target has moved [E20] [C6]')`
    submit A unready; merge A → A=merged; why A=MANUAL_MERGE; alarm FOREIGN_PUSH; proof A=none
  `;
});

describe('events about a pull request that is in the line', () => {
  for (const [act, state, reason] of ENDS) {
    it(`ends as ${state} by "${act}", whether tested, held, passed or pending [E6] [E8] [E9] [E20] [E10]`, () => {
      for (const name of ['A', 'B', 'C', 'D']) {
        play()`
          ${ADMITTED}
          ${act} ${name} → ${name}=${state}; why ${name}=${reason}
        `;
      }
    });
  }

  story('is cancelled by an untrusted push too [E8]')`submit A; untrusted A → A=cancelled; why A=PR_PUSHED_TO`;

  it('ends as MERGED when it was merged by hand, in every state [E20]', () => {
    for (const name of ['A', 'B', 'C', 'D']) {
      play()`
        ${ADMITTED}
        merge ${name} → ${name}=merged; why ${name}=MANUAL_MERGE; target M+${name}
      `;
    }
  });

  story('does not mind that it is blocked again: that is for the landing to find out [E2]')`
    submit A; block A → A=testing
    hold landings; pass A
    refuse A GITHUB_API_BRANCH_PROTECTION_UNMET → A=failed; why A=GITHUB_API_BRANCH_PROTECTION_UNMET
  `;

  story('goes on when nothing has changed [I4]')`
    submit A; ready A; ready A → A=testing; path A waiting pending testing
  `;
});

describe('events about the target branch', () => {
  story('is its own landing: nothing starts again, and there is no alarm [C4] [C6]')`
    submit A B; pass A → B=testing; alarm nothing; runs A A+B
  `;

  it('is a foreign push when somebody else moved it, whatever is in the line [C6] [C25]', () => {
    play()`
      foreign X → alarm FOREIGN_PUSH
      foreign Y → alarm FOREIGN_PUSH FOREIGN_PUSH
    `;
    play()`
      with mode=PARALLEL
      submit A[x] B[y]; pass B; foreign X → A=testing; trail A MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED
                                          → runs A B A
    `;
  });

  it('counts for nothing when it was looked at before the last move known [C26]', () => {
    const told = play()`submit A B`;
    const since = told.queue.heads;
    told.play('pass A → target M+A');
    told.tell({ kind: 'target_observed', at: told.now, head: 'head:M' as never, since, isDescendant: false });
    told.play('→ ignored; B=testing; alarm nothing');
  });

  it('counts for nothing when it is where it was [C26]', () => {
    const told = play()`submit A`;
    const since = told.queue.heads;
    told.tell({ kind: 'target_observed', at: told.now, head: 'head:M' as never, since, isDescendant: true });
    told.play('→ ignored; A=testing; alarm nothing');
  });

  story('stops everything when the branch is gone, and starts again when it is back [C6]')`
    submit A; gone → A=pending; why A=MANUAL_PUSH_TO_TARGET_BRANCH; alarm TARGET_GONE; testing nothing
    submit B       → B=pending
    foreign X      → testing A A+B; alarm TARGET_GONE FOREIGN_PUSH
  `;

  story('raises no alarm for the first look')`→ alarm nothing`;

  story('starts everything again after a push by force [C25] [C6]')`
    submit A B; pass A+B; rewind Z → AB=testing; testing A A+B; target Z; alarm FOREIGN_PUSH
  `;
});

describe('coming back', () => {
  it('begins a new cycle from scratch with the same id after it left [E3]', () => {
    const told = play()`submit A; fail A; submit A`;
    assert.deepEqual([...new Set(told.trailOf('A').map(({ entryId }) => entryId))], ['entry-1']);
    told.play(`
             → A=testing; path A failed waiting pending testing
             → trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
      pass A → A=merged
    `);
  });

  story('goes behind those that came before it the second time [E3] [O1]')`
    submit A B C; cancel A; submit A → testing B B+C B+C+A; order B C A
  `;

  story('has to become mergeable again [E3] [E2]')`
    submit A; push A; submit A unready → A=waiting
    ready A                            → A=testing
  `;

  it('is a later stay: a candidate of the earlier one is not mistaken for it [E3] [C11]', () => {
    const told = play()`submit A B; cancel A; submit A → testing B B+A`;
    told.reportCheck(1 as never, {});
    told.play(`
               → ignored; AB=testing
      pass B A → target M+B+A
    `);
  });

  it('begins a new cycle when it is submitted with a new head, and keeps what is not said again [E3] [E4] [E8]', () => {
    const told = play()`with concurrency=1; submit A B; submit B high nobatch`;
    told.submit(numberOf('B'), { pr: { headSha: 'B@2' as never } });
    told.play(`
               → path B waiting pending cancelled waiting pending
      submit C → order A B C
    `);
    assert.equal(findEntry(told.queue, numberOf('B'))?.noBatch, true);
    const cancelled = told.trailOf('B').find(({ to }) => to === 'CANCELLED');
    assert.equal(cancelled?.because.reason, 'PR_PUSHED_TO');
  });

  it('updates priority and noBatch of a live entry; what is absent stays [E4]', () => {
    const told = play()`with concurrency=1; submit A B; submit B high nobatch; submit B`;
    const entry = findEntry(told.queue, numberOf('B'));
    assert.deepEqual([entry?.priority.value, entry?.noBatch], [10, true]);
    told.play(`
               → order A B
      submit C → order A B C; path B waiting pending
    `);
  });
});
