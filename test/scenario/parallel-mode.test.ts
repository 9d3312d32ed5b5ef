import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../../src/engine/model/targets.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import { play, story } from '../worlds/engine/story.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('lanes: entries that share no target do not stand in each other’s way', () => {
  story('tests each entry on exactly those ahead that it overlaps with [C1] [C2]', PARALLEL)`
    submit A[frontend] B[backend] C[frontend,backend] D[docs] → testing A B A+B+C D; runs A B A+B+C D
  `;

  story('restarts only what depends on an entry that failed [V5] [C5]', PARALLEL)`
    submit A[frontend] B[backend] C[frontend,backend] D[docs]
    fail B → A=testing B=failed CD=testing; testing A D A+C
           → trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
           → trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
           → trail D API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED; runs A B A+B+C D A+C
  `;

  story('lands lanes in any order, without restarting one another [C4] [L2] [L20]', PARALLEL)`
    submit A[frontend] B[backend] C[frontend,backend] D[docs]
    pass D   → D=merged ABC=testing
    pass B   → B=merged AC=testing; target M+D+B
    pass A+C → C=passed  # B has landed beneath C
    pass A   → ABCD=merged; target M+D+B+A+C; proof D=SAME_TREE B=COMPOSED+D A=COMPOSED+D+B C=COMPOSED+D
             → runs A B A+B+C D
  `;

  story('builds on the way of transitive dependencies too [C1]', PARALLEL)`
    submit A[x] B[x,y] C[y,z] D[z] → testing A A+B A+B+C A+B+C+D
    cancel B                       → testing A C C+D  # nothing connects A and C any more
  `;

  story('lets an entry that impacts everything follow all ahead and lead all behind [C2]', PARALLEL)`
    submit A[x] B[ALL] C[y] D[] → testing A A+B A+B+C A+B+D
    fail A                      → A=failed; testing B B+C B+D
  `;

  story('lets an empty list overlap with nothing but ALL [C2]', PARALLEL)`
    submit A[] B[] C[x] D[] → testing A B C D
    pass D B                → DB=merged AC=testing; target M+D+B
  `;

  story('does not admit an entry whose targets are not uploaded for its present head [E2]', PARALLEL)`
    submit A     → A=waiting
    targets A[x] → A=testing
    submit B[y] unready; push B  # the targets were for the old head
    ready B      → B=waiting
    targets B[y] → B=testing
  `;

  story('counts entries older than the switch to parallel as impacting everything [C2] [Q7]')`
    submit A; set mode="PARALLEL" → queue SWITCHING_MODES
    submit B                      → B=waiting  # parked, and needs no targets
    pass A                        → queue RUNNING; B=testing
    submit C[x] D[y]              → testing B B+C B+D
  `;

  story('skips a lane whose entries cannot be started, and starts others [C3]', PARALLEL)`
    with concurrency=1
    submit A[x] B[x] C[x] D[y] → testing A
    pass A                     → testing B; target M+A
    fail B                     → B=failed; testing C
  `;

  story('starts an entry of another lane however many wait behind a failure [V7] [C3]', PARALLEL)`
    with concurrency=3
    submit A[x] B[x]; fail A+B; submit C[x] D[x] E[x] → CDE=pending
    submit F[y] → testing A F; CDE=pending
  `;

  it('builds on the commit of the last ahead, where that has exactly what lies beneath [C1]', () => {
    const told = play(PARALLEL)`with concurrency=9; submit A[x] B[x] C[x] D[y] E[x,y] F[y,x] G[z] H[y,z]`;
    const parents = told.candidates().map((candidate) => [told.label(candidate), candidate.parent]);
    assert.deepEqual(parents, [
      ['A', undefined],
      ['A+B', 1],
      ['A+B+C', 2],
      ['D', undefined],
      ['A+B+C+D+E', undefined],
      ['A+B+C+D+E+F', 5],
      ['G', undefined],
      ['A+B+C+D+E+F+G+H', undefined],
    ]);
    told.play('cancel H; pass G; submit I[z] → testing A A+B A+B+C D A+B+C+D+E A+B+C+D+E+F I');
    assert.equal(told.candidate('I').parent, undefined);
  });

  story('keeps the limit of depth for each lane by itself [C23]', PARALLEL)`
    with concurrency=2
    submit A[x] B[x] C[x] D[x] E[y] → testing A A+B
    pass A+B                        → testing A A+B+C
    pass A+B+C                      → testing A E  # D stands too deep; E does not
                                    → D=pending
  `;
});

