import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('a strategy chooses what to group, where to split and how far to speculate', () => {
  story('may group where the settings would not; blame and landing stay the same [I5]', {}, { groupSize: () => 2 })`
    with batchingMaxWaitTimeMinutes=0
    together A B C → testing AB AB+C
    fail AB        → testing C ~A ~A+B
    pass ~A        → testing C C+A ~A+B  # C is under test in the line, and stays ahead
    fail ~A+B      → B=failed
    pass C A       → AC=merged; target M+C+A
  `;

  for (const [splitAt, parts] of [
    [1, '~A ~A+BCD'],
    [99, '~ABC ~ABC+D'],
    [-5, '~A ~A+BCD'],
  ] as const) {
    story(`may split at ${splitAt}, but both parts have a member at least [I5] [B4]`, {}, { splitAt: () => splitAt })`
      with batch=true batchingMinSize=4
      submit A B C D; fail ABCD → testing ${parts}
    `;
  }

  it('may test less than there are slots, and less deep [I5] [C3]', () => {
    play({}, { slots: () => 1 })`
      submit A B C → testing A
      pass A       → testing B; target M+A
    `;
    play({}, { reach: () => 1 })`
      submit A B C → testing A A+B
      pass A       → testing B B+C
    `;
    play({}, { reach: () => 0 })`with mode=PARALLEL; submit A[x] B[x] C[y] → testing A C`;
  });

  story('cannot make anything pass, fail or land by testing nothing [I5]', {}, { slots: () => 0 })`
    submit A B → AB=pending; target M; candidates nothing
    wait 100h  → AB=pending
  `;
});
