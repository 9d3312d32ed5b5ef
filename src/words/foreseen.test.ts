import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { act, perform, settings } from '../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../test/worlds/engine/scenario.ts';
import { numberOf } from '../../test/worlds/engine/words.ts';
import { foresee } from '../engine/foresee.ts';
import { parsePriority } from '../engine/model/priority.ts';
import { findEntry } from '../engine/model/queue.ts';
import { foreseenText } from './foreseen.ts';
import { changeText } from './reasons.ts';

/** Makes a pull request urgent, or says what that would do. */
function submission(story: Scenario, name: string, priority = 'urgent') {
  return {
    ...{ kind: 'pull_request_submitted' as const, ...story.byAda, entryId: `entry-${numberOf(name)}` as never },
    ...{ pr: story.facts(numberOf(name)), targets: undefined, noBatch: undefined, priority: parsePriority(priority) },
  };
}

function tell(given: string, name: string, priority?: string): string {
  const story = new Scenario({ concurrency: 3 }).play(given);
  return foreseenText(foresee(story.queue, submission(story, name, priority)), story.now).replaceAll(
    / "Change .*?"/g,
    '',
  );
}

describe('the preview of a submission', () => {
  const AGAIN = 'If it has to be tested again, its new priority counts. No run is interrupted.';
  for (const [given, name, expected] of [
    [
      'submit A B C',
      'D',
      /^It is tested at once, on main\. 3 runs end .* behind it: #1, #2\. Tested again later: #3\.$/,
    ],
    ['submit A B', 'B', `It is under test already, and keeps its place behind #1. ${AGAIN}`],
    ['submit A B; pass A+B', 'B', `It has passed, and keeps its place behind #1. ${AGAIN}`],
    ['hold landings; submit A; pass A', 'B', 'It is tested at once, on top of #1. No run is interrupted.'],
    ['submit A urgent', 'A', 'Nothing changes: it is in the queue exactly so.'],
    ['pause', 'A', /^It does not start yet\. The queue has been paused .* starts, it goes ahead of the others\.$/],
  ] as const) {
    it(`tells the effect of making ${name} urgent after "${given}" [O18]`, () => {
      const told = tell(given, name);
      if (typeof expected === 'string') assert.equal(told, expected);
      else assert.match(told, expected);
    });
  }

  it('tells how many stay ahead of a submission without a priority [O18]', () => {
    assert.equal(tell('submit A B C D', 'E', 'medium'), 'It waits: 4 pull requests stay ahead of it.');
  });

  it('tells exactly the effect that the submission has, after any history [O18]', () => {
    const history = fc.array(act, { minLength: 1, maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(settings, history, fc.constantFrom('A', 'B', 'C', 'Z'), (chosen, acts, name) => {
        const story = new Scenario(chosen);
        for (const each of acts) perform(story, each);
        const before = story.queue;
        const { testedAgain, entry, after } = foresee(before, submission(story, name));
        assert.equal(story.queue, before);
        const result = story.tell(submission(story, name));
        assert.deepEqual(result.queue, after);
        assert.deepEqual(findEntry(result.queue, numberOf(name)), entry);
        const told = new Set(testedAgain.map(({ prNumber }) => prNumber));
        for (const { because, prNumber } of result.transitions) {
          if (because.reason === 'SKIP_THE_LINE_INTERRUPTED' && prNumber !== numberOf(name))
            assert.ok(told.has(prNumber));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('the timeline of an urgent pull request', () => {
  it('says that its own urgency ended its run, and only the others read its number [O19]', () => {
    const freezes = [
      {
        name: 'fair',
        from: '2026-09-17T13:00',
        until: '2026-09-17T15:00',
        timeZone: 'UTC',
        repeat: 'NONE' as const,
        allowUrgent: true,
      },
    ];
    const story = new Scenario({ freezes }).play('submit A B; wait 1h; pass A; submit B urgent');
    const saidTo = (name: string) => {
      const transition = story.trailOf(name).findLast(({ because }) => because.reason === 'SKIP_THE_LINE_INTERRUPTED');
      return changeText({ to: 'PENDING', branch: 'main', because: transition?.because as never });
    };
    assert.equal(saidTo('B'), 'It is urgent, and the freeze lets urgent ones land. It is tested again, alone.');
    assert.equal(saidTo('A'), '#2 is urgent and goes first. It is tested again behind that one.');
  });
});