describe('impacted targets that change while an entry is in the line', () => {
  story('abandons the candidate that lacks an entry ahead it now overlaps with [C24]', PARALLEL)`
    submit A[x] B[y] C[y] → testing A B B+C
    targets B[x]          → trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
                          → trail C IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED; testing A A+B C; ABC=testing
  `;

  story('abandons what is behind and now overlaps, and nothing else [C24]', PARALLEL)`
    submit A[x] B[y] C[z] → testing A B C
    targets A[y]          → testing A C A+B; trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
                          → path A waiting pending testing; path C waiting pending testing
  `;

  story('keeps a candidate that contains more than it would need [C4]', PARALLEL)`
    submit A[x] B[x,y] → testing A A+B
    targets B[y]       → testing A A+B; path B waiting pending testing
    targets B[y]       → testing A A+B
  `;

  it('takes no notice of targets for another head, or of the same ones again [C24] [T1]', () => {
    const told = play(PARALLEL)`submit A[x] B[y]`;
    const prNumber = told.candidate('B').members[0]?.prNumber as never;
    const targets = { kind: 'list' as const, digest: 'x', count: 1, targets: ['x'] };
    told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha: 'other' as never, targets });
    told.play(`
                     → testing A B
      targets B[y]   → testing A B
      targets B[ALL] → testing A A+B
    `);
  });

  it('takes no notice of what a fork says where somebody with a token spoke [G80]', () => {
    const told = play(PARALLEL)`submit A[x] B[y]`;
    const entry = told.candidate('B').members[0];
    const { prNumber, sha } = { prNumber: entry?.prNumber as never, sha: entry?.headSha as never };
    const say = (targets: ImpactedTargets) =>
      told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha, targets });
    const onX = { kind: 'list' as const, digest: 'x', count: 1, targets: ['x'] };
    say({ ...onX, from: 'fork' });
    told.play('→ testing A B');
    say(onX);
    told.play('→ testing A A+B');
  });

  it('takes what a fork says until somebody with a token speaks [G80]', () => {
    const told = play(PARALLEL)`submit A[x] B`;
    const entry = [...valuesOf(told.queue.entries)].find(({ state }) => state === 'NOT_READY');
    assert.ok(entry);
    const { prNumber, pr } = entry;
    const say = (targets: ImpactedTargets) =>
      told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha: pr.headSha, targets });
    const onY = { kind: 'list' as const, digest: 'y', count: 1, targets: ['y'] };
    say({ ...onY, from: 'fork' });
    told.play('→ testing A B');
    say({ ...ALL_TARGETS, from: 'fork' });
    told.play('→ testing A A+B');
    say(onY);
    say({ ...ALL_TARGETS, from: 'fork' });
    assert.deepEqual(findEntry(told.queue, prNumber)?.targets, onY);
  });

  story('takes no notice of the same targets again where something landed beside it [C24] [C4]', PARALLEL)`
    submit A[x] B[y]; pass A; targets B[y] → path B waiting pending testing
    pass B                                 → proof B=COMPOSED+A
  `;

  story('notices one member of a batch ahead that it now overlaps with [C24]', PARALLEL)`
    with batch=true batchingMinSize=2
    submit A[x] B[x,y] C[q] D[q] → testing AB CD
    targets C[y]                 → trail C IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED; testing AB AB+C D
  `;

  story('keeps siblings that would be built just the same [C24] [C4]', PARALLEL)`
    submit A[x,y] B[x] C[y] → testing A A+B A+C
    # A has x and is beneath C; C itself has not
    targets B[x,q]          → testing A A+B A+C; path C waiting pending testing
    targets B[y]            → testing A A+B A+B+C; trail C IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
                            → cause C=none
  `;

  story(
    'tests again what landed beside its old targets, should it not be disjoint from the new ones [C24] [L3]',
    PARALLEL,
  )`
    submit A[x] B[y]; pass A → A=merged; testing B
    targets B[x]             → trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED; testing B
    pass B                   → proof B=SAME_TREE; target M+A+B
  `;
});
