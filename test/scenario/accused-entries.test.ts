import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const FAST = { optimizationMode: 'ADAPTIVE', concurrency: 4, runCost: 0.25 } as const;
const ONE = { ...FAST, concurrency: 1, runCost: 2 };
const LANES = { ...FAST, mode: 'PARALLEL' } as const;

describe('an accused entry and those ahead of it', () => {
  story('an accused entry waits for a search of entries ahead of it [K11]', FAST)`
    seasoned; together A B C D E F G; submit H; fail ~H ~H; submit I; pass ~I → H=held I=pending
    fail ABCDEFG                                                              → H=held
  `;

  story('an accused entry waits for no entry of another lane [K11]', LANES)`
    seasoned; submit A[x]; submit B[z]; submit H[y]; pass B; fail H ~H ~H → H=failed A=testing
  `;

  story('an accused entry waits for an entry ahead that is set aside [K11] [C33]', LANES)`
    seasoned; conflict G A; submit A[x]; submit G[x,y] → aside G=A
    submit H[y]; fail H ~H                             → H=held
    pass A                                             → A=merged G=failed; testing ~H
    fail ~H                                            → H=failed
  `;

  story('an accused entry does not wait for an entry that is set aside for it [K11] [C33]', FAST)`
    seasoned; conflict G H; submit H; submit G high → aside G=H
    fail H ~H                                       → H=failed; testing G
  `;
});

describe('the base of an accused entry', () => {
  story('an accused entry is tested on the present head alone, and not on survivors that landed [K12]', ONE)`
    seasoned; together A B C D; fail ABCD; foreign X; pass ~AB; fail ~AB+C → C=held; testing AB
    pass AB                                                                → AB=merged; testing ~C
  `;

  story('a paused queue does not test the base of an accused entry [K13] [V11]', ONE)`
    submit A; pause; fail A → A=held; testing nothing
    resume                  → testing ~A HEAD
  `;

  story('an accused entry is decided by its search though the queue leaves ADAPTIVE [K14]', FAST)`
    seasoned; together A B C D E F G; submit H; fail ~H ~H; pass ABCDEFG → testing ~H
    set optimizationMode=OFF                                             → testing ~H
    fail ~H                                                              → H=failed
  `;

  it('an accused entry keeps its base during a hold, and is tested on the head that ends it [V16] [K12]', () => {
    const told = play(FAST)`
      seasoned; together A B C D E F G; submit H; fail ~H ~H → H=held
      foreign X; fail ABCDEFG HEAD                           → alarm FOREIGN_PUSH RED_TARGET
      cancel A B C D E F G                                   → H=held
      foreign Fix
    `;
    assert.equal(told.candidate('~H').base.sha, told.branch.head);
  });

  it('a search of a run beside a landing confirms its failure on the base of that run [K7] [K12]', () => {
    const told = play(LANES)`
      seasoned; submit A[x]; submit B[y]; pass B; fail A → testing ~A
    `;
    assert.equal(told.candidate('~A').base.sha, 'head:M');
    told.play('fail ~A → testing ~A');
    assert.equal(told.candidate('~A').base.sha, 'head:M+B');
  });
});
