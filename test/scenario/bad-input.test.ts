import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findBreachAnywhere } from '../../src/engine/line/invariants.ts';
import type { QueueEvent } from '../../src/engine/model/event.ts';
import { findEntry } from '../../src/engine/model/queue.ts';
import { step } from '../../src/engine/step.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const UNKNOWN = 999 as never;
const SHA = 'c0ffee' as never;

/** Every kind of event, about an entry or a candidate that does not exist. */
function aboutNobody({ now: at, sources, queue }: Scenario): QueueEvent[] {
  const problem = { kind: 'not_composable' as const };
  const check = { name: 'ci', status: 'COMPLETED' as const, conclusion: 'FAILURE' as const };
  const unknown = { startedAt: undefined, url: undefined, summary: undefined };
  return [
    { kind: 'pull_request_observed', at, prNumber: UNKNOWN, pr: undefined, targets: undefined },
    { kind: 'candidate_built', at, candidate: UNKNOWN, sha: SHA, tree: SHA, sources },
    { kind: 'candidate_conflicted', at, candidate: UNKNOWN, prNumber: UNKNOWN, culprit: undefined },
    { kind: 'candidate_unbuildable', at, candidate: UNKNOWN, reason: 'START_TEST_RUN_INVALID_EVENT', detail: '' },
    { kind: 'check_reported', at, candidate: UNKNOWN, check: { ...check, ...unknown } },
    { kind: 'checks_lost', at, candidate: UNKNOWN, cause: 'runner_lost' },
    { kind: 'landing_refused', at, candidate: UNKNOWN, problem },
    { ...landedEvent(at, 999), base: SHA },
    { kind: 'target_observed', at, head: SHA, since: queue.heads - 1, isDescendant: true },
  ];
}

function landedEvent(at: number, candidate: number): Extract<QueueEvent, { kind: 'candidate_landed' }> {
  return {
    kind: 'candidate_landed',
    at,
    candidate: candidate as never,
    how: 'SAME_TREE',
    base: 'head:M' as never,
    pushedSha: SHA,
    pushedTree: 'tree:A+M' as never,
    entries: [{ prNumber: numberOf('A'), sha: SHA, tree: 'tree:A+M' as never }],
  };
}

/** Sends the event and returns whether it changed nothing. */
function isIgnored(told: Scenario, event: QueueEvent): boolean {
  const before = told.queue;
  const { outcome, transitions, effects } = told.tell(event);
  return outcome.kind === 'ignored' && transitions.length === 0 && effects.length === 0 && told.queue === before;
}

describe('events about something unknown', () => {
  it('ignores every kind of event about an entry or a candidate that never was [I4]', () => {
    const told = play()`submit A B`;
    for (const event of aboutNobody(told)) assert.ok(isIgnored(told, event), event.kind);
    told.play(`
               → testing A A+B
      pass A B → target M+A+B
    `);
  });

  story('refuses to cancel or restart what is not in the queue [I4] [E6] [E7]')`
    cancel Z  → refused PULL_REQUEST_NOT_IN_QUEUE
    restart Z → refused PULL_REQUEST_NOT_IN_QUEUE
  `;

  it('keeps targets for a pull request that is not there for whoever asks later, and changes nothing [I4] [T1]', () => {
    const told = play()`with mode=PARALLEL; submit A[x]`;
    const before = told.queue;
    told.play('targets Z[y] → A=testing');
    assert.equal(told.queue, before);
  });
});

