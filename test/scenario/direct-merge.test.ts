import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const DIRECT = { directMergeMode: 'ALWAYS' } as const;

describe('direct merge: what was tested on its own head lands as it is', () => {
  it('lands straight from NOT_READY, without a run [L8]', () => {
    const told = play(DIRECT)`
      submit A uptodate → A=merged; why A=MERGE_GRAPH_DIRECT_MERGE; path A waiting merged; target M+A
                        → runs nothing; candidates nothing
    `;
    const landed = told.ended.get(numberOf('A'))?.landed;
    assert.deepEqual([landed?.kind, landed?.testedSha, landed?.testedTree], ['SAME_TREE', 'A@1', 'tree:A+M']);
    assert.equal(told.endedCandidates.get(1)?.pass?.by, 'head_checks');
  });

  story('is off unless it is switched on [L8]')`submit A uptodate → A=testing; runs A`;

  it('goes the usual way when its head does not contain the target’s [L8]', () => {
    play(DIRECT)`submit A → A=testing; runs A`;
    play(DIRECT)`foreign X; submit A uptodate on=M → A=testing; runs A`;
  });

  it('goes the usual way when a required check did not pass on its head [L8] [C7]', () => {
    play(DIRECT)`with requiredStatuses=["ci","lint"]; submit A uptodate passed=ci → A=testing; runs A`;
    play(DIRECT)`
      with requiredStatuses=["ci","lint"]
      submit A uptodate passed=lint,ci,more → A=merged; runs nothing
    `;
  });

  story('goes the usual way when its commit has not the tree that was tested [L28]', DIRECT)`
    submit A uptodate tree=other → A=testing; trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
                                 → runs A
    pass A                       → why A=MERGE_GRAPH_MERGE
  `;

  story('goes the usual way when somebody is in the line [L8]', DIRECT)`
    submit A; submit B uptodate → AB=testing; testing A A+B
  `;

  it('asks only its own lane in parallel mode [L8] [C2]', () => {
    const parallel = { ...DIRECT, mode: 'PARALLEL' } as const;
    play(parallel)`
      submit A[x]; submit B[y] uptodate → A=testing B=merged; target M+B; runs A
      pass A                            → proof A=COMPOSED+B
    `;
    play(parallel)`submit A[x]; submit B[x] uptodate → AB=testing; testing A A+B`;
    play(parallel)`submit A[x]; submit B[ALL] uptodate → AB=testing; testing A A+B`;
  });

  story('goes the usual way when it conflicts, which then is found out [L8] [C9]', DIRECT)`
    conflict A main; submit A uptodate → A=failed; why A=START_TEST_RUN_MERGE_CONFLICT
  `;

  story('is not overtaken by an entry that comes while it is built [L8]', DIRECT)`
    hold builds; submit A uptodate; submit B; release builds → A=merged B=testing; target M+A; runs B
  `;

  story('lets an entry that comes while it lands be tested on top of it, and only there [L8] [C5]', DIRECT)`
    hold landings; submit A uptodate; submit B; release landings → A=merged B=testing
    → path B waiting pending testing; target M+A; runs B
  `;

  story('gives up when the target is moved while it is built [L8] [C6]', DIRECT)`
    hold builds; submit A uptodate; foreign X → A=testing
    release builds → testing A; runs A; target M+X
  `;

  story('gives up when the target is moved while it lands, and is tested [L8] [L23]', DIRECT)`
    hold landings; submit A uptodate → A=waiting
    refuse moved X                   → A=testing; target M+X; runs A; alarm FOREIGN_PUSH
  `;

  story('fails with the reason of the forge when that refuses [L8] [L6]', DIRECT)`
    hold landings; submit A uptodate
    refuse A GITHUB_API_DIRECT_MERGE_PR_FAILED → A=failed; why A=GITHUB_API_DIRECT_MERGE_PR_FAILED; target M
  `;

  story('goes the usual way when it was pushed to just then [L8]', DIRECT)`
    hold landings; submit A uptodate
    refuse A PR_UPDATED_AT_MERGE_TIME → A=testing; target M
  `;

  story('lands one after the other: the second is not up to date any more [L8] [L1]', DIRECT)`
    pause; submit A uptodate; submit B uptodate; resume → A=merged B=testing; target M+A; runs B
  `;

  it('does nothing in a queue that does not run [L8] [Q3]', () => {
    for (const act of ['pause', 'drain']) {
      play(DIRECT)`
        ${act}
        submit A uptodate → A=waiting; target M
        resume            → A=merged
      `;
    }
  });

  it('lands only the commit that it was begun for [L8] [C11]', () => {
    const told = play(DIRECT)`hold builds; submit A uptodate`;
    // The author pushes another commit that is up to date and has passed.
    const upToDate = { targetHead: 'head:M', tree: 'tree:A2+M', passedChecks: ['ci'] } as never;
    told.observe(numberOf('A'), { headSha: 'A@2' as never, upToDate });
    told.play('release builds → A=merged; target M+A2; runs nothing');
    const landed = told.ended.get(numberOf('A'))?.landed;
    const candidate = told.endedCandidates.get(landed?.candidate ?? 0);
    assert.deepEqual([landed?.testedSha, candidate?.members[0]?.headSha], ['A@2', 'A@2']);
  });

  story('waits where the queue is paused while it is built [L8] [L5]', DIRECT)`
    hold builds; submit A uptodate; pause; release builds → A=waiting; target M
    resume → A=merged; runs nothing
  `;

  story('is cancelled while it is built like any other [L8] [E6]', DIRECT)`
    hold builds; submit A uptodate; cancel A → A=cancelled
    release builds                           → candidates nothing; target M
  `;

  story('is not tried again for the same head, but for a new one [L8]', DIRECT)`
    hold builds; submit A uptodate tree=other unready → A=waiting
    release builds; ready A → A=testing; runs A
  `;

  story('passes once built where nothing is required [L8] [C7]', DIRECT)`
    with requiredStatuses=[]
    submit A uptodate passed= → A=merged; why A=MERGE_GRAPH_DIRECT_MERGE
  `;

  story('is not for an entry that is not ready [L8] [E2]', DIRECT)`
    submit A uptodate unready → A=waiting; target M; candidates nothing
  `;
});
