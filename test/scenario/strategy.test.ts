import { describe, it } from 'node:test';
import { play } from './scenario.ts';

describe('what to group, where to split and how far to speculate is a strategy’s choice', () => {
  it('may group where the settings would not; blame and landing stay the same [I5]', () => {
    play(
      { batchingMaxWaitTimeMinutes: 0 },
      `
      pause
      submit A B C
      resume
      testing AB AB+C
      fail AB
      testing C ~A ~A+B
      pass ~A
      testing C C+A ~A+B       # C is under test in the line, and stays ahead
      fail ~A+B
      states B=failed
      pass C
      pass A
      states AC=merged
      target M+C+A
      `,
      { groupSize: () => 2 },
    );
  });

  it('may split anywhere, but both parts have a member at least [I5] [B4]', () => {
    const story = 'submit A B C D\nfail ABCD\n';
    const batch = { batch: true, batchingMinSize: 4 };
    play(batch, `${story}testing ~A ~A+BCD`, { splitAt: () => 1 });
    play(batch, `${story}testing ~ABC ~ABC+D`, { splitAt: () => 99 });
    play(batch, `${story}testing ~A ~A+BCD`, { splitAt: () => -5 });
  });

  it('may test less than there are slots, and less deep [I5] [C3]', () => {
    play({}, 'submit A B C\ntesting A\npass A\ntesting B\ntarget M+A', { slots: () => 1 });
    play({}, 'submit A B C\ntesting A A+B\npass A\ntesting B B+C', { reach: () => 1 });
    play({ mode: 'PARALLEL' }, 'submit A[x] B[x] C[y]\ntesting A C', { reach: () => 0 });
  });

  it('cannot make anything pass, fail or land by testing nothing [I5]', () => {
    play({}, 'submit A B\nstates AB=pending\ntarget M\ncandidates\nwait 100h\nstates AB=pending', { slots: () => 0 });
  });
});