describe('events that come again', () => {
  const STORIES: readonly [string, string][] = [
    ['a submission', 'submit A'],
    ['a check', 'submit A B\nfail A+B'],
    ['targets', 'submit A\ntargets A[x]'],
    ['an observation', 'submit A\nready A'],
    ['an observation of the target', 'submit A\nforeign X'],
    ['an update of settings', 'submit A\nset concurrency=2'],
    ['the time', 'submit A\ntick'],
    ['a block', 'submit A unready\nblock A'],
  ];
  for (const [what, story] of STORIES) {
    it(`changes nothing when ${what} is told again [I4]`, () => {
      const told = play()`${story}`;
      const before = [told.describe(), told.transitions.length, told.runs.join(), told.alarms.join()];
      told.play('again; again');
      assert.deepEqual([told.describe(), told.transitions.length, told.runs.join(), told.alarms.join()], before);
    });
  }

  it('takes a commit that is built twice once: the first stands [I4] [C11]', () => {
    const told = play()`submit A`;
    const built = told.events.find(({ kind }) => kind === 'candidate_built') as QueueEvent;
    assert.ok(isIgnored(told, built));
    assert.ok(isIgnored(told, { ...built, sha: SHA, tree: SHA } as QueueEvent));
    assert.equal(told.candidate('A').commit?.sha, 'c1');
    told.play('→ runs A; A=testing');
  });

  it('takes a conflict or a problem that is told after the commit was built for nothing, or for what it is [I4] [C9]', () => {
    const told = play()`submit A B`;
    const { number } = told.candidate('A+B');
    const conflict = {
      kind: 'candidate_conflicted',
      at: told.now,
      candidate: number,
      prNumber: numberOf('B'),
    } as const;
    assert.ok(isIgnored(told, { ...conflict, culprit: numberOf('A') }));
    told.play('pass A+B → B=passed');
    const reason = 'START_TEST_RUN_INVALID_EVENT' as const;
    const problem = { kind: 'candidate_unbuildable', at: told.now, candidate: number, reason, detail: '' } as const;
    assert.ok(isIgnored(told, problem));
    told.play('pass A → target M+A+B');
  });

  it('takes a conflict of somebody who is not under test in the candidate for nothing [I4] [C9]', () => {
    const told = play()`hold builds; submit A B`;
    const { number } = told.candidate('A+B');
    const conflict = { kind: 'candidate_conflicted', at: told.now, candidate: number, culprit: undefined } as const;
    assert.ok(isIgnored(told, { ...conflict, prNumber: numberOf('A') }));
    assert.ok(isIgnored(told, { ...conflict, prNumber: UNKNOWN }));
    told.play(`
                     → AB=testing
      release builds → runs A A+B
    `);
  });

  it('takes a landing that is told twice once [I4] [L1]', () => {
    const told = play()`submit A B; pass A → A=merged`;
    const landed = told.events.find(({ kind }) => kind === 'candidate_landed') as QueueEvent;
    assert.ok(isIgnored(told, landed));
    told.play('→ B=testing; target M+A');
  });

  it('takes a landing, or its refusal, of a candidate that is not landing for nothing [I4] [L1]', () => {
    const told = play()`submit A B`;
    assert.ok(isIgnored(told, landedEvent(told.now, 1)));
    for (const problem of [
      { kind: 'not_composable' as const },
      { kind: 'target_moved' as const, head: SHA, isDescendant: true },
      { kind: 'entry_refused' as const, prNumber: numberOf('A'), reason: 'PR_UPDATED_AT_MERGE_TIME' as const },
    ]) {
      const candidate = told.candidate('A').number;
      assert.ok(isIgnored(told, { kind: 'landing_refused', at: told.now, candidate, problem }));
    }
    told.play('→ testing A A+B');
  });

  it('takes checks that are lost twice, or after an answer, once [I4] [V3]', () => {
    const told = play()`submit A B; lose A`;
    const lost = told.events.find(({ kind }) => kind === 'checks_lost') as QueueEvent;
    assert.ok(isIgnored(told, lost));
    told.play(`
      → runs A A+B A
      pass A+B
    `);
    const { number } = told.candidate('A+B');
    assert.ok(isIgnored(told, { kind: 'checks_lost', at: told.now, candidate: number, cause: 'runner_lost' }));
    told.play('fail A → testing B');
  });

  it('refuses to cancel twice, and takes a second wish to remove a landing entry for the first [I4] [L24]', () => {
    play()`submit A; cancel A A → refused PULL_REQUEST_NOT_IN_QUEUE; A=cancelled`;
    play()`
      hold landings; submit A; pass A; cancel A; again → A=passed
      release landings → A=merged
    `;
  });

  story('restarts twice when it is asked twice, and gets one answer [I4] [C12]')`
    submit A; restart A; restart A → runs A A A
    pass A                         → A=merged
  `;
});

