import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { explain } from '../../src/words/explain.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

/** A and B fail alone on M, one after the other, by the same check. The head fails too. */
const RED = 'submit A B; fail A B HEAD → alarm RED_TARGET';
const BATCH = { batch: true, batchingMinSize: 4 } as const;

function summaryOf(told: Scenario, name: string): string {
  const entry = findEntry(told.queue, numberOf(name));
  assert.ok(entry !== undefined);
  const { summary, next } = explain(told.queue, entry, told.now);
  return `${summary} ${next}`;
}

describe('a queue that holds looks at its branch again by itself', () => {
  story('after 10, 20, 40 and then every 60 minutes, and goes on when it passes [V37]')`
    ${RED}
                        → wake 10m
    wait 10m            → testing HEAD
    fail HEAD           → wake 20m
    wait 20m            → testing HEAD
    fail HEAD           → wake 40m
    wait 40m; fail HEAD → wake 60m
    wait 60m; fail HEAD → wake 60m; alarm RED_TARGET; over nothing
    wait 60m; pass HEAD → over RED_TARGET; testing A A+B
    pass A B            → AB=merged; alarm RED_TARGET
  `;

  story('tests again what failed while it held: the branch was to blame [V38]')`
    submit A B C D; fail A B HEAD C → C=held
    wait 10m; pass HEAD             → testing A A+B A+B+C A+B+C+D
  `;

  it('tests the head again before anybody is removed, where somebody went on although it was red [V35]', () => {
    play()`
      ${RED}
      resume; fail A → A=held; testing A+B HEAD
      fail HEAD      → A=held
    `;
    play()`
      ${RED}
      resume; fail A; pass HEAD → A=failed B=testing
    `;
  });

  story('does not look while it is paused [V37] [V11]')`
    ${RED}
    pause    → wake never
    wait 10m → testing nothing
    resume   → testing A A+B
  `;

  it('says when it looks again, and that it is nobody’s fault [E12] [V37]', () => {
    const told = play()`${RED}`;
    assert.match(summaryOf(told, 'A'), /the head of main itself fails ci.*Sluice tests main again at 12:10 UTC/);
    told.play('wait 10m');
    assert.match(summaryOf(told, 'A'), /Sluice tests main again now/);
  });
});

describe('a repair', () => {
  story('submitted after the hold began is tested alone on the red head, and lands if it passes [V17] [V40]')`
    ${RED}
    submit E → testing !E; E=testing AB=pending
    pass !E  → E=merged; over RED_TARGET; testing A A+B; target M+E
  `;

  story('that does not help waits with the others, and is not tried again on this head [V40]')`
    ${RED}
    submit E; fail !E → E=pending; why E=REPAIR_TEST_RUN_FAILED; testing nothing
    wait 10m          → testing HEAD
    fail HEAD         → testing nothing
  `;

  story('is tested one at a time, urgent ones first [V39]')`
    ${RED}
    submit E F; submit G urgent → testing !E
    fail !E                     → testing !G
    fail !G                     → testing !F
    pass !F                     → F=merged; target M+F
  `;

  story('submitted before the hold is tested when it is submitted again as one [V17]')`
    submit A B C; fail A B; push C; close C; fail HEAD → testing nothing
    submit B repair → testing !B
    pass !B         → B=merged
  `;

  story('is tested in its turn when the branch passes by itself meanwhile [V17] [V38]')`
    ${RED}
    submit E  → testing !E
    wait 10m  → testing !E HEAD
    pass HEAD → testing A A+B A+B+E
  `;

  story('starts again on the new head when somebody pushes [V17]')`
    ${RED}
    submit E; foreign X → testing A A+B A+B+E
  `;

  story('is tried again when its run gives no answer, and leaves when it is cancelled [V17] [V3] [E6]')`
    ${RED}
    submit E; cut !E → testing !E
    cancel E         → E=cancelled; testing nothing
  `;

  it('says that it is one [E12] [V17]', () => {
    const told = play()`
      ${RED}
      submit E F
    `;
    assert.match(summaryOf(told, 'E'), /If it passes, it lands at once/);
    assert.match(summaryOf(told, 'F'), /possible repair/);
    assert.match(summaryOf(told, 'A'), /submit it again as a repair/);
  });
});

describe('a configuration that cannot be used', () => {
  const PROBLEM = 'sources problem=START_TEST_RUN_CONFIG_PARSING_FAILURE';

  story('holds the queue when it meets a second entry on one head, and removes nobody for it [V20]')`
    ${PROBLEM}
    submit A   → A=failed
    submit B C → ABC=pending; alarm BROKEN_CONFIGURATION; testing nothing; wake 1m
  `;

  story('holds it at once when it meets a batch [V20]', BATCH)`
    ${PROBLEM}
    submit A B C D → ABCD=pending; alarm BROKEN_CONFIGURATION
  `;

  story('is looked at again by itself, and the queue goes on without a test of the head [V43] [V75]')`
    ${PROBLEM}
    submit A B; wait 1m             → testing nothing; wake 5m
    wait 5m                         → testing nothing; wake 15m
    sources protection=ci; wait 15m → over BROKEN_CONFIGURATION; testing A A+B; runs A A+B
  `;

  it('goes on at once when required statuses are set on the queue, or it is set to RUNNING [V43]', () => {
    play()`
      ${PROBLEM}
      submit A B; set requiredStatuses=["ci"] → over BROKEN_CONFIGURATION; testing A A+B
    `;
    play()`
      ${PROBLEM}
      submit A B; sources protection=ci; resume → testing A A+B
    `;
  });

  it('starts no repair: what a pull request holds is not read [V43]', () => {
    const told = play()`
      ${PROBLEM}
      submit A B C → C=pending; testing nothing
    `;
    assert.match(summaryOf(told, 'C'), /requiredStatuses/);
  });

  it('counts each problem for itself, and no conflicts [V20] [C8]', () => {
    play()`
      ${PROBLEM}
      submit A; sources; submit B → AB=failed; alarm nothing
    `;
    play()`conflict A main; conflict B main; submit A B → AB=failed; alarm nothing`;
  });

  story('of test branches that the forge refuses is told apart by a test of the head [V20]')`
    hold builds; submit A B
    unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH → A=failed
    unbuildable B START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH → AB=pending; alarm BROKEN_CONFIGURATION
    release builds; wait 10m → testing HEAD
    pass HEAD                → over BROKEN_CONFIGURATION; testing A A+B
  `;
});
