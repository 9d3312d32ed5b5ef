import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { explain } from '../../src/words/explain.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('vouching: a pass covers exactly what was in the tree that passed', () => {
  const OPTIMISTIC = { canOptimisticallyMerge: true };

  it('lands a prefix together with the candidate that vouches for it, in one move [V30] [L2]', () => {
    const told = play(OPTIMISTIC)`
      submit A B C; pass A+B+C → ABC=merged
                               → trail A TEST_RUN_STARTED SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
                               → trail C TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE; target M+A+B+C
                               → candidates nothing
    `;
    for (const name of ['A', 'B', 'C']) {
      const landed = told.ended.get(numberOf(name))?.landed;
      assert.deepEqual([landed?.candidate, landed?.pushedSha], [3, 'head:M+A+B+C']);
    }
  });

  story('lands a prefix together with what landed beside it [V30] [L20]', { ...OPTIMISTIC, ...PARALLEL })`
    submit A[x] B[x] D[y]; pass D A+B → ABD=merged; target M+D+A+B; proof A=COMPOSED+D B=COMPOSED+D
  `;

  story(
    'ends where the one that vouched makes way for an urgent one: then its own run counts at once [V31] [O6]',
    OPTIMISTIC,
  )`
    submit C; submit A urgent; pause; submit B urgent; pass A+C
    fail A → AC=passed B=waiting
    resume → A=failed B=testing C=testing
  `;

  story('holds while it lands, also where an own run turns out to be impossible [V8] [L27]', OPTIMISTIC)`
    hold landings; submit A B; pass A+B
    unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH → AB=passed
    release landings → AB=merged; candidates nothing
  `;

  story(
    'gives an own run that turned out to be impossible another try, where it does not land [V31] [L27]',
    OPTIMISTIC,
  )`
    hold landings; submit A B; pass A+B
    unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH
    refuse B GITHUB_API_MERGE_PR_FAILED → A=testing B=failed; runs A A+B A
    unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH → A=failed
  `;

  it('holds while it lands, also where an own run is built anew and conflicts [V8] [L27]', () => {
    const told = play(OPTIMISTIC)`hold landings; submit A B; pass A+B; hold builds`;
    told.reportCheck(told.candidate('A').number, { conclusion: 'CANCELLED' });
    const of = { at: told.now, candidate: told.candidate('A').number };
    told.tell({ kind: 'candidate_conflicted', ...of, prNumber: numberOf('A'), culprit: undefined });
    told.play(`
                       → AB=passed
      release landings → AB=merged; candidates nothing
    `);
  });

  story('covers nobody who is not in it [V8]', { ...OPTIMISTIC, ...PARALLEL })`
    submit A[x] B[y] C[x]; pass A+C → AC=merged B=testing; target M+A+C; path B waiting pending testing
  `;

  story('keeps the runs of those it vouches for until they have landed [V31]', OPTIMISTIC)`
    hold landings; submit A B; pass A+B → AB=passed; why A=SUCCESSOR_TEST_RUN_PASSED
                                        → candidates A=testing A+B=passed
    # its own run goes on, and changes nothing while it is vouched for
    fail A                              → AB=passed; trail A TEST_RUN_STARTED SUCCESSOR_TEST_RUN_PASSED
    release landings                    → AB=merged; candidates nothing; target M+A+B
  `;

  story('takes notice of its own run, whatever that does, without a change of state [V31] [V9] [V3]', OPTIMISTIC)`
    hold landings; submit A B; pass A+B
    report A FAILURE started=-5m → candidates A=failed A+B=passed
    report A RUNNING started=-1m → candidates A=testing A+B=passed
    cut A                        → candidates A=testing A+B=passed; runs A A+B A
    pass A                       → candidates A=passed A+B=passed; AB=passed
                                 → path A waiting pending testing passed
  `;

  story('stands by its own run again when the one that vouched leaves [V31]', OPTIMISTIC)`
    submit A B; pause; pass A+B → AB=passed
    cancel B                    → A=testing B=cancelled; why A=SUCCESSOR_TEST_RUN_WITHDRAWN
                                → candidates A=testing
    pass A; resume              → target M+A; runs A A+B
  `;

  story('is held again by its own failure when the one that vouched leaves [V31] [V4]', OPTIMISTIC)`
    submit A B C; pause; fail A+B; pass A+B+C → ABC=passed
    cancel C → A=testing B=held C=cancelled; trail B SUCCESSOR_TEST_RUN_PASSED SUCCESSOR_TEST_RUN_WITHDRAWN
    pass A   → A=passed B=failed
  `;

  story('stands by its own run once that passes, and does not need the voucher any more [V31]', OPTIMISTIC)`
    submit A B; pause; pass A+B A; cancel B → A=passed
    resume                                  → A=merged; target M+A
  `;

  story('keeps an entry that a second passed run contains when an urgent one interrupts the first [V29] [O6]', {
    ...OPTIMISTIC,
    ...PARALLEL,
  })`
    submit A[x,y] B[x,b] C[y]; pause; pass A+B A+C; fail A → ABC=passed
    submit U[b] urgent; resume → AC=merged; BU=testing
  `;

  it('lands nothing by a waived pass because another run vouches [V8] [V47]', () => {
    const told = play({ ...OPTIMISTIC, ...PARALLEL, honorQuarantine: 'ON' })`
      submit A[x,y] C[y] B[x]; pause; pass A+B; fail A+C; waive A+C → ABC=passed
      resume → ABC=merged
    `;
    assert.equal(told.ended.get(numberOf('A'))?.landed?.waived, undefined);
    assert.notEqual(told.ended.get(numberOf('C'))?.landed?.waived, undefined);
  });

  story('ends when optimistic merging is switched off [V29]', OPTIMISTIC)`
    submit A B; pause; pass A+B      → AB=passed
    set canOptimisticallyMerge=false → A=testing B=passed
                                     → trail A SUCCESSOR_TEST_RUN_PASSED SUCCESSOR_TEST_RUN_WITHDRAWN
    resume                           → A=testing B=passed; target M
  `;

  story('takes back a landing that has not begun when optimistic merging is switched off [V29] [L7]', OPTIMISTIC)`
    hold landers; submit A B; pass A+B
    set canOptimisticallyMerge=false → A=testing B=passed
    fail A                           → A=failed B=testing
  `;

  story('does not vouch where it is not switched on [V8]')`submit A B; pass A+B → A=testing B=passed; target M`;

  story('does not vouch for a batch that is being searched [V8] [B4]', OPTIMISTIC)`
    with batch=true batchingMinSize=2
    submit A B C D; fail AB → testing CD ~A ~A+B
    pass CD                 → CD=merged AB=testing; target M+C+D
  `;

  it('an entry whose own run has passed needs no voucher, and its explanation names none [V30] [E12]', () => {
    const told = play(OPTIMISTIC)`submit A B; pause; pass A+B → AB=passed`;
    const codes = () => {
      const entry = findEntry(told.queue, numberOf('A'));
      return entry === undefined ? [] : explain(told.queue, entry, told.now).reasons.map(({ code }) => code);
    };
    assert.ok(codes().includes('VOUCHED'));
    told.play('pass A → A=passed');
    assert.ok(!codes().includes('VOUCHED'));
  });
});
