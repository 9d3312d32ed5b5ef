import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { cuesOf, isOver } from '../../examples/demo/plain/play.ts';
import { formatLessons, formatOutcomes } from '../../examples/demo/plain/summary.ts';
import { findSurprises } from '../../examples/demo/plain/verdict.ts';
import { sluiceCommand } from '../../examples/demo/scene.ts';
import { type DemoPullRequest, STORY, targetsOf } from '../../examples/demo/story.ts';
import { type EntryRecord, EXAMPLE_LANDED_RECORD } from '../../src/contract/entry.ts';

type Step = NonNullable<EntryRecord['timeline']>[number];
type Landed = NonNullable<EntryRecord['landed']>;

const TEMPLATE = EXAMPLE_LANDED_RECORD as EntryRecord & { landed: Landed };
const RUN = TEMPLATE.landed.testRunId;

/** `STATE REASON` of every step, oldest first, two seconds apart. */
function record(number: number, steps: readonly string[], landed?: Partial<Landed>): EntryRecord {
  const { landed: _landed, ...template } = TEMPLATE;
  const timeline = steps.map((step, index): Step => {
    const [state, reason = 'TEST_RUN_STARTED', ...checks] = step.split(' ') as [Step['state'], ...string[]];
    const at = new Date(Date.UTC(2026, 8, 17, 10, 0, index * 2)).toISOString();
    return { at, state, reason, text: `Because of ${reason}. And so on.`, testRunId: RUN, checks };
  });
  const [last] = timeline.slice(-1);
  const state = last === undefined ? {} : { state: last.state };
  const proof = last?.state === 'MERGED' ? { landed: { ...TEMPLATE.landed, at: last.at, ...landed } } : {};
  return { ...template, prNumber: number, ...state, timeline: timeline.toReversed(), ...proof };
}

const SUBMITTED = ['NOT_READY API_REQUESTED', 'PENDING MERGE_ITEM_NOW_READY'];

function asTold({ number, ending }: DemoPullRequest): EntryRecord {
  switch (ending.kind) {
    case 'lands':
      return record(number, [...SUBMITTED, 'TESTING', 'MERGED MERGE_GRAPH_MERGE']);
    case 'removed':
      return record(number, [...SUBMITTED, `FAILED ${ending.reason} unit`]);
    case 'lands_at_second_try': {
      const failed = [...SUBMITTED, `FAILED TEST_RUN_REQUIRED_STATUS_FAILED ${ending.check}`];
      return record(number, [...failed, ...SUBMITTED, 'TESTING', 'MERGED MERGE_GRAPH_MERGE']);
    }
  }
}

const TOLD = STORY.map(asTold);

function replace(changed: EntryRecord): readonly EntryRecord[] {
  return TOLD.map((one) => (one.prNumber === changed.prNumber ? changed : one));
}

function namesOf(records: readonly EntryRecord[]): readonly string[] {
  return cuesOf(records).map(({ kind, pullRequest }) => `${kind} ${pullRequest.number}`);
}

