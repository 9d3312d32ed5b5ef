import { describe, it } from 'node:test';
import { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';

describe('when a queue wants to be woken', () => {
  it('is never, without entries or with entries that wait for nothing but answers', () => {
    play()`→ wake never`;
    play()`
      with testingTimeoutMinutes=0
      submit A B → wake never
      fail A+B   → wake never
    `;
    play()`submit A unready → wake never`;
  });

  story('is the first testing timeout of those under test [V23]')`
    submit A          → wake 5h
    wait 1h; submit B → wake 4h
    pass A            → wake 5h
    pass B            → wake never
  `;

  it('is when nothing was heard of CI for ten minutes, once, where people are told [E17]', () => {
    const told = new Scenario();
    told.queue = { ...told.queue, hasPages: true };
    told.play(`
      submit A          → wake 10m
      wait 10m          → wake 290m
      wait 1m; submit B → wake 10m
      fail A+B by=other → wake 10m
      pass A            → wake 10m
      wait 10m          → wake 10m
    `);
  });

  it('is not the timeout of one that is only built, passed or failed [V23]', () => {
    play()`
      hold builds; submit A → wake never
      release builds        → wake 5h
    `;
    play()`
      submit A B; wait 1h; restart A; fail A+B → wake 5h
      pause; pass A                            → wake never
    `;
  });

  it('is the end of a hold [V6]', () => {
    play()`
      with pendingFailureDepth=1
      submit A B; fail A → wake 1h
      wait 20m           → wake 40m
      pass A+B           → A=failed; wake 5h
    `;
    play()`with pendingFailureDepth=1 testingTimeoutMinutes=30; submit A B; wait 5m; fail A; restart B → wake 30m`;
  });

  story('is not the end of a hold that is over while something ahead is still open [V6] [V4]')`
    with pendingFailureDepth=1
    submit A B; fail A+B → wake 1h
    wait 2h              → A=testing B=held; wake 3h
  `;

  story('is the end of a batch’s wait, of the one that ends first [B10]')`
    with batch=true batchingMinSize=4 mode=PARALLEL
    submit A[x]; wait 2m; submit B[y] → wake 3m
    submit C[x]                       → wake 3m
    wait 3m                           → testing AC; wake 2m
    wait 2m                           → testing AC B; wake 298m
  `;

  story('is not a batch’s wait in a queue that starts nothing [B10] [L5]')`
    with batch=true
    submit A → wake 5m
    pause    → wake never
    drain    → A=testing; wake 5h
  `;

  story('is not a wait while no slot is free, and not one that is over [B10] [C3]')`
    with batch=true batchingMinSize=2 concurrency=1 testingTimeoutMinutes=0
    submit A B C → wake never
    wait 5m      → C=pending; wake never
    pass AB      → testing C
  `;

  story('is the end of the time of the oldest that is not ready [O4]')`
    with notReadyTimeoutHours=3
    submit A unready          → wake 3h
    wait 1h; submit B unready → wake 2h
    cancel A                  → wake 3h
    ready B                   → wake 5h
  `;

  it('is never in a queue that is parked [I2]', () => {
    const told = play()`submit A → wake 5h`;
    told.queue = { ...told.queue, parked: { reason: 'a promise', since: told.now } };
    told.play('→ wake never');
  });

  it('is the timeout of runs of searches and of the head too [V23] [V10]', () => {
    play()`
      with batch=true batchingMinSize=2 testingTimeoutMinutes=60
      submit A B; wait 10m; fail AB → wake 1h
      wait 30m                      → wake 30m
      wait 30m                      → A=failed B=testing; testing ~B
    `;
    play()`
      with testingTimeoutMinutes=60
      submit A B; fail A B → testing HEAD; wake 1h
      wait 1h              → alarm RED_TARGET
    `;
  });
});
