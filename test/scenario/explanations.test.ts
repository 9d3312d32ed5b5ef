import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { explain } from '../../src/words/explain.ts';
import type { ExplanationReason } from '../../src/words/explanation.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

/** The tree of reasons of an entry, one indented line each. */
function why(told: Scenario, name: string): string[] {
  const entry = findEntry(told.queue, numberOf(name)) ?? told.ended.get(numberOf(name));
  assert.ok(entry !== undefined, `${name} was never here`);
  return explain(told.queue, entry, told.now).reasons.flatMap((reason) => lines(reason, ''));
}

function lines({ code, text, reasons }: ExplanationReason, indent: string): string[] {
  return [`${indent}${code}: ${text}`, ...reasons.flatMap((reason) => lines(reason, `${indent}  `))];
}

describe('why an entry is where it is', () => {
  it('says which checks are open, and on top of whom it is tested [E12]', () => {
    const told = play()`with requiredStatuses=["unit","lint"]; submit A B; fail A by=other; pass A+B by=unit`;
    assert.deepEqual(why(told, 'B'), [
      'TESTING: It is tested on top of #1 "Change A". 1 of 2 required checks is open: lint.',
      '  CHECK_OPEN: lint has not reported a result yet.',
    ]);
  });

  it('says when nothing was heard of CI for long, until something is [E17]', () => {
    const told = play()`with requiredStatuses=["unit","lint"]; submit A; wait 9m`;
    assert.deepEqual(
      why(told, 'A').map((line) => line.split(':')[0]),
      ['TESTING', '  CHECK_OPEN', '  CHECK_OPEN'],
    );
    told.play('wait 1m');
    assert.equal(
      why(told, 'A')[1],
      '  CI_SILENT: No required check has reported since 12:00 UTC. CI may not run for test branches, or reports under other names. Checks that have not reported by 17:00 UTC are treated as failed.',
    );
    told.play('fail A by=other; wait 9m');
    assert.doesNotMatch(why(told, 'A').join(), /CI_SILENT/);
    told.play('wait 1m');
    assert.match(why(told, 'A').join(), /CI_SILENT/);
    told.play('pass A by=unit');
    assert.doesNotMatch(why(told, 'A').join(), /CI_SILENT/);
  });

  it('takes CI for silent neither while other checks run, nor where it is the built-in runner [E17]', () => {
    const told = play()`submit A; wait 5m; report A RUNNING by=first; wait 2h; wait 9m`;
    assert.doesNotMatch(why(told, 'A').join(), /CI_SILENT/);
    // A check that is not required and never ends.
    told.play('wait 1m');
    assert.match(why(told, 'A').join(), /CI_SILENT/);
    const own = play()`sources protection=ci commands=v1; submit A; wait 1h`;
    assert.doesNotMatch(why(own, 'A').join(), /CI_SILENT/);
  });

  it('says which app must report a check [E12] [G65]', () => {
    const told = play({ requiredStatuses: [{ name: 'unit', app: 'actions' }] })`submit A; pass A by=unit`;
    assert.deepEqual(why(told, 'A').slice(1), [
      '  CHECK_OPEN: unit has not reported a result yet. It counts only when the app actions reports it.',
    ]);
  });

  it('says for whom it waits, what that one waits for, and since when [E12]', () => {
    const told = play()`submit A B; pass A+B`;
    assert.deepEqual(why(told, 'B'), [
      'WAITING_FOR: Blocked by #1 "Change A", which has been under test since 12:00 UTC; 1 of 1 required check is open.',
      '  TESTING: It is under test. 1 of 1 required check is open: ci.',
      '    CHECK_OPEN: ci has not reported a result yet.',
    ]);
    const { summary, position, next } = explain(told.queue, findEntry(told.queue, numberOf('B')) as never, told.now);
    assert.match(summary, /^Pull request #2: Passed, waiting to land \(TESTS_PASSED\), number 2 of 2\. Blocked by #1/);
    assert.deepEqual([position, next], [2, 'It lands on main automatically, after #1.']);
  });

  it('says of a failure whose fault it may be [E12] [V4]', () => {
    const told = play()`with concurrency=2; submit A B C; fail A+B`;
    assert.deepEqual(why(told, 'B').slice(0, 3), [
      'FAILED_CHECKS: The check ci failed.',
      'BLAME_OPEN: Not known yet whether this pull request caused it: it was tested on top of #1 "Change A".',
      '  WAITING_FOR: Blocked by #1 "Change A", which has been under test since 12:00 UTC; 1 of 1 required check is open.',
    ]);
    assert.match(
      why(told, 'C')[0] ?? '',
      /^WAITING_FOR: Blocked by #2 "Change B", which failed at 12:0\d UTC; the cause is not known yet/,
    );
  });

  it('says until when it is held for those behind it [E12] [V6]', () => {
    const told = play()`with pendingFailureDepth=1; submit A B; fail A`;
    assert.equal(
      why(told, 'A')[1],
      'HELD: It stays until 13:00 UTC at the latest: if a pull request behind it passes together with it, it passes too.',
    );
  });

  it('says with whom it waits for a batch, and for how long [E12] [B10]', () => {
    const told = play()`with batch=true; submit A B`;
    assert.deepEqual(why(told, 'A'), [
      'WAITING_FOR_BATCH: Its batch has 2 of 4 pull requests (with #2 "Change B"). Testing starts when it is full, at 12:05 UTC at the latest.',
    ]);
  });

  it('says who has the slots [E12] [C3]', () => {
    const told = play()`with concurrency=1; submit A B C`;
    assert.deepEqual(why(told, 'B').slice(0, 2), [
      'WAITING_FOR_SLOT: The only test slot is taken.',
      '  WAITING_FOR: Blocked by #1 "Change A", which has been under test since 12:00 UTC; 1 of 1 required check is open.',
    ]);
  });

  it('says how its batch is searched [E12] [B4]', () => {
    const told = play()`with batch=true batchingMinSize=4; submit A B C D; fail ABCD`;
    assert.deepEqual(why(told, 'C').slice(0, 2), [
      'BISECTION: Its batch of 4 failed. Sluice searches for the pull request that caused it: step 1 of about 2.',
      '  TESTING: It is tested together with #4 "Change D" on top of #1 "Change A", #2 "Change B". 1 of 1 required check is open: ci.',
    ]);
  });

  it('says with whom it conflicts [E12] [C33]', () => {
    const told = play()`conflict B A; submit A B`;
    assert.deepEqual(why(told, 'B'), [
      'CONFLICT_AHEAD: It conflicts with #1 ahead of it. It waits until #1 has landed or left the queue, and is then tried again. Or rebase it onto #1, push, and submit it again: then it need not wait.',
    ]);
  });

  it('says that the target itself is broken [E12] [V10]', () => {
    const told = play()`submit A B C; fail A B C HEAD`;
    assert.match(why(told, 'C')[0] ?? '', /^TARGET_RED: The queue is held: the head of main itself fails ci/);
  });

  it('says who vouches for it, and what is being landed [E12] [V8] [L1]', () => {
    const told = play()`with canOptimisticallyMerge=true; hold landings; submit A B; pass A+B`;
    assert.deepEqual(why(told, 'A'), [
      'VOUCHED: A pull request behind it passed together with it. Both land together.',
    ]);
    assert.deepEqual(why(told, 'B'), ['LANDING: Sluice lands it right now.']);
  });

  it('says that its submitter has as many entries as allowed, also of one below [E98]', () => {
    const told = play()`with maxEntriesPerActor=1; stack B C; submit A B C by=bot`;
    const text = 'bot has 1 of at most 1 entry in the queue (maxEntriesPerActor).';
    assert.deepEqual(why(told, 'B'), [`ACTOR_LIMIT: It waits: ${text}`]);
    assert.deepEqual(why(told, 'C'), [`BELOW_MISSING: It depends on #2, which waits, as ${text}`]);
    const { next } = explain(told.queue, findEntry(told.queue, numberOf('B')) as never, told.now);
    assert.equal(next, 'It joins the queue automatically when one of these leaves.');
    const [reason] = why(told.play('set maxEntriesPerActor=2; submit D E by=bot'), 'E');
    assert.match(reason ?? '', /bot has 2 of at most 2 entries in the queue/);
  });

  it('says that the line is full [E12] [O3]', () => {
    const told = play()`with concurrency=1; submit A`;
    for (let number = 2; number <= 27; number += 1) told.submit(number as never);
    told.queue = { ...told.queue, index: { ...told.queue.index, admitted: 500 } };
    const late = { ...findEntry(told.queue, 27 as never), admission: undefined, state: 'NOT_READY' } as never;
    const [reason] = explain(told.queue, late, told.now).reasons;
    assert.equal(reason?.text, 'The queue is full: 500 pull requests are in it, and it holds 500.');
  });

  it('says why it left [E12] [E11]', () => {
    const told = play()`submit A B; cancel A; fail B`;
    assert.deepEqual(why(told, 'B'), [
      'TEST_RUN_REQUIRED_STATUS_FAILED: The check ci failed. It was the only new change in that run, so the failure counts as its own. [TEST_RUN_REQUIRED_STATUS_FAILED]',
    ]);
    assert.match(why(told, 'A')[0] ?? '', /^USER_REQUESTED: Removed from the queue/);
  });

  it('promises in a search only what the runs ahead leave true [E12]', () => {
    const nextOf = (told: Scenario, name: string) =>
      explain(told.queue, findEntry(told.queue, numberOf(name)) as never, told.now).next;
    const halves = play()`
      with batch=true batchingMinSize=3 batchingMaxWaitTimeMinutes=60 bisectionConcurrency=4
      submit A B C; fail ABC
    `;
    assert.match(nextOf(halves, 'C'), /fails and that of #1, #2 passes, it caused the failure/);
    const prefixes = play()`
      with optimizationMode=ADAPTIVE concurrency=1
      together A B C D; fail ABCD ~AB ~A
    `;
    assert.equal(nextOf(prefixes, 'B'), 'It is tested automatically once the cause is known.');
  });

  it('says what stops the whole queue before anything else [E12] [Q3] [I2]', () => {
    const told = play()`submit A; pause`;
    assert.match(why(told, 'A')[0] ?? '', /^QUEUE_PAUSED/);
    told.queue = { ...told.queue, parked: { reason: 'a promise would have been broken', since: told.now } };
    assert.match(why(told, 'A')[0] ?? '', /^QUEUE_PARKED: Sluice stopped this queue: a promise would have been broken/);
  });
});
