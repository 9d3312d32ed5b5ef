import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/queue.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../../src/engine/targets.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import { play } from './scenario.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('lanes: entries that share no target do not stand in each other’s way', () => {
  it('tests each entry on exactly those ahead that it overlaps with [C1] [C2]', () => {
    play(
      PARALLEL,
      `
      submit A[frontend] B[backend] C[frontend,backend] D[docs]
      testing A B A+B+C D
      runs A B A+B+C D
      `,
    );
  });

  it('restarts only what depends on an entry that failed [V5] [C5]', () => {
    play(
      PARALLEL,
      `
      submit A[frontend] B[backend] C[frontend,backend] D[docs]
      fail B
      states A=testing B=failed CD=testing
      testing A D A+C
      trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      trail A API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
      trail D API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
      runs A B A+B+C D A+C
      `,
    );
  });

  it('lands lanes in any order, without restarting one another [C4] [L2] [L3]', () => {
    play(
      PARALLEL,
      `
      submit A[frontend] B[backend] C[frontend,backend] D[docs]
      pass D
      states D=merged ABC=testing
      pass B
      states B=merged AC=testing
      target M+D+B
      pass A+C                # B has landed beneath C
      states C=passed
      pass A
      states ABCD=merged
      target M+D+B+A+C
      proof D=SAME_TREE B=COMPOSED+D A=COMPOSED+D+B C=COMPOSED+D
      runs A B A+B+C D
      `,
    );
  });

  it('builds on the way of transitive dependencies too [C1]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[x,y] C[y,z] D[z]
      testing A A+B A+B+C A+B+C+D
      cancel B
      testing A C C+D      # nothing connects A and C any more
      `,
    );
  });

  it('lets an entry that impacts everything follow all ahead and lead all behind [C2]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[ALL] C[y] D[]
      testing A A+B A+B+C A+B+D
      fail A
      states A=failed
      testing B B+C B+D
      `,
    );
  });

  it('lets an empty list overlap with nothing but ALL [C2]', () => {
    play(PARALLEL, 'submit A[] B[] C[x] D[]\ntesting A B C D\npass D B\nstates DB=merged AC=testing\ntarget M+D+B');
  });

  it('does not admit an entry whose targets are not uploaded for its present head [E2]', () => {
    play(
      PARALLEL,
      `
      submit A
      states A=waiting
      targets A[x]
      states A=testing
      submit B[y] unready
      push B             # the targets were for the old head
      ready B
      states B=waiting
      targets B[y]
      states B=testing
      `,
    );
  });

  it('counts entries older than the switch to parallel as impacting everything [C2] [Q7]', () => {
    play(
      {},
      `
      submit A
      set mode="PARALLEL"
      queue SWITCHING_MODES
      submit B          # parked, and needs no targets
      states B=waiting
      pass A
      queue RUNNING
      states B=testing
      submit C[x] D[y]
      testing B B+C B+D
      `,
    );
  });

  it('skips a lane whose entries cannot be started, and starts others [C3]', () => {
    play(
      { ...PARALLEL, concurrency: 1 },
      `
      submit A[x] B[x] C[x] D[y]
      testing A
      pass A
      testing B
      target M+A
      fail B
      states B=failed
      testing C
      `,
    );
  });

  it('starts an entry of another lane however many wait behind a failure [V7] [C3]', () => {
    play(
      { ...PARALLEL, concurrency: 3 },
      'submit A[x] B[x]\nfail A+B\nsubmit C[x] D[x] E[x]\nstates CDE=pending\nsubmit F[y]\ntesting A F\nstates CDE=pending',
    );
  });

  it('builds on the commit of the last ahead, where that has exactly what lies beneath [C1]', () => {
    const told = play({ ...PARALLEL, concurrency: 9 }, 'submit A[x] B[x] C[x] D[y] E[x,y] F[y,x] G[z] H[y,z]');
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
    told.play('cancel H\npass G\nsubmit I[z]\ntesting A A+B A+B+C D A+B+C+D+E A+B+C+D+E+F I');
    assert.equal(told.candidate('I').parent, undefined);
  });

  it('keeps the limit of depth for each lane by itself [C3]', () => {
    play(
      { ...PARALLEL, concurrency: 2 },
      `
      submit A[x] B[x] C[x] D[x] E[y]
      testing A A+B
      pass A+B
      testing A A+B+C
      pass A+B+C
      testing A E            # D stands too deep; E does not
      states D=pending
      `,
    );
  });
});

