import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Candidate } from '../../src/engine/model/candidate.ts';
import { type Learned, NOTHING_LEARNED } from '../../src/engine/model/learned.ts';
import { candidatesOf } from '../../src/engine/model/roster.ts';
import { golombSize } from '../../src/engine/policy/adaptive.ts';
import { Scenario } from '../worlds/engine/scenario.ts';
import { story } from '../worlds/engine/story.ts';

const ADAPTIVE = { optimizationMode: 'ADAPTIVE', concurrency: 4 } as const;
const ONE = { ...ADAPTIVE, concurrency: 1 };
const FAST = { ...ADAPTIVE, runCost: 0.25 };

describe('ADAPTIVE tests groups', () => {
  story('of about even odds, whatever the settings of batches say [K1] [K4]', ONE)`
    with batch=true batchingMinSize=2 batchingMaxWaitTimeMinutes=60
    together A B C D E F G H → testing ABCDEFG
    pass ABCDEFG             → ABCDEFG=merged; testing H
  `;

  it('that shrink as failures become likely [K4]', () => {
    const sizes = [0.2, 0.1, 0.05, 0.02].map((chance) => golombSize(Array.from({ length: 500 }, () => chance)));
    assert.deepEqual(sizes, [3, 7, 14, 34]);
    assert.equal(golombSize([1, 1]), 1);
    assert.equal(golombSize([]), 0);
  });

  story('no larger than maxGroupSize [K4]', ONE)`with maxGroupSize=3; together A B C D → testing ABC`;

  story('and shares its slots between line and searches, searches first [K1] [K6]', ADAPTIVE)`
    with concurrency=2 bisectionConcurrency=9
    seasoned; together A B C D; fail ABCD → testing ~AB ~A
  `;

  story('without an entry that is tested alone, or of another priority above medium [K15]', ONE)`
    pause; submit A nobatch; submit B C; resume → testing A
    pause; submit D E high; pass A; resume      → testing DE
    pass DE                                     → testing BC
  `;

  story('of urgent entries before anything else, in the place of the youngest search run [K15] [O6]', ONE)`
    seasoned; together A B C D; fail ABCD → testing ~AB
    submit E urgent                       → testing E
    pass E                                → E=merged; testing ~AB
  `;
});

describe('ADAPTIVE searches a failed group in prefixes', () => {
  story('first culprit: what is behind it returns to the line untested [K8] [K10]', ONE)`
    together A B C D; fail ABCD ~AB ~A → testing ~A HEAD
    pass HEAD; fail ~A                 → A=failed; testing BC  # a failure makes the next groups smaller
    pass BC D                          → BCD=merged; runs ABCD HEAD ~AB ~A ~A BC D
  `;

  story('middle: what passed is cleared, lands without a run, and the rest is tested on it [K8] [K16]', ONE)`
    seasoned; together A B C D; fail ABCD; pass ~AB → AB=merged; testing ~AB+C
    fail ~AB+C                                      → C=failed; testing D
    pass D                                          → D=merged; target M+A+B+D; runs ABCD ~AB ~AB+C D
  `;

  story('last: the failure of the whole group counts as the first of the last member [K7] [K8]', ONE)`
    seasoned; together A B C D; fail ABCD; pass ~AB ~AB+C → ABC=merged; testing ~ABC+D
    fail ~ABC+D                                           → D=failed; runs ABCD ~AB ~AB+C ~ABC+D
  `;

  story('two culprits, one after the other [K8] [K10]', ONE)`
    seasoned; together A B C D; fail ABCD ~AB ~A → A=failed; testing BC
    fail BC ~B                                   → B=held; testing D
    pass D; fail ~B ~B                           → B=failed D=merged; testing C
    pass C                                       → C=merged
  `;

  story('a flake: a repeated run that passes clears its members [K8] [K10]', ONE)`
    together A B C D; fail ABCD; pass ~AB ~AB+C ~ABC+D → ABCD=merged
  `;

  story('with more slots in more parts at once [K5]', ADAPTIVE)`
    with runCost=0.5
    seasoned; together A B C D; fail ABCD → testing ~AB ~A ~ABC
    pass ~AB                              → AB=merged; testing ~AB+C
    pass ~AB+C                            → C=merged; testing ~ABC+D
  `;

  story('an entry of the failing prefix leaves: its failure is forgotten [K8]', ONE)`
    seasoned; together A B C D; fail ABCD; pass ~AB → testing ~AB+C
    cancel C                                        → testing ~AB+D
    pass ~AB+D                                      → ABD=merged
  `;

  story('a push behind its back: the accused is tested again on the new head [K12]', ONE)`
    seasoned; submit A; fail A → testing ~A
    foreign X                  → testing ~A; A=held
    fail ~A                    → testing ~A HEAD; A=testing
    fail ~A; pass HEAD         → A=failed; target M+X
  `;

  story('what is built on a failed candidate is abandoned at once [K7]', FAST)`
    submit A; submit B → testing A A+B
    fail A             → testing B ~A HEAD
  `;

  story('begins only when what is beneath the failed run has landed [K7]', FAST)`
    seasoned; hold landings; submit A; submit B; pass A; fail A+B → B=held; testing nothing
    release landings                                              → A=merged; testing ~B
  `;

  story('never removes for a failure on a branch that never passed by itself [K13]', ONE)`
    submit A; fail A ~A ~A → testing HEAD; A=held
    fail HEAD              → A=pending; alarm RED_TARGET
  `;

  story('a conflict with the base of a search removes no entry [K19]', FAST)`
    with concurrency=4; conflict D M
    together A B C E F G H; submit D → testing ABCEFGH; D=pending  # tried as ~D, and back in its turn
    pass ABCEFGH                     → D=failed; why D=START_TEST_RUN_MERGE_CONFLICT
  `;
});

