import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;
const TWO_CHECKS = 'sources protection=ci,lint';

describe('two failures in a row', () => {
  story('holds who fails in another way, too, once the head is known to be red [V16]')`
    ${TWO_CHECKS}
    submit A B C; fail A B HEAD; fail C by=lint → C=held
  `;

  it('suspects the head only of the checks that all of them failed [V10]', () => {
    const settings = { concurrency: 1, testingTimeoutMinutes: 60 };
    play(settings)`
      ${TWO_CHECKS}
      submit A B C; wait 60m → A=failed
      fail B                 → testing C HEAD
      fail C by=lint         → C=failed
    `;
    play(settings)`
      ${TWO_CHECKS}
      submit A B C; fail A; wait 60m → B=failed; testing C HEAD
      fail C by=lint                 → C=failed
    `;
  });

  story('counts a failure in several checks of which one is suspected [V10]')`
    with concurrency=1 testingTimeoutMinutes=60
    ${TWO_CHECKS}
    submit A B C; fail A B; wait 30m; report HEAD RUNNING; wait 30m → C=held
  `;

  story('asks again about another check, though the head passed when it was asked about one [V34]')`
    ${TWO_CHECKS}
    submit A B C D E; fail A B; pass HEAD; pass HEAD by=lint
    fail C by=lint; fail D by=lint → ABCD=failed; testing E HEAD
  `;

  story('searches a batch that fails while the head is suspected [V10] [V5]')`
    with batch=true batchingMinSize=2
    submit A B nobatch; submit C D; fail A B → testing CD HEAD
    fail CD                                  → trail C BISECTION_REQUIRED TEST_RUN_STARTED
  `;

  story('does not count who failed on top of what has passed and not landed [V10]')`
    hold landings; submit A B C D; pass A; fail A+B A+C → BC=failed; testing A+D
  `;

  story('tests the head after four that failed on top of what has passed, and has them return [V32] [V18]')`
    with concurrency=6
    hold landings; submit A B C D E F; pass A; fail A+B A+C A+D A+E → BCDE=failed; testing A+F HEAD
    fail A+F  → F=held
    fail HEAD → F=held BCDE=pending; alarm RED_TARGET
  `;

  story('tests the new head for those who failed on top of what has landed since [V32] [V18]')`
    with concurrency=6
    hold landings; submit A B C D E F; pass A; fail A+B A+C → BC=failed
    release landings; fail D E → DE=failed; testing F HEAD
    fail HEAD                  → BCDE=pending
  `;

  story(
    'tests the commit on which three failed beside a landing, and tests them on the head where it fails [V33] [C4]',
    PARALLEL,
  )`
    submit A[x] B[y] C[z] D[w]; pass D; fail A B → AB=failed
    fail C    → C=held; testing HEAD
    fail HEAD → ABC=testing; target M+D
  `;

  story('counts who failed on top of what has landed [V10]')`
    submit A B C D; pass A; fail B C → BC=failed; testing D HEAD
  `;

  story('does not count who was not tested with what landed beside [V33] [C4]', PARALLEL)`
    submit A[x] B[y] C[z] D[w]; pass D; fail A B → AB=failed; testing C
  `;

  story('does not count who failed in a search on top of others [V10] [B6]', PARALLEL)`
    with batch=true batchingMinSize=2
    hold landings; submit A[x] B[x] C[y] D[y]; fail AB CD; pass ~A
    fail ~A+B; pass ~C; fail ~C+D → BD=failed; testing nothing
  `;
});

describe('a report of a check', () => {
  it('says nothing new while other checks are open [V1] [E11]', () => {
    const told = play()`
      ${TWO_CHECKS}
      submit A; pass A → A=testing
    `;
    assert.equal(told.trailOf('A').filter(({ to }) => to === 'TESTING').length, 1);
  });

  story('does not hold a failure longer because another check fails, too [V6]')`
    with pendingFailureDepth=1
    ${TWO_CHECKS}
    submit A B; fail A; wait 30m; fail A by=lint → wake 30m
  `;

  story('does not hold a failure longer because a newer attempt is inconclusive, too [V6] [V3]')`
    with pendingFailureDepth=1
    submit A B; cut A A; report A CANCELLED started=0m → A=held
    wait 30m; report A CANCELLED started=0m → wake 30m
  `;

  story('names only the checks without any result when time is over [V23]')`
    with testingTimeoutMinutes=60
    ${TWO_CHECKS}
    submit A; cut A; wait 60m → why A=TEST_RUN_TIMEOUT; checks A=lint
  `;

  it('keeps a thousand names, and whatever is required beyond [V1]', () => {
    const told = play()`submit A`;
    for (let index = 0; index < 1_001; index += 1) told.reportCheck(told.candidate('A').number, { name: `n${index}` });
    assert.equal(told.candidate('A').checks.length, 1_000);
    told.play('pass A → A=merged');
  });

  story('holds a failure for a successor that waits to be tried again [V6] [V3]')`
    with pendingFailureDepth=1
    submit A B; fail A; pause; cut A+B → A=held B=pending
  `;
});