describe('impacted targets that change while an entry is in the line', () => {
  it('abandons the candidate that lacks an entry ahead it now overlaps with [C5]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[y] C[y]
      testing A B B+C
      targets B[x]
      trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
      trail C IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
      testing A A+B C
      states ABC=testing
      `,
    );
  });

  it('abandons what is behind and now overlaps, and nothing else [C5]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[y] C[z]
      testing A B C
      targets A[y]
      testing A C A+B
      trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
      path A waiting pending testing
      path C waiting pending testing
      `,
    );
  });

  it('keeps a candidate that contains more than it would need [C4]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[x,y]
      testing A A+B
      targets B[y]
      testing A A+B
      path B waiting pending testing
      targets B[y]
      testing A A+B
      `,
    );
  });

  it('takes no notice of targets for another head, or of the same ones again [C5] [T1]', () => {
    const told = play(PARALLEL, 'submit A[x] B[y]');
    const prNumber = told.candidate('B').members[0]?.prNumber as never;
    const targets = { kind: 'list' as const, digest: 'x', count: 1, targets: ['x'] };
    told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha: 'other' as never, targets });
    told.play('testing A B\ntargets B[y]\ntesting A B\ntargets B[ALL]\ntesting A A+B');
  });

  it('takes no notice of what a fork says where somebody with a token spoke [G80]', () => {
    const told = play(PARALLEL, 'submit A[x] B[y]');
    const entry = told.candidate('B').members[0];
    const { prNumber, sha } = { prNumber: entry?.prNumber as never, sha: entry?.headSha as never };
    const say = (targets: ImpactedTargets) =>
      told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha, targets });
    const onX = { kind: 'list' as const, digest: 'x', count: 1, targets: ['x'] };
    say({ ...onX, from: 'fork' });
    told.play('testing A B');
    say(onX);
    told.play('testing A A+B');
  });

  it('takes what a fork says until somebody with a token speaks [G80]', () => {
    const told = play(PARALLEL, 'submit A[x] B');
    const entry = [...valuesOf(told.queue.entries)].find(({ state }) => state === 'NOT_READY');
    assert.ok(entry);
    const { prNumber, pr } = entry;
    const say = (targets: ImpactedTargets) =>
      told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha: pr.headSha, targets });
    const onY = { kind: 'list' as const, digest: 'y', count: 1, targets: ['y'] };
    say({ ...onY, from: 'fork' });
    told.play('testing A B');
    say({ ...ALL_TARGETS, from: 'fork' });
    told.play('testing A A+B');
    say(onY);
    say({ ...ALL_TARGETS, from: 'fork' });
    assert.deepEqual(findEntry(told.queue, prNumber)?.targets, onY);
  });

  it('takes no notice of the same targets again where something landed beside it [C5] [C4]', () => {
    play(
      PARALLEL,
      'submit A[x] B[y]\npass A\ntargets B[y]\npath B waiting pending testing\npass B\nproof B=COMPOSED+A',
    );
  });

  it('notices one member of a batch ahead that it now overlaps with [C5]', () => {
    play(
      { ...PARALLEL, batch: true, batchingMinSize: 2 },
      `
      submit A[x] B[x,y] C[q] D[q]
      testing AB CD
      targets C[y]
      trail C IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
      testing AB AB+C D
      `,
    );
  });

  it('keeps siblings that would be built just the same [C5] [C4]', () => {
    play(
      PARALLEL,
      `
      submit A[x,y] B[x] C[y]
      testing A A+B A+C
      targets B[x,q]           # A has x and is beneath C; C itself has not
      testing A A+B A+C
      path C waiting pending testing
      targets B[y]
      testing A A+B A+B+C
      trail C IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
      cause C=nobody
      `,
    );
  });

  it('tests again what landed beside its old targets, should it not be disjoint from the new ones [C5] [L3]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[y]
      pass A
      states A=merged
      testing B
      targets B[x]
      trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED
      testing B
      pass B
      proof B=SAME_TREE
      target M+A+B
      `,
    );
  });
});
