import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('targets that the server computes', () => {
  story('[T15] are asked for once for each head, and admit the entry', PARALLEL)`
    submit A B[x]   → A=waiting B=testing; asks A
    computed A[y]   → A=testing; testing B A; asks nothing
    submit C unready; computed C[x] → asks C
    push C          → asks C
  `;

  story('[T15] leave an entry waiting where the branch has no rules, until it has', PARALLEL)`
    submit A       → asks A
    computed A     → A=waiting
    foreign X      → asks review
    reviewed changed → asks A
    computed A[x]  → A=testing
  `;

  story('[T15] are not asked for in single mode, and for all after a switch to parallel')`
    submit A B    → asks nothing
    set mode="PARALLEL"; pass A B → asks nothing
    submit C      → asks C
  `;

  story('[T15] become everything when the rules are gone', PARALLEL)`
    submit A B; computed A[x] B[y] → testing A B; asks A B
    foreign X; reviewed changed; computed A B → testing A A+B
  `;

  story('[T15] of an old head or of old rules do not count', PARALLEL)`
    submit A unready; push A; foreign X; reviewed changed → asks A A review A
    computed A[x]; ready A → A=testing
  `;

  it('[T15] answer the question of their version only', () => {
    const told = play(PARALLEL)`submit A`;
    const { headSha: sha } = told.facts(numberOf('A'));
    const stale = { kind: 'targets_computed', at: told.now, prNumber: numberOf('A'), sha, version: 0 } as const;
    const { outcome } = told.tell({ ...stale, targets: { kind: 'all', cause: 'computed', from: 'sluice' } });
    assert.equal(outcome.kind, 'ignored');
    assert.equal(findEntry(told.queue, numberOf('A'))?.targets, undefined);
  });

  story('[T17] give way to those that were set, and never replace them', PARALLEL)`
    submit A B; computed A[x] B[y] → testing A B
    targets B[x]  → testing A A+B
    computed B[y] → ignored; testing A A+B
    submit C[y]   → testing A A+B C
  `;

  it('[T17] give way to those of a fork', () => {
    const told = play(PARALLEL)`submit A; computed A[x]`;
    const prNumber = numberOf('A');
    const list = { kind: 'list', digest: 'f', count: 1, targets: ['f'] } as const;
    const { headSha: sha } = told.facts(prNumber);
    told.tell({ kind: 'impacted_targets_set', ...told.byAda, prNumber, sha, targets: { ...list, from: 'fork' } });
    assert.equal(findEntry(told.queue, prNumber)?.targets?.from, 'fork');
    told.play('computed A[x] → ignored');
    assert.equal(findEntry(told.queue, prNumber)?.targets?.from, 'fork');
  });

  story('[T16] land composed only after the rules of the head were reviewed', PARALLEL)`
    submit A B; computed A[x] B[y]
    pass A B       → A=merged B=passed; asks A B review
    reviewed same  → B=merged; target M+A+B
  `;

  story('[T16] land exactly as tested without a review', PARALLEL)`
    submit A B; computed A[x] B[x] → testing A A+B
    pass A → A=merged
    pass B → B=merged; target M+A+B
  `;

  story('[T16] are tested again beside what landed, if the rules changed', PARALLEL)`
    submit A B C; computed A[x] B[y] C[y] → testing A B B+C
    pass A             → A=merged
    pass B             → B=passed
    reviewed changed   → trail B IMPACTED_TARGETS_CHANGED TEST_RUN_STARTED; testing B B+C
    pass B B+C         → BC=passed  # not computed by the new rules yet
    computed C[y]      → BC=passed
    computed B[y,z]    → BC=merged
  `;

  story('[T16] do not keep entries with uploaded targets from landing', PARALLEL)`
    submit A[x] B[y] C; computed C[z]
    pass A B → AB=merged
  `;

  it('[I2] are asked for again when a parked queue is resumed', () => {
    const told = play(PARALLEL)`submit A → asks A`;
    told.queue = { ...told.queue, parked: { reason: 'a test', since: told.now } };
    told.update({}, 'RUNNING');
    told.play('→ asks A');
  });
});

describe('the reasons for one lane', () => {
  it('[T19] are counted when an entry is tested behind another, and fade', () => {
    const told = play(PARALLEL)`
      with concurrency=4
      submit A[x,y] B[x,z] C[ALL] D; computed D[ALL]
    `;
    assert.deepEqual(told.queue.meetings, [
      { kind: 'UPLOADED_ALL', name: 'ALL', pairs: 3 },
      { kind: 'BARRIER', name: '*.lock', pairs: 2 },
      { kind: 'TARGET', name: 'x', pairs: 1 },
    ]);
    told.queue = { ...told.queue, meetings: [{ kind: 'TARGET', name: 'a', pairs: 1_001 }] };
    told.play('cancel A; submit E[x] F[x]');
    assert.deepEqual(told.queue.meetings.find(({ name }) => name === 'a')?.pairs, 500);
  });

  it('[T19] name the barrier, and are none in a queue with one lane', () => {
    const told = play(PARALLEL)`submit A B; computed A[ALL] B[x]`;
    assert.deepEqual(told.queue.meetings, [{ kind: 'BARRIER', name: '*.lock', pairs: 1 }]);
    assert.deepEqual(play()`submit A B`.queue.meetings, []);
  });
});
