import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';
import { numberOf } from './words.ts';

const DIRECT = { directMergeMode: 'ALWAYS' } as const;

describe('direct merge: what was tested on its own head lands as it is', () => {
  it('lands straight from NOT_READY, without a run [L8]', () => {
    const told = play(
      DIRECT,
      `
      submit A uptodate
      states A=merged
      why A=MERGE_GRAPH_DIRECT_MERGE
      path A waiting merged
      target M+A
      runs
      candidates
      `,
    );
    const landed = told.ended.get(numberOf('A'))?.landed;
    assert.deepEqual([landed?.kind, landed?.testedSha, landed?.testedTree], ['SAME_TREE', 'A@1', 'tree:A+M']);
    assert.equal(told.endedCandidates.get(1)?.pass?.by, 'head_checks');
  });

  it('is off unless it is switched on [L8]', () => {
    play({}, 'submit A uptodate\nstates A=testing\nruns A');
  });

  it('goes the usual way when its head does not contain the target’s [L8]', () => {
    play(DIRECT, 'submit A\nstates A=testing\nruns A');
    play(DIRECT, 'foreign X\nsubmit A uptodate on=M\nstates A=testing\nruns A');
  });

  it('goes the usual way when a required check did not pass on its head [L8] [C7]', () => {
    play({ ...DIRECT, requiredStatuses: ['ci', 'lint'] }, 'submit A uptodate passed=ci\nstates A=testing\nruns A');
    play(
      { ...DIRECT, requiredStatuses: ['ci', 'lint'] },
      'submit A uptodate passed=lint,ci,more\nstates A=merged\nruns',
    );
  });

  it('goes the usual way when its commit has not the tree that was tested [L8]', () => {
    play(
      DIRECT,
      'submit A uptodate tree=other\nstates A=testing\ntrail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED\nruns A\npass A\nwhy A=MERGE_GRAPH_MERGE',
    );
  });

  it('goes the usual way when somebody is in the line [L8]', () => {
    play(DIRECT, 'submit A\nsubmit B uptodate\nstates AB=testing\ntesting A A+B');
  });

  it('asks only its own lane in parallel mode [L8] [C2]', () => {
    const parallel = { ...DIRECT, mode: 'PARALLEL' } as const;
    play(
      parallel,
      'submit A[x]\nsubmit B[y] uptodate\nstates A=testing B=merged\ntarget M+B\nruns A\npass A\nproof A=COMPOSED+B',
    );
    play(parallel, 'submit A[x]\nsubmit B[x] uptodate\nstates AB=testing\ntesting A A+B');
    play(parallel, 'submit A[x]\nsubmit B[ALL] uptodate\nstates AB=testing\ntesting A A+B');
  });

  it('goes the usual way when it conflicts, which then is found out [L8] [C9]', () => {
    play(DIRECT, 'conflict A main\nsubmit A uptodate\nstates A=failed\nwhy A=START_TEST_RUN_MERGE_CONFLICT');
  });

  it('is not overtaken by an entry that comes while it is built [L8]', () => {
    play(
      DIRECT,
      'hold builds\nsubmit A uptodate\nsubmit B\nrelease builds\nstates A=merged B=testing\ntarget M+A\nruns B',
    );
  });

  it('lets an entry that comes while it lands be tested on top of it, and only there [L8] [C5]', () => {
    play(
      DIRECT,
      `
      hold landings
      submit A uptodate
      submit B
      release landings
      states A=merged B=testing
      path B waiting pending testing
      target M+A
      runs B
      `,
    );
  });

  it('gives up when the target is moved while it is built [L8] [C6]', () => {
    play(
      DIRECT,
      'hold builds\nsubmit A uptodate\nforeign X\nstates A=testing\nrelease builds\ntesting A\nruns A\ntarget M+X',
    );
  });

  it('gives up when the target is moved while it lands, and is tested [L8] [L6]', () => {
    play(
      DIRECT,
      'hold landings\nsubmit A uptodate\nstates A=waiting\nrefuse moved X\nstates A=testing\ntarget M+X\nruns A\nalarm FOREIGN_PUSH',
    );
  });

  it('fails with the reason of the forge when that refuses [L8] [L6]', () => {
    play(
      DIRECT,
      'hold landings\nsubmit A uptodate\nrefuse A GITHUB_API_DIRECT_MERGE_PR_FAILED\nstates A=failed\nwhy A=GITHUB_API_DIRECT_MERGE_PR_FAILED\ntarget M',
    );
  });

  it('goes the usual way when it was pushed to just then [L8]', () => {
    play(DIRECT, 'hold landings\nsubmit A uptodate\nrefuse A PR_UPDATED_AT_MERGE_TIME\nstates A=testing\ntarget M');
  });

  it('lands one after the other: the second is not up to date any more [L8] [L1]', () => {
    play(DIRECT, 'pause\nsubmit A uptodate\nsubmit B uptodate\nresume\nstates A=merged B=testing\ntarget M+A\nruns B');
  });

  it('does nothing in a queue that does not run [L8] [Q3]', () => {
    for (const act of ['pause', 'drain']) {
      play(DIRECT, `${act}\nsubmit A uptodate\nstates A=waiting\ntarget M\nresume\nstates A=merged`);
    }
  });

  it('lands only the commit that it was begun for [L8] [C11]', () => {
    const told = play(DIRECT, 'hold builds\nsubmit A uptodate');
    // The author pushes another commit that is up to date and has passed.
    const upToDate = { targetHead: 'head:M', tree: 'tree:A2+M', passedChecks: ['ci'] } as never;
    told.observe(numberOf('A'), { headSha: 'A@2' as never, upToDate });
    told.play('release builds\nstates A=merged\ntarget M+A2\nruns');
    const landed = told.ended.get(numberOf('A'))?.landed;
    const candidate = told.endedCandidates.get(landed?.candidate ?? 0);
    assert.deepEqual([landed?.testedSha, candidate?.members[0]?.headSha], ['A@2', 'A@2']);
  });

  it('waits where the queue is paused while it is built [L8] [L5]', () => {
    play(
      DIRECT,
      'hold builds\nsubmit A uptodate\npause\nrelease builds\nstates A=waiting\ntarget M\nresume\nstates A=merged\nruns',
    );
  });

  it('is cancelled while it is built like any other [L8] [E6]', () => {
    play(DIRECT, 'hold builds\nsubmit A uptodate\ncancel A\nstates A=cancelled\nrelease builds\ncandidates\ntarget M');
  });

  it('is not tried again for the same head, but for a new one [L8]', () => {
    const told = play(DIRECT, 'hold builds\nsubmit A uptodate tree=other unready\nstates A=waiting');
    told.play('release builds\nready A\nstates A=testing\nruns A');
  });

  it('passes once built where nothing is required [L8] [C7]', () => {
    play(
      { ...DIRECT, requiredStatuses: [] },
      'submit A uptodate passed=\nstates A=merged\nwhy A=MERGE_GRAPH_DIRECT_MERGE',
    );
  });

  it('is not for an entry that is not ready [L8] [E2]', () => {
    play(DIRECT, 'submit A uptodate unready\nstates A=waiting\ntarget M\ncandidates');
  });
});
