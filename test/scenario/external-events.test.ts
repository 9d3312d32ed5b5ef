import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/queue.ts';
import { play } from './scenario.ts';
import { numberOf } from './words.ts';

/** One entry in every state of an admitted entry: A is tested, B held, C passed, D waits for a slot. */
const ADMITTED = `
  submit A B C
  fail A+B
  pass A+B+C
  set concurrency=1
  submit D
  states A=testing B=held C=passed D=pending
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

describe('what happens to a pull request that is not ready', () => {
  it('keeps it through a push, with the new head; targets must come again [E8] [E2]', () => {
    const told = play(
      { mode: 'PARALLEL' },
      'submit A[x] unready\npush A\nstates A=waiting\nready A\nstates A=waiting\ntargets A[x]\nstates A=testing',
    );
    assert.equal(told.candidate('A').members[0]?.headSha, 'A@2');
  });

  it('admits it by itself once everything is there [E2]', () => {
    play(
      {},
      'submit A unready\nstates A=waiting\nblock A\nstates A=waiting\nready A\nstates A=testing\nwhy A=TEST_RUN_STARTED',
    );
  });

  it('cancels it when somebody without write access pushed [E8]', () => {
    play({}, 'submit A unready\nuntrusted A\nstates A=cancelled\nwhy A=PR_PUSHED_TO');
  });

  it('keeps it when the one without write access had pushed before it was submitted [E8]', () => {
    const told = play({}, '');
    told.submit(numberOf('A'), { pr: { mergeability: 'IN_PROGRESS', isHeadUntrusted: true } });
    told.observe(numberOf('A'), { isHeadUntrusted: true });
    told.play('states A=testing');
  });

  it('waits when its base is changed, and goes on when it is changed back [E10]', () => {
    play({}, 'submit A unready\nretarget A\nstates A=waiting\nready A\nstates A=testing');
  });

  for (const [act, state, reason] of ENDS) {
    if (act === 'push' || act === 'retarget') continue;
    it(`ends as ${state} by "${act}" [E6] [E9]`, () => {
      play({}, `submit A unready\n${act} A\nstates A=${state}\nwhy A=${reason}`);
    });
  }

  it('is MERGED when it was merged by hand, and the target has moved [E9] [C6]', () => {
    play({}, 'submit A unready\nmerge A\nstates A=merged\nwhy A=MANUAL_MERGE\nalarm FOREIGN_PUSH\nproof A=none');
  });
});

describe('what happens to a pull request that is in the line', () => {
  for (const [act, state, reason] of ENDS) {
    it(`ends as ${state} by "${act}", whether tested, held, passed or pending [E6] [E8] [E9] [E10]`, () => {
      for (const name of ['A', 'B', 'C', 'D']) {
        play({}, `${ADMITTED}\n${act} ${name}\nstates ${name}=${state}\nwhy ${name}=${reason}`);
      }
    });
  }

  it('is cancelled by an untrusted push too [E8]', () => {
    play({}, 'submit A\nuntrusted A\nstates A=cancelled\nwhy A=PR_PUSHED_TO');
  });

  it('ends as MERGED when it was merged by hand, in every state [E9]', () => {
    for (const name of ['A', 'B', 'C', 'D']) {
      play({}, `${ADMITTED}\nmerge ${name}\nstates ${name}=merged\nwhy ${name}=MANUAL_MERGE\ntarget M+${name}`);
    }
  });

  it('does not mind that it is blocked again: that is for the landing to find out [E2]', () => {
    play(
      {},
      'submit A\nblock A\nstates A=testing\nhold landings\npass A\nrefuse A GITHUB_API_BRANCH_PROTECTION_UNMET\nstates A=failed\nwhy A=GITHUB_API_BRANCH_PROTECTION_UNMET',
    );
  });

  it('goes on when nothing has changed [I4]', () => {
    play({}, 'submit A\nready A\nready A\nstates A=testing\npath A waiting pending testing');
  });
});

describe('what happens to the target', () => {
  it('is its own landing: nothing starts again, and there is no alarm [C4] [C6]', () => {
    play({}, 'submit A B\npass A\nstates B=testing\nalarm\nruns A A+B');
  });

  it('is a foreign push when somebody else moved it, whatever is in the line [C6] [C5]', () => {
    play({}, 'foreign X\nalarm FOREIGN_PUSH\nforeign Y\nalarm FOREIGN_PUSH FOREIGN_PUSH');
    play(
      { mode: 'PARALLEL' },
      'submit A[x] B[y]\npass B\nforeign X\nstates A=testing\ntrail A MANUAL_PUSH_TO_TARGET_BRANCH TEST_RUN_STARTED\nruns A B A',
    );
  });

  it('counts for nothing when it was looked at before the last move known [C6]', () => {
    const told = play({}, 'submit A B');
    const since = told.queue.heads;
    told.play('pass A\ntarget M+A');
    told.tell({ kind: 'target_observed', at: told.now, head: 'head:M' as never, since, isDescendant: false });
    told.play('ignored\nstates B=testing\nalarm');
  });

  it('counts for nothing when it is where it was [C6]', () => {
    const told = play({}, 'submit A');
    const since = told.queue.heads;
    told.tell({ kind: 'target_observed', at: told.now, head: 'head:M' as never, since, isDescendant: true });
    told.play('ignored\nstates A=testing\nalarm');
  });

  it('stops everything when the branch is gone, and starts again when it is back [C6]', () => {
    play(
      {},
      `
      submit A
      gone
      states A=pending
      why A=MANUAL_PUSH_TO_TARGET_BRANCH
      alarm TARGET_GONE
      testing
      submit B
      states B=pending
      foreign X
      testing A A+B
      alarm TARGET_GONE FOREIGN_PUSH
      `,
    );
  });

  it('raises no alarm for the first look', () => {
    play({}, 'alarm');
  });

  it('starts everything again after a push by force [C5] [C6]', () => {
    play({}, 'submit A B\npass A+B\nrewind Z\nstates AB=testing\ntesting A A+B\ntarget Z\nalarm FOREIGN_PUSH');
  });
});

describe('coming back', () => {
  it('begins a new cycle from scratch with the same id after it left [E3]', () => {
    const told = play({}, 'submit A\nfail A\nsubmit A');
    assert.deepEqual([...new Set(told.trailOf('A').map(({ entryId }) => entryId))], ['entry-1']);
    told.play(`
      states A=testing
      path A failed waiting pending testing
      trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
      pass A
      states A=merged
    `);
  });

  it('goes behind those that came before it the second time [E3] [O1]', () => {
    play({}, 'submit A B C\ncancel A\nsubmit A\ntesting B B+C B+C+A\norder B C A');
  });

  it('has to become mergeable again [E3] [E2]', () => {
    play({}, 'submit A\npush A\nsubmit A unready\nstates A=waiting\nready A\nstates A=testing');
  });

  it('is a later stay: a candidate of the earlier one is not mistaken for it [E3] [C11]', () => {
    const told = play({}, 'submit A B\ncancel A\nsubmit A\ntesting B B+A');
    told.reportCheck(1 as never, {});
    told.play('ignored\nstates AB=testing\npass B\npass A\ntarget M+B+A');
  });

  it('begins a new cycle when it is submitted with a new head, and keeps what is not said again [E3] [E4] [E8]', () => {
    const told = play({ concurrency: 1 }, 'submit A B\nsubmit B high nobatch');
    told.submit(numberOf('B'), { pr: { headSha: 'B@2' as never } });
    told.play('path B waiting pending cancelled waiting pending\nsubmit C\norder A B C');
    assert.equal(findEntry(told.queue, numberOf('B'))?.noBatch, true);
    const cancelled = told.trailOf('B').find(({ to }) => to === 'CANCELLED');
    assert.equal(cancelled?.because.reason, 'PR_PUSHED_TO');
  });

  it('updates priority and noBatch of a live entry; what is absent stays [E4]', () => {
    const told = play({ concurrency: 1 }, 'submit A B\nsubmit B high nobatch\nsubmit B');
    const entry = findEntry(told.queue, numberOf('B'));
    assert.deepEqual([entry?.priority.value, entry?.noBatch], [10, true]);
    told.play('order A B\nsubmit C\norder A B C\npath B waiting pending');
  });
});