describe('ADAPTIVE tests the head', () => {
  it('after as many failures in a row as are no coincidence here [K31]', () => {
    const after: Learned['after'] = [NOTHING_LEARNED.after[0], { hits: 90, seen: 100 }];
    assert.equal(removalsBeforeHeadTest(NOTHING_LEARNED), 2);
    assert.equal(removalsBeforeHeadTest({ ...NOTHING_LEARNED, after }), 4);
  });
});

/** Entries fail one by one on a head that passed. */
function removalsBeforeHeadTest(learned: Learned): number {
  const story = new Scenario(ONE);
  story.play('submit Z; pass Z');
  story.queue = { ...story.queue, learned: { ...learned, flakes: { hits: 0, seen: 20 } } };
  const names = ['A', 'B', 'C', 'D', 'E', 'F'];
  const isHeadTest = ({ purpose }: Candidate) => purpose.kind === 'head';
  return names.findIndex((name) => {
    if (candidatesOf(story.queue).some(isHeadTest)) return true;
    story.play(`submit ${name}; fail ${name}`);
    return false;
  });
}

describe('ADAPTIVE tests ahead of the turn', () => {
  story('on the head, if the line is unlikely to pass; what passes rides along [K9] [K20]', FAST)`
    with concurrency=3
    together A B C D E F G; submit H → testing ABCDEFG ~H
    pass ~H                          → H=pending
    pass ABCDEFG                     → ABCDEFG=merged; testing H
    pass H                           → H=merged
  `;

  story('and removes no entry before those ahead of it have ended [K11] [K12]', FAST)`
    with concurrency=3
    together A B C D E F G; submit H; fail ~H ~H ~H → H=held; testing ABCDEFG HEAD
    pass HEAD                                       → H=held
    pass ABCDEFG                                    → H=testing; testing ~H
    pass ~H                                         → H=merged  # it needed what was ahead of it
  `;

  story('for a flake on the head, whatever it failed for before [K12]', FAST)`
    with concurrency=3
    together A B C D E F G; submit H; fail ~H ~H ~H; pass HEAD ABCDEFG → testing ~H
    fail ~H                                                            → H=held; testing ~H
    pass ~H                                                            → H=merged
  `;
});

describe('accused entries', () => {
  story('wait for no entry that was admitted after the search began [K11]', ONE)`
    seasoned; wait 16m; submit A; fail A ~A; submit B high → A=held; testing B HEAD
    pass HEAD                                              → A=failed; testing B
  `;

  story('are decided in queue order: one that is cleared may be what the next one needs [K30]', FAST)`
    with concurrency=4
    seasoned; together A B C D E F G; submit H; submit I → testing ABCDEFG ~H ~I
    fail ~H ~H ~I ~I                                     → HI=held
    pass ABCDEFG                                         → testing ~H ~I  # once more, on what landed
    fail ~I                                              → I=held
    pass ~H                                              → H=merged; testing ~I
    pass ~I                                              → I=merged
  `;
});

describe('ADAPTIVE in lanes', () => {
  story('groups only entries that overlap, and stacks what is likely enough to pass [K17]', ADAPTIVE)`
    with mode=PARALLEL runCost=4
    together A[x] B[y] C[x] → testing AC B
    submit D[x]             → testing AC B AC+D
    pass B                  → B=merged
    fail AC                 → testing D ~A
  `;

  story('groups no entries while slots are free, if runs are cheap enough [K17]', ADAPTIVE)`
    with mode=PARALLEL concurrency=4
    together A[x] B[y] C[x] → testing A B A+C
    set concurrency=3; submit D[x] E[x] → testing A B A+C; DE=pending
    pass B                  → testing A A+C A+C+DE
  `;
});

describe('leaving ADAPTIVE', () => {
  story('dissolves searches that began without a failure; others end as they began [K14]', FAST)`
    with concurrency=3
    together A B C D E F G; submit H → testing ABCDEFG ~H
    set optimizationMode=OFF         → testing ABCDEFG ABCDEFG+H
  `;

  story('goes on with a search in prefixes, and a search in halves goes on in ADAPTIVE [K14]', ONE)`
    seasoned; together A B C D; fail ABCD → testing ~AB
    set optimizationMode=OFF              → testing ~AB
    pass ~AB                              → testing A ~AB+C
  `;
});

describe('a run that takes far too long', () => {
  story('goes on as a search, so that the line can go on without it [K18]', ADAPTIVE)`
    submit A; wait 10m; pass A
    submit B; submit C; wait 45m → testing C ~B
    pass C                       → C=merged; B=testing
    pass ~B                      → B=testing; testing B  # on what landed meanwhile
  `;
});