describe('a clock that jumps', () => {
  it('makes no negative durations when it goes back [E14] [I4]', () => {
    const told = play()`submit A; clock -5h; pass A → A=merged`;
    assert.ok(told.transitions.every(({ durationMs, inQueueMs }) => (durationMs ?? 0) >= 0 && (inQueueMs ?? 0) >= 0));
  });

  story('changes no verdict and no order, back and forth [I4] [O1]')`
    with batch=true batchingMinSize=2 testingTimeoutMinutes=300
    submit A; clock -3h; tick  # nobody waits three hours for a clock to come round again
    submit B; clock 1h; tick → testing A A+B
    clock 2h; tick           → AB=testing
    clock -4h; submit C D    → testing A A+B A+B+CD; order A B C D
    tick; pass A B CD        → target M+A+B+C+D
  `;

  story('ends waits at the instants that were set, however often it is asked before [I4] [V23]')`
    with testingTimeoutMinutes=10
    submit A; clock -1h; tick → wake 70m; A=testing
    clock 69m; tick           → A=testing
    clock 1m; tick            → A=failed
  `;
});

describe('too much of something', () => {
  it('takes an entry with 100,000 targets [T2] [C2]', () => {
    const told = play()`with mode=PARALLEL; submit A[x]`;
    const targets = Array.from({ length: 100_000 }, (_, index) => `t${index}`);
    const many = { kind: 'list' as const, digest: 'many', count: targets.length, targets };
    const prNumber = numberOf('B');
    told.submit(prNumber);
    const sha = told.facts(prNumber).headSha;
    told.tell({ kind: 'impacted_targets_set', at: told.now, actor: 'ci', prNumber, sha, targets: many });
    told.play(`
      submit C[t99999] D[t100000] → testing A B B+C D
      pass B C                    → target M+B+C; D=testing
    `);
  });
});

