import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOON, Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

/** A and B fail alone on M, one after the other, by the same check. The head fails too. */
const RED = 'submit A B; fail A B HEAD → alarm RED_TARGET';
const BROKEN = 'sources problem=START_TEST_RUN_CONFIG_PARSING_FAILURE';

/** Plays the story and returns whether it updates the page of this pull request. */
function tells(told: Scenario, name: string, text: string): boolean {
  const before = told.steps.length;
  const effects = told
    .play(text)
    .steps.slice(before)
    .flatMap((step) => step.effects);
  return effects.some((effect) => effect.kind === 'update_page' && effect.prNumber === numberOf(name));
}

describe('the course of a hold', () => {
  it('a hold that a test of the head renews began when it began [V16]', () => {
    const { queue } = play()`
      ${RED}
      wait 10m; fail HEAD → wake 20m
    `;
    assert.equal(queue.hold?.since, NOON);
  });

  it('a hold names every check that the head failed, also those that report later [V16] [V41]', () => {
    const { queue } = play()`
      sources protection=ci,lint; submit A B; fail A B HEAD; fail HEAD by=lint → AB=pending
    `;
    assert.deepEqual(queue.hold?.cause, { kind: 'checks', names: ['ci', 'lint'] });
  });

  it('the page of an entry that waits for something else tells of a hold and of its end [V16] [V38]', () => {
    const told = new Scenario();
    told.queue = { ...told.queue, hasPages: true };
    told.play('submit U unready; submit A B');
    assert.ok(!tells(told, 'U', 'fail A B'));
    assert.ok(tells(told, 'U', 'fail HEAD → alarm RED_TARGET'));
    assert.ok(tells(told, 'U', 'resume → over RED_TARGET'));
  });

  story('a hold for another cause ends the alarm of the first [V20] [V43]')`
    ${RED}
    ${BROKEN}
    wait 10m → alarm RED_TARGET BROKEN_CONFIGURATION; over RED_TARGET
  `;

  story('a test of the head that began before the configuration broke does not end the hold [V43]')`
    submit A B C; fail A B → testing C HEAD
    wait 1m; ${BROKEN}
    submit D E             → DE=pending; alarm BROKEN_CONFIGURATION
    pass HEAD              → over nothing; DE=pending
  `;

  story('a hold goes on if the head cannot be tested [V37] [C8]')`
    ${RED}
    hold builds; wait 10m → testing HEAD
    unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED → over nothing; testing nothing; wake 20m
  `;

  story('the end of a hold ends the test of the head [V38]')`
    ${RED}
    wait 10m → testing HEAD
    resume   → testing A A+B
  `;

  story('a failed test of a former head waits an hour for its other checks [V41] [V37]')`
    sources protection=ci,lint; submit A B; fail A B; foreign X; fail HEAD → AB=testing
    wait 59m; wait 59999ms → candidates A=testing A+B=testing HEAD=failed
    wait 1ms               → candidates A=testing A+B=testing
  `;

  story('a run of a search that failed during a hold is tested again [V38]', { batch: true, batchingMinSize: 2 })`
    submit A B; fail AB; submit E nobatch; pass E           → E=merged; testing ~A ~A+B
    submit F G nobatch; fail F G HEAD                       → alarm RED_TARGET; FG=pending
    fail ~A                                                 → A=held
    resume                                                  → A=testing
    pass ~A; fail ~A+B                                      → B=failed
  `;
});

describe('repairs of a hold', () => {
  story('an entry that was submitted during the hold stays a repair when the head fails again [V17] [V39]')`
    ${RED}
    submit E F          → testing !E
    wait 10m; fail HEAD → testing !E
    fail !E             → testing !F
  `;

  story('the last entry that was submitted before the hold is no repair [V17]')`
    with concurrency=1
    submit A B C D; fail A B HEAD → alarm RED_TARGET; testing C; D=pending
  `;

  story('a repair is tried once on each red head [V39]')`
    with concurrency=2
    submit A B C D; fail A B HEAD; submit E repair → testing C C+D !E
    fail !E                                        → E=pending
    foreign X; fail A B HEAD                       → testing C C+D !E
  `;

  story('a repair does not start while another entry lands [V39] [L1]')`
    submit A B C; fail A B HEAD; hold landings; pass C; submit E → E=pending; testing nothing
    release landings                                             → C=merged; testing A A+B A+B+E
  `;

  story('a paused queue starts no repair [V39] [V11]')`
    ${RED}
    submit E F; pause; fail !E → EF=pending; testing nothing
  `;
});