describe('the story', () => {
  it('has ten pull requests, numbered as they are submitted', () => {
    assert.deepEqual(
      STORY.map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    const later = STORY.filter(({ comesLater }) => comesLater);
    assert.deepEqual(STORY.slice(-later.length), later);
  });

  it('gives the urgent pull request targets of those it interrupts, and the flaky one targets of its own', () => {
    const targets = new Map(STORY.map((one) => [one.number, targetsOf(one).join()]));
    assert.deepEqual([...targets.values()].join(' '), 'shipping shipping cart cart cart tax tax report tax currency');
    const urgent = STORY.findIndex(({ isUrgent }) => isUrgent);
    const flaky = STORY.findIndex(({ ending }) => ending.kind === 'lands_at_second_try');
    assert.ok(urgent < flaky, 'an urgent one after it could interrupt the run in which it fails');
  });
});

describe('the people of the story', () => {
  const first = STORY.filter(({ comesLater }) => !comesLater);

  it('wait with the last two until something is under test', () => {
    const waiting = first.map(({ number }) => record(number, SUBMITTED));
    assert.deepEqual(namesOf(waiting), []);
    assert.deepEqual(namesOf([...waiting.slice(1), record(1, [...SUBMITTED, 'TESTING'])]), ['submit 9', 'submit 10']);
    assert.equal(isOver(waiting), false);
  });

  it('submit a pull request that a flaky test failed again, once', () => {
    const failed = [...SUBMITTED, 'FAILED TEST_RUN_REQUIRED_STATUS_FAILED smoke'];
    const once = replace(record(10, failed));
    assert.deepEqual(namesOf(once), ['submit_again 10']);
    assert.equal(isOver(once), false);
    const twice = replace(record(10, [...failed, ...failed]));
    assert.deepEqual(namesOf(twice), []);
    assert.equal(isOver(twice), true);
  });

  it('are done when everybody has landed or left', () => {
    assert.equal(isOver(TOLD), true);
    assert.equal(isOver(replace(record(5, [...SUBMITTED, 'TESTING']))), false);
    assert.equal(isOver(TOLD.slice(1)), false);
  });
});

describe('the verdict', () => {
  it('is silent when everything went as told', () => {
    assert.deepEqual(findSurprises(TOLD), []);
  });

  it('names each pull request that ended otherwise', () => {
    const landed = record(7, [...SUBMITTED, 'MERGED MERGE_GRAPH_MERGE']);
    assert.deepEqual(findSurprises(replace(landed)), [
      '#7 should have been removed with TEST_RUN_REQUIRED_STATUS_FAILED, but is MERGED: NOT_READY (API_REQUESTED), PENDING (MERGE_ITEM_NOW_READY), MERGED (MERGE_GRAPH_MERGE).',
    ]);
    const other = record(2, [...SUBMITTED, 'FAILED TEST_RUN_REQUIRED_STATUS_FAILED unit']);
    assert.match(findSurprises(replace(other)).join(), /^#2 should .*START_TEST_RUN_MERGE_CONFLICT, but is FAILED/);
    const stuck = record(1, [...SUBMITTED, 'TESTING']);
    assert.match(findSurprises(replace(stuck)).join(), /^#1 should have landed, but is TESTING/);
    assert.match(findSurprises(TOLD.slice(0, -1)).join(), /^#10 should .*, but was never submitted\.$/);
  });

  it('wants the flaky one to fail, by the flaky check, and the good ones not to', () => {
    assert.match(findSurprises(replace(record(10, [...SUBMITTED, 'MERGED MERGE_GRAPH_MERGE']))).join(), /^#10 should/);
    const byUnit = [...SUBMITTED, 'FAILED TEST_RUN_REQUIRED_STATUS_FAILED unit', 'MERGED MERGE_GRAPH_MERGE'];
    assert.match(findSurprises(replace(record(10, byUnit))).join(), /^#10 should have failed smoke once/);
    assert.match(findSurprises(replace(record(3, byUnit))).join(), /^#3 should have landed/);
  });
});

describe('the summary', () => {
  const COMPOSED = { kind: 'COMPOSED' as const, composedWith: [1, 3] };

  it('has a line for each: the outcome, how long it took, and the reason without advice', () => {
    const records = replace(record(6, [...SUBMITTED, 'TESTING', 'MERGED MERGE_GRAPH_MERGE'], COMPOSED));
    const lines = stripVTControlCharacters(formatOutcomes(records, undefined)).split('\n');
    assert.match(lines[1] ?? '', /^ #1 +Parcels up to 2 kg are light +landed +6\.0 s +Exactly as tested\.$/);
    assert.match(lines[2] ?? '', /^ #2 .* removed +4\.0 s +Because of START_TEST_RUN_MERGE_CONFLICT\.$/);
    assert.match(
      lines[6] ?? '',
      /^ #6 .* landed +6\.0 s +As tested; in parallel with #1 and #3 \(no shared targets\)\.$/,
    );
    assert.match(lines[10] ?? '', /^#10 .* landed /);
  });

  it('names pull requests that were not submitted, and those that did not end', () => {
    const lines = formatOutcomes([record(1, [...SUBMITTED, 'TESTING'])], undefined).split('\n');
    assert.match(stripVTControlCharacters(lines[1] ?? ''), /^ #1 .* TESTING +4\.0 s/);
    assert.match(stripVTControlCharacters(lines[2] ?? ''), /^ #2 .* not submitted +-$/);
  });

  it('teaches with commands where there is something left to look at', () => {
    const text = stripVTControlCharacters(formatLessons(TOLD, "/tmp/a folder/it's.git"));
    assert.ok(text.includes(`    git -C '/tmp/a folder/it'\\''s.git' log --first-parent --oneline main\n`), text);
    assert.match(text, new RegExp(`#7 [^\n]*\n +(?:npx )?sluice logs ${RUN}\n`));
    assert.match(text, /#2 [^\n]*\n +(?:npx )?sluice pr status local\/demo\/shop main 2\n/);
    assert.doesNotMatch(formatLessons(TOLD, undefined), /sluice |git -C/);
  });

  it('says whom the urgent one interrupted', () => {
    const interrupted = record(6, [
      ...SUBMITTED,
      'TESTING',
      'PENDING SKIP_THE_LINE_INTERRUPTED',
      'MERGED MERGE_GRAPH_MERGE',
    ]);
    assert.match(formatLessons(replace(interrupted), undefined), /#9 was urgent and went ahead of #6, which was/);
    assert.match(formatLessons(TOLD, undefined), /#9 was urgent; nobody stood in its way/);
  });

  it('calls the command by the name it was called by', () => {
    assert.equal(sluiceCommand({ npm_command: 'run-script' }), 'npx sluice');
    assert.equal(sluiceCommand({}), 'sluice');
  });
});
