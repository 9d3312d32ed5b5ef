import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { listOf } from '../../src/lib/int-map.ts';
import { explain } from '../../src/words/explain.ts';
import { tellChange } from '../../src/words/reasons.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const ADAPTIVE = { optimizationMode: 'ADAPTIVE', runCost: 16, probeStatuses: ['ci'] } as const;
const FOURS = { confirmFailures: 'AUTO', batch: true, batchingMinSize: 4, probeStatuses: ['ci'] } as const;
const FAILED = 'seasoned; together A B C D; fail ABCD tests=t';

describe('a search that asks a question', () => {
  story('probes find the culprit, and what they clear is tested whole before it lands [B17] [B19]', ADAPTIVE)`
    ${FAILED}    → testing ?AB
    pass ?AB     → ABC=testing D=held; testing AB ?AB+C
    fail ?AB+C   → C=held D=pending; testing AB
    pass AB      → AB=merged; testing D ?C; runs ABCD ?AB ?AB+C AB ?C D
    fail ?C      → C=failed; testing D
    pass D       → D=merged
  `;

  story('in halves, probes test the parts of a batch [B17]', FOURS)`
    ${FAILED}   → testing ?AB ?AB+CD
    pass ?AB    → AB=testing; testing AB ?AB+CD
    fail ?AB+CD → CD=testing; testing AB ?AB+C ?ABC+D
    fail ?AB+C  → C=held D=testing; testing AB ?AB+D
  `;

  story('it waits for the reports of the failure, because they name the tests [B17]', ADAPTIVE)`
    seasoned; together A B C D; report ABCD FAILURE → testing nothing
    wait 30000ms; deny ~ABCD tests=t                → testing ?AB
  `;

  story('without reports in time, all tests run [B17]', ADAPTIVE)`
    seasoned; together A B; report AB FAILURE; wait 60000ms → testing ~A
  `;

  story('all tests run if a failed check cannot be asked, or failed in no test [B17]', ADAPTIVE)`
    with requiredStatuses=["ci","lint"]
    seasoned; together A B; fail AB tests=t by=lint → testing ~A
    cancel A B; together C D; fail CD               → testing ~C
  `;

  it('asks no more than 49 tests, because longer lists may have been cut [B17]', () => {
    const tests = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`).join(',');
    play(ADAPTIVE)`seasoned; together A B; fail AB tests=${tests(49)} → testing ?A`;
    play(ADAPTIVE)`seasoned; together A B; fail AB tests=${tests(50)} → testing ~A`;
  });

  story('a queue that confirms no failure asks nothing [B17]', { ...FOURS, confirmFailures: 'NEVER' })`
    together A B C D; fail ABCD tests=t → testing ~AB ~AB+CD
  `;

  story('runs that fail in several checks are asked about all of them [B17]', ADAPTIVE)`
    with requiredStatuses=["ci","lint"]
    set probeStatuses=["ci","lint"]; seasoned; together A B
    report AB FAILURE by=lint; deny ~AB tests=t by=lint → testing ?A; runs AB ?A
  `;
});

describe('what a probe clears', () => {
  it('counts as cleared only if nothing but the question can have failed [B20]', () => {
    const cleared = (failure: string) => {
      const { queue } = play(ADAPTIVE)`seasoned; hold builds; release builds; together A B C D; ${failure}; pass ?AB`;
      const { isCleared, clearedBySearch } = findEntry(queue, numberOf('A')) ?? {};
      return { isCleared, clearedBySearch };
    };
    assert.deepEqual(cleared('fail ABCD tests=t'), { isCleared: true, clearedBySearch: undefined });
    assert.deepEqual(cleared('fail ABCD tests=t partly'), { isCleared: false, clearedBySearch: undefined });
    const beside = 'set requiredStatuses=["ci","lint"]; cancel A B C D; together A B C D';
    assert.equal(cleared(`${beside}; fail ABCD tests=t`).isCleared, false, 'another check is open');
    assert.equal(cleared(`${beside}; pass ABCD by=lint; fail ABCD tests=t`).isCleared, true);
  });

  story('its tree is tested again, though no other run is under way [B19]', ADAPTIVE)`
    seasoned; together A B; fail AB tests=t; pass ?A → A=testing B=held; testing A ?A+B; runs AB ?A ?A+B A
  `;

  it('teaches nothing: neither flakes nor durations [B19]', () => {
    const told = play(ADAPTIVE)`seasoned; together A B C D; fail ABCD tests=t`;
    const { learned, lastPasses } = told.queue;
    told.play('wait 1m; pass ?AB; wait 1m; fail ?AB+C');
    assert.deepEqual([told.queue.learned, told.queue.lastPasses], [learned, lastPasses]);
    const remembered = listOf(told.queue.passes).map((run) => told.label(run));
    assert.deepEqual(remembered, ['~AB+CD'], 'the run of all tests');
  });
});

describe('a failure of a probe', () => {
  story('it counts once the question passed without the entry, which a probe of the base shows [B21]', ADAPTIVE)`
    seasoned; together A B; fail AB tests=t → testing ?A
    fail ?A                                 → A=held; testing B ?HEAD
    pass B                                  → B=merged; testing ?HEAD ?A
    fail ?A                                 → A=held; testing ?HEAD
    pass ?HEAD                              → A=failed
  `;

  story('if the question fails without any entry, all tests run [B21] [B22]', ADAPTIVE)`
    seasoned; together A B; fail AB tests=t; fail ?A; fail ?HEAD → A=testing; testing B ~A
    pass ~A; pass B                                              → A=testing B=merged
  `;
});

describe('a probe that contradicts', () => {
  story('all probes pass: the run of all tests is repeated, and its pass ends the search [B22]', ADAPTIVE)`
    seasoned; hold landings; together A B C D; fail ABCD tests=t; pass ?AB; pass ?AB+C → testing AB ?ABC+D
    pass ?ABC+D                                                                       → testing AB ~ABC+D
    pass ~ABC+D                                                                       → D=pending
  `;

  story('if the repeated run fails alike, all tests run in the rest of the search [B22]', ADAPTIVE)`
    seasoned; hold landings; together A B C D; fail ABCD tests=t; pass ?AB; pass ?AB+C; pass ?ABC+D → testing AB ~ABC+D
    fail ~ABC+D tests=t                                                               → D=held; testing AB
  `;

  story('in halves, members that failed together are tested again as one part [B22]', FOURS)`
    seasoned; together A B C D; fail ABCD tests=t; pass ?AB; pass ?AB+CD → testing AB ~AB+CD
    pass ~AB+CD                                                          → CD=passed; testing AB; runs ABCD ?AB ?AB+CD AB ~AB+CD
  `;

  story('a probe without an answer ends the asking [B25]', ADAPTIVE)`
    ${FAILED}; mute ?AB → testing ~AB
    fail ~AB tests=t    → testing ~A
  `;

  story('so do one that is cut off, one that is lost and one that cannot be built [B25]', ADAPTIVE)`
    seasoned; together A B; fail AB tests=t; cut ?A → testing ~A
    cancel A B; together C D; fail CD tests=t; lose ?C → testing ~C
    cancel C D; together E F; fail EF tests=t; unbuildable ?E START_TEST_RUN_CONFIG_PARSING_FAILURE → testing ~E
  `;

  story('a probe has as long as a run takes, and ten minutes at least [B25]', ADAPTIVE)`
    ${FAILED}; wait 10m → testing ~AB
  `;
});

describe('a queue that asks', () => {
  it('tells which tests it asks about, and what a probe found [B17] [B18]', () => {
    const told = play(ADAPTIVE)`${FAILED}`;
    const a = findEntry(told.queue, numberOf('A'));
    assert.ok(a);
    assert.match(JSON.stringify(explain(told.queue, a, told.now).reasons), /Only t run, to find who is to blame/);
    told.play('pass ?AB');
    assert.deepEqual(textsOf(told, 'A'), [
      'A probe started: a run of t alone.',
      'It passes t, so the failure is not its own. It is back in the queue, and all tests run before it lands.',
    ]);
    const halves = play(FOURS)`${FAILED}; mute ?AB`;
    assert.equal(textsOf(halves, 'A').at(-1), 'A run of t alone gave no answer. All tests run.');
  });

  it('stops where probes take as long as runs, and asks again after some searches [B23]', () => {
    const told = play(ADAPTIVE)`seasoned; submit A; wait 10m; pass A`;
    const { queue } = told;
    const asked = (percents: readonly number[]) => {
      told.queue = { ...queue, probing: { percents } };
      told.play('together B C; fail BC tests=t');
      const [run = ''] = told.underTest();
      told.play('cancel B C');
      return run;
    };
    assert.equal(asked([60, 60, 60, 61, 61]), '?B');
    assert.equal(asked([60, 60, 61, 61, 61]), '~B');
    assert.equal(told.queue.probing.percents.length, 4, 'the oldest figure is forgotten');
    assert.equal(asked([100, 100, 100, 100]), '?B', 'four figures say too little');
  });

  it('measures how long its probes take [B23]', () => {
    const told = play(ADAPTIVE)`seasoned; submit A; wait 10m; pass A; together B C D E; fail BCDE tests=t`;
    told.play('wait 2m; pass ?BC; wait 10m');
    assert.deepEqual(told.queue.probing.percents, [20, 100]);
  });

  it('starts no second run of all tests in a search while probes answer [K33]', () => {
    const begun = (percents: readonly number[]) => {
      const told = play({ ...ADAPTIVE, runCost: 0.25, concurrency: 12 })`seasoned; together A B C D E F G`;
      told.queue = { ...told.queue, probing: { percents } };
      told.play('fail ABCDEFG');
      return told.underTest().length;
    };
    assert.deepEqual([begun([10]), begun([]) > 1], [1, true]);
  });

  story(
    'a required check that reports on a probe ends all probes, with an alarm, until it is set again [B24]',
    ADAPTIVE,
  )`
    ${FAILED}; report ?AB RUNNING by=ci                      → testing ~AB; alarm PROBES_STOPPED
    cancel A B C D; together E F G H; fail EFGH tests=t      → testing ~EF
    set probeStatuses=["ci"]                                 → over PROBES_STOPPED
    cancel E F G H; together I J K L; fail IJKL tests=t      → testing ?IJ
  `;
});

/** The transitions that name tests of a question. */
function textsOf(told: Scenario, name: string): readonly string[] {
  return told
    .trailOf(name)
    .flatMap(({ to, because }) => (because.asked ? tellChange({ to, branch: 'main', because }).text : []));
}
