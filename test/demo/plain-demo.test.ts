import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cuesOf, isOver } from '../../examples/demo/plain/play.ts';
import { findSurprises } from '../../examples/demo/plain/verdict.ts';
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
    case 'lands_when_repeated': {
      const failed = `PENDING_FAILURE TEST_RUN_REQUIRED_STATUS_FAILED ${ending.check}`;
      return record(number, [...SUBMITTED, 'TESTING', failed, 'TESTING', 'MERGED MERGE_GRAPH_MERGE']);
    }
  }
}

const TOLD = STORY.map(asTold);

function replace(changed: EntryRecord): readonly EntryRecord[] {
  return TOLD.map((one) => (one.prNumber === changed.prNumber ? changed : one));
}

function namesOf(records: readonly EntryRecord[]): readonly string[] {
  return cuesOf(records).map(({ number }) => `submit ${number}`);
}

describe('the story', () => {
  it('gives the urgent pull request targets of those it interrupts, and the flaky one targets of its own', () => {
    const targets = new Map(STORY.map((one) => [one.number, targetsOf(one).join()]));
    assert.deepEqual([...targets.values()].join(' '), 'shipping shipping cart cart cart tax tax report tax currency');
    const urgent = STORY.findIndex(({ isUrgent }) => isUrgent);
    const flaky = STORY.findIndex(({ ending }) => ending.kind === 'lands_when_repeated');
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
});

describe('the verdict', () => {
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