describe('a queue that would break a promise is parked', () => {
  /** A landing of a tree that did not pass, which only a bug can report. */
  function parked(): { told: Scenario; result: ReturnType<typeof step> } {
    const told = play()`hold landings; submit A B; pass A`;
    const event = { ...landedEvent(told.now, 1), pushedTree: 'tree:other' as never };
    return { told, result: step(told.queue, event) };
  }

  it('changes nothing, says so, and raises an alarm [I1] [L22]', () => {
    const { told, result } = parked();
    assert.equal(result.outcome.kind, 'parked');
    assert.deepEqual({ ...result.queue, parked: undefined }, told.queue);
    assert.equal(result.queue.parked?.since, told.now);
    assert.deepEqual(
      result.effects.map((effect) => (effect.kind === 'raise_alarm' ? effect.code : effect.kind)),
      ['QUEUE_PARKED'],
    );
    assert.deepEqual([result.transitions, result.ended, result.endedCandidates], [[], [], []]);
  });

  it('parks at a landing from another head, of less than was asked for, or of another kind [I1] [L22]', () => {
    const told = play()`with batch=true batchingMinSize=2; hold landings; submit A B; pass AB`;
    const tree = 'tree:A+B+M' as never;
    const good = {
      ...landedEvent(told.now, 1),
      pushedTree: tree,
      entries: ['A', 'B'].map((name) => ({ prNumber: numberOf(name), sha: SHA, tree })),
    };
    assert.equal(step(told.queue, good).outcome.kind, 'applied');
    for (const bad of [
      { ...good, base: 'head:X' as never },
      { ...good, entries: good.entries.slice(0, 1) },
      { ...good, how: 'IDENTICAL' as const },
      { ...good, how: 'COMPOSED' as const },
      { ...good, how: 'PREFIX' as const, entries: good.entries.slice(0, 1) },
    ]) {
      assert.equal(step(told.queue, bad).outcome.kind, 'parked', bad.how);
    }
  });

  it('parks at a landing that says it was composed where nothing landed beside it [I1] [L22]', () => {
    const told = play()`with mode=PARALLEL; hold landings; submit A[x]; pass A`;
    const event = landedEvent(told.now, 1);
    assert.equal(step(told.queue, { ...event, how: 'COMPOSED' }).outcome.kind, 'parked');
    assert.equal(step(told.queue, event).outcome.kind, 'applied');
  });

  it('still takes submissions and results, and starts and lands nothing [I2]', () => {
    const { told, result } = parked();
    let { queue } = result;
    const tell = (event: QueueEvent) => {
      const next = step(queue, event);
      queue = next.queue;
      return next;
    };
    const pr = told.facts(numberOf('C'));
    const more = { targets: undefined, priority: undefined, noBatch: undefined };
    const submitted = {
      kind: 'pull_request_submitted',
      at: told.now,
      actor: 'ada',
      entryId: 'c' as never,
      pr,
    } as const;
    assert.equal(tell({ ...submitted, ...more }).outcome.kind, 'applied');
    assert.equal(findEntry(queue, numberOf('C'))?.state, 'NOT_READY');
    const { number } = told.candidate('A+B');
    const check = { name: 'ci', status: 'COMPLETED', conclusion: 'SUCCESS' } as const;
    const unknown = { startedAt: undefined, url: undefined, summary: undefined };
    const reported = tell({ kind: 'check_reported', at: told.now, candidate: number, check: { ...check, ...unknown } });
    assert.equal(findEntry(queue, numberOf('B'))?.state, 'TESTS_PASSED');
    assert.deepEqual(reported.effects, []);
    const landed = tell(landedEvent(told.now, 1));
    assert.deepEqual(
      landed.effects.filter(({ kind }) => kind !== 'discard_candidate'),
      [],
    );
    assert.notEqual(queue.parked, undefined);
    const resumed = tell({ kind: 'queue_updated', at: told.now, actor: 'ada', settings: {}, state: 'RUNNING' });
    assert.equal(queue.parked, undefined);
    assert.deepEqual(resumed.effects.filter(({ kind }) => kind === 'land_candidate').length, 1);
    assert.equal(findEntry(queue, numberOf('C'))?.state, 'TESTING');
  });

  it('stays parked where what is stored is broken, and says what is [I2]', () => {
    const { result } = parked();
    const entry = findEntry(result.queue, numberOf('B'));
    assert.ok(entry !== undefined);
    const broken = { ...result.queue, index: { ...result.queue.index, admitted: 7 } };
    assert.notEqual(findBreachAnywhere(broken), undefined);
    const resumed = step(broken, { kind: 'queue_updated', at: 0, actor: 'ada', settings: {}, state: 'RUNNING' });
    assert.equal(resumed.outcome.kind === 'refused' && resumed.outcome.code, 'VALIDATION_FAILED');
    assert.notEqual(resumed.queue.parked, undefined);
  });

  it('parks when the engine itself throws, and changes nothing [I1]', () => {
    const told = play()`submit A`;
    const thrower = { propose: () => assert.fail('a bug'), wakeAt: () => undefined };
    const pr = told.facts(numberOf('B'));
    const more = { targets: undefined, priority: undefined, noBatch: undefined };
    const event = { kind: 'pull_request_submitted', at: told.now, actor: 'ada', entryId: 'b' as never, pr } as const;
    const result = step(told.queue, { ...event, ...more }, thrower);
    assert.equal(result.outcome.kind, 'parked');
    assert.equal(findEntry(result.queue, numberOf('B')), undefined);
  });

  it('keeps the first reason when something else goes wrong while it is parked [I1] [I2]', () => {
    const { told, result } = parked();
    const again = step(result.queue, { ...landedEvent(told.now + 5, 1), base: 'head:X' as never });
    assert.equal(again.outcome.kind, 'parked');
    assert.deepEqual(again.queue.parked, result.queue.parked);
  });
});
