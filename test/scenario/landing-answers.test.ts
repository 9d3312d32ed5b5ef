import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateLanded } from '../../src/engine/model/event.ts';
import { step } from '../../src/engine/step.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

/** The answer that the candidate's commit is the new head. `more` overrides parts of it. */
function landed(told: Scenario, label: string, names: string, more: Partial<CandidateLanded> = {}): CandidateLanded {
  const { number, commit } = told.candidate(label);
  assert.ok(commit && told.queue.head);
  const { sha, tree } = commit;
  return {
    kind: 'candidate_landed',
    at: told.now,
    candidate: number,
    how: 'IDENTICAL',
    base: told.queue.head.sha,
    pushedSha: sha,
    pushedTree: tree,
    entries: [...names].map((name) => ({ prNumber: numberOf(name), sha, tree })),
    ...more,
  };
}

describe('answers to a landing', () => {
  it('count only for the candidate that is landing [L1] [I4]', () => {
    const told = play(PARALLEL)`hold landings; submit A[x] B[y]; pass A B`;
    told.tell(landed(told, 'B', 'B'));
    told.play('→ ignored; AB=passed');
    const candidate = told.candidate('B').number;
    told.tell({ kind: 'landing_refused', at: told.now, candidate, problem: { kind: 'not_composable' } });
    told.play(`
                       → ignored; AB=passed
      release landings → AB=merged
    `);
  });

  it('that it did not happen let go whoever asked to leave, and the others are tested again [L24]', () => {
    const told = play()`with batch=true batchingMinSize=2; hold landings; submit A B; pass AB; cancel A`;
    const candidate = told.candidate('AB').number;
    told.tell({ kind: 'landing_refused', at: told.now, candidate, problem: { kind: 'called_off' } });
    told.play(`
                               → A=cancelled B=testing; why A=USER_REQUESTED
      release landings; pass B → B=merged
    `);
  });

  it('park the queue where the commit is the tested one and its tree is not [L22] [I1]', () => {
    const told = play()`hold landings; submit A; pass A`;
    const outcome = step(told.queue, landed(told, 'A', 'A', { pushedTree: 'tree:X' as Sha })).outcome;
    assert.equal(outcome.kind, 'parked');
  });

  it('name the run that proved the tree, where that was another one [L3] [C10]', () => {
    const told = play()`
      hold landings; submit A; pause; pass A; submit B urgent; resume
      cancel B → A=passed; runs A B B+A
    `;
    const { number, commit } = told.candidate('A');
    told.tell(landed(told, 'A', 'A'));
    const proof = told.ended.get(numberOf('A'))?.landed;
    assert.notEqual(number, 1);
    assert.deepEqual([proof?.kind, proof?.testedSha, proof?.candidate], ['SAME_TREE', 'c1', 1]);
    assert.equal(proof?.pushedSha, commit?.sha);
  });

  story('test again what overlaps with what has landed, by targets it got meanwhile [C4] [C24] [L7]', PARALLEL)`
    hold landings; submit B[y] A[x]; pass A; targets A[y] → B=testing
    release landings → A=merged B=testing; trail B TARGET_BRANCH_MOVED TEST_RUN_STARTED; runs B A B
    pass B           → proof B=SAME_TREE
  `;

  story('name everything of a batch that landed beside [L3]', PARALLEL)`
    with batch=true batchingMinSize=2
    submit A[x] B[x]; submit C[y] nobatch; pass AB C → ABC=merged; proof C=COMPOSED+A+B
  `;

  it('name the last of those it cannot be composed with [L4] [E11]', () => {
    const told = play(PARALLEL)`submit A[x] B[y] C[z]; pass B C; set exactLanding=true; pass A`;
    const why = told.trailOf('A').find(({ because }) => because.reason === 'LANDING_NOT_COMPOSABLE');
    assert.equal(why?.because.prNumber, numberOf('C'));
  });

  story('let the next one land where the first cannot be composed any more [L4] [L1]', PARALLEL)`
    submit A[x] B[y]; pass B; submit C[z]; pause
    set exactLanding=true; pass A C; resume → C=merged A=testing; target M+B+C
  `;

  story('that say it was merged by hand end it as merged, and test the others again [E20] [G22]')`
    with concurrency=2 exactLanding=true
    hold landings; submit A B; pass A; refuse A MANUAL_MERGE → A=merged B=testing; why A=MANUAL_MERGE
    → runs A A+B B
  `;

  story('make what was vouched for stand behind what it overlaps with now, when they refuse [C5] [V8] [L6]', PARALLEL)`
    with canOptimisticallyMerge=true
    hold landings; submit A[p] B[x] C[x]; pass B+C → B=passed
    targets B[p,x]; refuse C PR_UPDATED_AT_MERGE_TIME → C=failed B=testing; testing A A+B
  `;

  story('do not let a tree that was refused pass by another run it had [L4] [C10]')`
    hold landings; submit A; pause; pass A; submit B urgent; resume
    cancel B           → A=passed
    refuse composition → A=testing; runs A B B+A A
  `;

  it('about somebody who is not there put everything back [L6] [I4]', () => {
    const told = play()`hold landings; submit A; pass A; refuse Z GITHUB_API_MERGE_PR_FAILED`;
    assert.ok(told.trailOf('A').some(({ because }) => because.reason === 'LANDING_INTERRUPTED'));
  });
});

describe('a target that was away', () => {
  it('is not known to contain what it had before [C10] [C6]', () => {
    const told = play()`submit A; pause; pass A; gone`;
    const head = 'head:M' as Sha;
    told.tell({ kind: 'target_observed', at: told.now, head, since: told.queue.heads, isDescendant: true });
    told.play('resume → A=testing; runs A A');
  });
});

describe('a conflict with somebody who has left meanwhile', () => {
  it('is looked at again at once [C9]', () => {
    const told = play()`hold builds; submit A`;
    const candidate = told.candidate('A').number;
    const [prNumber, culprit] = [numberOf('A'), numberOf('Z')];
    told.tell({ kind: 'candidate_conflicted', at: told.now, candidate, prNumber, culprit });
    told.play(`
                     → aside nothing
      release builds → A=testing
      pass A         → A=merged
    `);
  });
});

describe('direct merges beside the line', () => {
  const DIRECT = { ...PARALLEL, directMergeMode: 'ALWAYS' } as const;

  story('keep only those waiting that they overlap with [L8] [C2]', DIRECT)`
    hold builds; submit A[x] uptodate; submit B[x] C[y] → AB=waiting C=testing
  `;

  story('land before the line, which would have them overtaken [L8]', DIRECT)`
    submit B[y]; hold builds; submit A[x] uptodate; pause
    release builds; pass B; resume → AB=merged; why A=MERGE_GRAPH_DIRECT_MERGE; target M+A+B
  `;

  story('are awaited by a switch of modes [Q4] [L8]', DIRECT)`
    hold landings; submit B[y]; submit A[x] uptodate
    set mode=SINGLE  → queue SWITCHING_MODES
    cancel B         → A=waiting B=cancelled; queue SWITCHING_MODES
    release landings → A=merged; queue RUNNING
  `;
});
