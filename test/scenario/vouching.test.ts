import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';
import { numberOf } from './words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('vouching: a pass covers exactly what was in the tree that passed', () => {
  const OPTIMISTIC = { canOptimisticallyMerge: true };

  it('lands a prefix together with the candidate that vouches for it, in one move [V8] [L2]', () => {
    const told = play(
      OPTIMISTIC,
      `
      submit A B C
      pass A+B+C
      states ABC=merged
      trail A TEST_RUN_STARTED SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
      trail C TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE
      target M+A+B+C
      candidates
      `,
    );
    for (const name of ['A', 'B', 'C']) {
      const landed = told.ended.get(numberOf(name))?.landed;
      assert.deepEqual([landed?.candidate, landed?.pushedSha], [3, 'head:M+A+B+C']);
    }
  });

  it('lands a prefix together with what landed beside it [V8] [L3]', () => {
    play(
      { ...OPTIMISTIC, ...PARALLEL },
      'submit A[x] B[x] D[y]\npass D\npass A+B\nstates ABD=merged\ntarget M+D+A+B\nproof A=COMPOSED+D B=COMPOSED+D',
    );
  });

  it('ends where the one that vouched makes way for an urgent one: then its own run counts at once [V8] [O2]', () => {
    play(
      OPTIMISTIC,
      `
      submit C
      submit A urgent
      pause
      submit B urgent
      pass A+C
      fail A
      states AC=passed B=waiting
      resume
      states A=failed B=testing C=testing
      `,
    );
  });

  it('holds while it lands, also where an own run turns out to be impossible [V8] [L7]', () => {
    play(
      OPTIMISTIC,
      `
      hold landings
      submit A B
      pass A+B
      unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH
      states AB=passed
      release landings
      states AB=merged
      candidates
      `,
    );
  });

  it('gives an own run that turned out to be impossible another try, where it does not land [V8] [L7]', () => {
    play(
      OPTIMISTIC,
      `
      hold landings
      submit A B
      pass A+B
      unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH
      refuse B GITHUB_API_MERGE_PR_FAILED
      states A=testing B=failed
      runs A A+B A
      unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH
      states A=failed
      `,
    );
  });

  it('holds while it lands, also where an own run is built anew and conflicts [V8] [L7]', () => {
    const told = play(OPTIMISTIC, 'hold landings\nsubmit A B\npass A+B\nhold builds');
    told.reportCheck(told.candidate('A').number, { conclusion: 'CANCELLED' });
    const of = { at: told.now, candidate: told.candidate('A').number };
    told.tell({ kind: 'candidate_conflicted', ...of, prNumber: numberOf('A'), culprit: undefined });
    told.play('states AB=passed\nrelease landings\nstates AB=merged\ncandidates');
  });

  it('covers nobody who is not in it [V8]', () => {
    play(
      { ...OPTIMISTIC, ...PARALLEL },
      `
      submit A[x] B[y] C[x]
      pass A+C
      states AC=merged B=testing
      target M+A+C
      path B waiting pending testing
      `,
    );
  });

  it('keeps the runs of those it vouches for until they have landed [V8]', () => {
    play(
      OPTIMISTIC,
      `
      hold landings
      submit A B
      pass A+B
      states AB=passed
      why A=SUCCESSOR_TEST_RUN_PASSED
      candidates A=testing A+B=passed
      fail A                      # its own run goes on, and changes nothing while it is vouched for
      states AB=passed
      trail A TEST_RUN_STARTED SUCCESSOR_TEST_RUN_PASSED
      release landings
      states AB=merged
      candidates
      target M+A+B
      `,
    );
  });

  it('takes notice of its own run, whatever that does, without a change of state [V8] [V9] [V3]', () => {
    play(
      OPTIMISTIC,
      `
      hold landings
      submit A B
      pass A+B
      report A FAILURE started=-5m
      candidates A=failed A+B=passed
      report A RUNNING started=-1m
      candidates A=testing A+B=passed
      cut A
      candidates A=testing A+B=passed
      runs A A+B A
      pass A
      candidates A=passed A+B=passed
      states AB=passed
      path A waiting pending testing passed
      `,
    );
  });

  it('stands by its own run again when the one that vouched leaves [V8]', () => {
    play(
      OPTIMISTIC,
      `
      submit A B
      pause
      pass A+B
      states AB=passed
      cancel B
      states A=testing B=cancelled
      why A=SUCCESSOR_TEST_RUN_WITHDRAWN
      candidates A=testing
      pass A
      resume
      target M+A
      runs A A+B
      `,
    );
  });

  it('is held again by its own failure when the one that vouched leaves [V8] [V4]', () => {
    play(
      OPTIMISTIC,
      `
      submit A B C
      pause
      fail A+B
      pass A+B+C
      states ABC=passed
      cancel C
      states A=testing B=held C=cancelled
      trail B SUCCESSOR_TEST_RUN_PASSED SUCCESSOR_TEST_RUN_WITHDRAWN
      pass A
      states A=passed B=failed
      `,
    );
  });

  it('stands by its own run once that passes, and does not need the voucher any more [V8]', () => {
    play(
      OPTIMISTIC,
      `
      submit A B
      pause
      pass A+B
      pass A
      cancel B
      states A=passed
      resume
      states A=merged
      target M+A
      `,
    );
  });

  it('keeps an entry that a second passed run contains when an urgent one interrupts the first [V8] [O2]', () => {
    play(
      { ...OPTIMISTIC, ...PARALLEL },
      `
      submit A[x,y] B[x,b] C[y]
      pause
      pass A+B A+C
      fail A
      states ABC=passed
      submit U[b] urgent
      resume
      states AC=merged
      states BU=testing
      `,
    );
  });

  it('lands nothing by a waived pass because another run vouches [V8] [V13]', () => {
    const told = play(
      { ...OPTIMISTIC, ...PARALLEL, honorQuarantine: 'ON' },
      `
      submit A[x,y] C[y] B[x]
      pause
      pass A+B
      fail A+C
      waive A+C
      states ABC=passed
      resume
      states ABC=merged
      `,
    );
    assert.equal(told.ended.get(numberOf('A'))?.landed?.waived, undefined);
    assert.notEqual(told.ended.get(numberOf('C'))?.landed?.waived, undefined);
  });

  it('ends when optimistic merging is switched off [V8]', () => {
    play(
      OPTIMISTIC,
      `
      submit A B
      pause
      pass A+B
      states AB=passed
      set canOptimisticallyMerge=false
      states A=testing B=passed
      trail A SUCCESSOR_TEST_RUN_PASSED SUCCESSOR_TEST_RUN_WITHDRAWN
      resume
      states A=testing B=passed
      target M
      `,
    );
  });

  it('takes back a landing that has not begun when optimistic merging is switched off [V8] [L7]', () => {
    play(
      OPTIMISTIC,
      `
      hold landers
      submit A B
      pass A+B
      set canOptimisticallyMerge=false
      states A=testing B=passed
      fail A
      states A=failed B=testing
      `,
    );
  });

  it('does not vouch where it is not switched on [V8]', () => {
    play({}, 'submit A B\npass A+B\nstates A=testing B=passed\ntarget M');
  });

  it('does not vouch for a batch that is being searched [V8] [B4]', () => {
    play(
      { ...OPTIMISTIC, batch: true, batchingMinSize: 2 },
      'submit A B C D\nfail AB\ntesting CD ~A ~A+B\npass CD\nstates CD=merged AB=testing\ntarget M+C+D',
    );
  });
});
