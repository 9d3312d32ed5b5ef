import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { aPullRequest } from '../../test/helpers/a-pull-request.ts';
import { valuesOf } from '../lib/int-map.ts';
import type { Sha } from '../lib/sha.ts';
import { explain } from '../words/explain.ts';
import type { QueueEvent } from './model/event.ts';
import { parsePriority } from './model/priority.ts';
import type { PrNumber, PullRequestFacts } from './model/pull-request.ts';
import {
  createQueue,
  type EntryId,
  type EntryState,
  findEntry,
  isAdmitted,
  isLive,
  type Queue,
} from './model/queue.ts';
import { isReady, readinessOf } from './model/readiness.ts';
import { admittedInOrder, notReadyInOrder } from './model/roster.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from './model/settings.ts';
import { ALL_TARGETS } from './model/targets.ts';
import type { Transition } from './model/work.ts';
import { type Step, step } from './step.ts';

const NOON = Date.UTC(2026, 8, 17, 12);

/** A queue that receives one event a minute and records all transitions and effects. */
class Story {
  queue: Queue;
  now = NOON;
  readonly events: QueueEvent[] = [];
  readonly transitions: Transition[] = [];

  constructor(settings: Partial<QueueSettings> = {}) {
    this.queue = createQueue('main', { ...DEFAULT_SETTINGS, ...settings }, 'RUNNING');
  }

  tell(event: QueueEvent): Step {
    const result = step(this.queue, event);
    if (result.outcome.kind === 'applied') this.events.push(event);
    this.queue = result.queue;
    this.transitions.push(...result.transitions);
    this.now += 60_000;
    return result;
  }

  submit(number: number, more: Partial<PullRequestFacts> & { priority?: string; noBatch?: boolean } = {}): Step {
    const { priority, noBatch, ...changes } = more;
    return this.tell({
      kind: 'pull_request_submitted',
      at: this.now,
      actor: 'ada',
      entryId: `entry-${number}` as EntryId,
      pr: aPullRequest(number, changes),
      targets: undefined,
      priority: priority === undefined ? undefined : parsePriority(priority),
      noBatch,
    });
  }

  observe(number: number, changes: Partial<PullRequestFacts> | 'gone'): Step {
    const prNumber = number as PrNumber;
    const pr = changes === 'gone' ? undefined : aPullRequest(number, changes);
    return this.tell({ kind: 'pull_request_observed', at: this.now, prNumber, pr, targets: undefined });
  }

  cancel(number: number): Step {
    return this.tell({ kind: 'pull_request_cancelled', at: this.now, actor: 'ada', prNumber: number as PrNumber });
  }

  setTargets(number: number, sha: string): Step {
    const prNumber = number as PrNumber;
    return this.tell({
      kind: 'impacted_targets_set',
      at: this.now,
      actor: 'ci',
      prNumber,
      sha: sha as Sha,
      targets: ALL_TARGETS,
    });
  }

  update(settings: Partial<QueueSettings>, state?: 'RUNNING' | 'PAUSED' | 'DRAINING'): Step {
    return this.tell({ kind: 'queue_updated', at: this.now, actor: 'ada', settings, state });
  }

  state(number: number): EntryState | undefined {
    return findEntry(this.queue, number as PrNumber)?.state;
  }

  line(): number[] {
    return admittedInOrder(this.queue).map((entry) => entry.prNumber);
  }

  waiting(): number[] {
    return notReadyInOrder(this.queue).map((entry) => entry.prNumber);
  }

  lastReason(): string | undefined {
    return this.transitions.at(-1)?.because.reason;
  }

  why(number: number): string[] {
    const entry = findEntry(this.queue, number as PrNumber);
    return entry === undefined ? [] : explain(this.queue, entry, this.now).reasons.map((reason) => reason.code);
  }
}

function codeOf(result: Step): string {
  return result.outcome.kind === 'refused' ? result.outcome.code : 'applied';
}

describe('submitting', () => {
  it('passes through NOT_READY also when it is ready [E1] [E2] [E11]', () => {
    const story = new Story();
    story.submit(1);
    assert.deepEqual(
      story.transitions.map(({ from, to, because }) => [from, to, because.reason, because.actor]),
      [
        [undefined, 'NOT_READY', 'API_REQUESTED', 'ada'],
        ['NOT_READY', 'PENDING', 'MERGE_ITEM_NOW_READY', undefined],
      ],
    );
  });

  for (const [what, changes, code] of [
    ['another base', { baseBranch: 'next' }, 'BASE_BRANCH_MISMATCH'],
    ['a conflict', { mergeability: 'NOT_MERGEABLE', blockReasons: ['conflict'] }, 'NOT_MERGEABLE'],
    ['an unknown mergeability', { mergeability: 'IN_PROGRESS' }, 'MERGEABILITY_PENDING'],
  ] as const) {
    it(`waits with ${what}, and says so [E2] [E12]`, () => {
      const story = new Story();
      story.submit(1, changes);
      assert.equal(story.state(1), 'NOT_READY');
      assert.deepEqual(story.why(1), [code]);
      story.observe(1, {});
      assert.equal(story.state(1), 'PENDING');
    });
  }

  it('updates priority and noBatch of a live entry and leaves what is absent [E4]', () => {
    const story = new Story();
    story.submit(1, { priority: 'high', noBatch: true });
    story.submit(1);
    story.submit(1, { priority: '17' });
    const entry = findEntry(story.queue, 1 as PrNumber);
    assert.deepEqual(entry?.priority, { value: 17, name: '17', isDefault: false });
    assert.equal(entry?.noBatch, true);
    assert.equal(story.transitions.length, 2);
  });

  it('changes nothing when a live entry is submitted again with what is known of it [E4]', () => {
    const story = new Story();
    story.submit(1, { priority: 'high' });
    const before = story.queue;
    assert.equal(story.submit(1).outcome.kind, 'ignored');
    assert.equal(story.submit(1, { priority: 'high' }).outcome.kind, 'ignored');
    assert.equal(story.queue, before);
    assert.equal(story.submit(1, { title: 'Another title' }).outcome.kind, 'applied');
  });

  it('keeps the id of an entry that left, and begins from scratch [E3]', () => {
    const story = new Story();
    story.submit(1, { priority: 'low', noBatch: true });
    story.cancel(1);
    story.submit(1);
    const entry = findEntry(story.queue, 1 as PrNumber);
    assert.equal(entry?.id, 'entry-1');
    assert.equal(entry?.priority.name, 'medium');
    assert.equal(entry?.noBatch, false);
  });

  it('a pull request that was pushed to while in the line begins a new cycle with the new head [E3] [E8]', () => {
    const story = new Story();
    story.submit(1);
    const { ended } = story.submit(1, { headSha: 'new' as Sha });
    assert.deepEqual(
      ended.map((entry) => entry.state),
      ['CANCELLED'],
    );
    assert.deepEqual(
      story.transitions.map((transition) => transition.to),
      ['NOT_READY', 'PENDING', 'CANCELLED', 'NOT_READY', 'PENDING'],
    );
    assert.equal(findEntry(story.queue, 1 as PrNumber)?.pr.headSha, 'new');
  });

  it('keeps priority and noBatch when a push has ended the old cycle [E4]', () => {
    const story = new Story();
    story.submit(1, { priority: 'high', noBatch: true });
    story.submit(1, { headSha: 'new' as Sha });
    const entry = findEntry(story.queue, 1 as PrNumber);
    assert.deepEqual([entry?.priority.name, entry?.noBatch], ['high', true]);
  });

  it('keeps its order when the clock goes back [Q8]', () => {
    const story = new Story();
    story.submit(1);
    story.submit(2, { mergeability: 'IN_PROGRESS' });
    story.now = NOON - 3_600_000;
    story.submit(3);
    story.submit(4, { mergeability: 'IN_PROGRESS' });
    assert.deepEqual(
      [story.line(), story.waiting()],
      [
        [1, 3],
        [2, 4],
      ],
    );
  });

  it('orders by priority, then admission [Q8] [E5]', () => {
    const story = new Story();
    story.submit(1);
    story.submit(2, { priority: 'low' });
    story.submit(3, { priority: 'URGENT' });
    story.submit(4);
    assert.deepEqual(story.line(), [3, 1, 4, 2]);
    assert.equal(explain(story.queue, findEntry(story.queue, 4 as PrNumber) as never, story.now).position, 3);
  });
});

describe('leaving', () => {
  it('cancelling ends a live entry, and is refused for others [E6]', () => {
    const story = new Story();
    story.submit(1);
    assert.equal(story.cancel(1).ended[0]?.state, 'CANCELLED');
    assert.equal(story.transitions.at(-1)?.inQueueMs, 60_000);
    assert.equal(codeOf(story.cancel(1)), 'PULL_REQUEST_NOT_IN_QUEUE');
  });

  it('tests that do not run cannot be restarted [E7]', () => {
    const story = new Story();
    const restart = (number: number): Step =>
      story.tell({ kind: 'tests_restart_requested', at: story.now, actor: 'ada', prNumber: number as PrNumber });
    assert.equal(codeOf(restart(1)), 'PULL_REQUEST_NOT_IN_QUEUE');
    story.submit(1);
    assert.equal(codeOf(restart(1)), 'TESTS_NOT_RESTARTABLE');
  });

  for (const [what, changes, notReady, admitted] of [
    ['pushed to', { headSha: 'new' as Sha }, undefined, 'PR_PUSHED_TO'],
    ['retargeted', { baseBranch: 'next' }, undefined, 'PR_BASE_BRANCH_CHANGED'],
    ['closed', { status: 'closed' }, 'PR_CLOSED', 'PR_CLOSED'],
    ['gone', 'gone', 'PR_CLOSED', 'PR_CLOSED'],
    ['made a draft', { status: 'draft' }, 'PR_CONVERTED_TO_DRAFT', 'PR_CONVERTED_TO_DRAFT'],
    ['merged by hand', { status: 'merged' }, 'MANUAL_MERGE', 'MANUAL_MERGE'],
  ] as const) {
    it(`what is ${what} while not ready: ${notReady ?? 'stays'}; while admitted: ${admitted} [E8] [E9] [E10]`, () => {
      const waiting = new Story();
      waiting.submit(1, { mergeability: 'IN_PROGRESS' });
      waiting.observe(1, changes === 'gone' ? 'gone' : { mergeability: 'IN_PROGRESS', ...changes });
      assert.equal(waiting.state(1), notReady === undefined ? 'NOT_READY' : undefined);
      if (notReady !== undefined) assert.equal(waiting.lastReason(), notReady);
      const line = new Story();
      line.submit(1);
      line.observe(1, changes);
      assert.equal(line.state(1), undefined);
      assert.equal(line.lastReason(), admitted);
    });
  }

  it('a clock that goes back makes no negative durations [E14]', () => {
    const story = new Story();
    story.submit(1);
    story.now = NOON - 3_600_000;
    story.cancel(1);
    assert.equal(story.transitions.at(-1)?.durationMs, 0);
    assert.equal(story.transitions.at(-1)?.inQueueMs, 0);
  });
});

describe('queue states', () => {
  for (const state of ['PAUSED', 'DRAINING'] as const) {
    it(`a ${state} queue parks what is submitted, and admits it when it runs again [Q3]`, () => {
      const story = new Story();
      story.submit(1);
      story.update({}, state);
      story.submit(2);
      assert.deepEqual([story.line(), story.waiting()], [[1], [2]]);
      assert.deepEqual(story.why(2), [`QUEUE_${state}`]);
      story.update({}, 'RUNNING');
      assert.deepEqual([story.line(), story.waiting()], [[1, 2], []]);
    });
  }

  it('changes its mode at once when nobody is admitted [Q4]', () => {
    const story = new Story();
    story.submit(1, { mergeability: 'IN_PROGRESS' });
    story.update({ mode: 'PARALLEL' });
    assert.equal(story.queue.state, 'RUNNING');
    assert.equal(story.queue.settings.mode, 'PARALLEL');
  });

  it('lets admitted entries leave before it changes its mode, and refuses writes meanwhile [Q4] [Q5]', () => {
    const story = new Story();
    story.submit(1);
    story.update({ mode: 'PARALLEL', concurrency: 9 }, 'DRAINING');
    assert.equal(story.queue.state, 'SWITCHING_MODES');
    assert.equal(story.queue.settings.mode, 'SINGLE');
    assert.equal(story.queue.settings.concurrency, 9);
    assert.equal(codeOf(story.update({ concurrency: 3 })), 'MODE_CHANGE_IN_PROGRESS');
    assert.equal(codeOf(story.update({ concurrency: 3 }, 'RUNNING')), 'MODE_CHANGE_IN_PROGRESS');
    story.submit(2);
    assert.deepEqual(story.why(2), ['QUEUE_SWITCHING_MODES']);
    story.cancel(1);
    assert.equal(story.queue.state, 'DRAINING');
    assert.equal(story.queue.settings.mode, 'PARALLEL');
    story.update({}, 'RUNNING');
    assert.equal(story.state(2), 'PENDING', 'it was there before the switch and needs no targets [Q7]');
  });

  it('a paused queue with live entries keeps its mode [Q6]', () => {
    const story = new Story();
    story.update({}, 'PAUSED');
    story.submit(1);
    assert.equal(codeOf(story.update({ mode: 'PARALLEL' })), 'QUEUE_NOT_EMPTY');
    assert.equal(codeOf(story.update({ mode: 'SINGLE' })), 'applied');
  });

  it('a setting out of range changes nothing at all [S2]', () => {
    const story = new Story();
    const before = story.queue;
    assert.equal(codeOf(story.update({ batch: true, concurrency: 0 })), 'VALIDATION_FAILED');
    assert.equal(story.queue, before);
  });
});

describe('impacted targets', () => {
  it('a parallel queue waits for those of the present head [E2] [T1]', () => {
    const story = new Story({ mode: 'PARALLEL' });
    story.submit(1);
    assert.deepEqual(story.why(1), ['IMPACTED_TARGETS_MISSING']);
    story.setTargets(1, 'another commit');
    assert.equal(story.state(1), 'NOT_READY');
    story.setTargets(1, '1a');
    assert.equal(story.state(1), 'PENDING');
  });

  it('those of an earlier head do not count for a new one [T1] [E8]', () => {
    const story = new Story({ mode: 'PARALLEL' });
    story.submit(1, { mergeability: 'IN_PROGRESS' });
    story.setTargets(1, '1a');
    story.observe(1, { headSha: 'new' as Sha });
    assert.deepEqual(story.why(1), ['IMPACTED_TARGETS_MISSING']);
  });
});

const prNumber = fc.integer({ min: 1, max: 6 });
const change = fc.record(
  {
    headSha: fc.constantFrom('x' as Sha, 'y' as Sha),
    baseBranch: fc.constantFrom('main', 'next'),
    status: fc.constantFrom('open' as const, 'closed' as const, 'draft' as const, 'merged' as const),
    mergeability: fc.constantFrom('MERGEABLE' as const, 'NOT_MERGEABLE' as const, 'IN_PROGRESS' as const),
  },
  { requiredKeys: [] },
);
const act = fc.oneof(
  fc.record({ act: fc.constant('submit' as const), number: prNumber, change }),
  fc.record({ act: fc.constant('observe' as const), number: prNumber, change }),
  fc.record({ act: fc.constant('gone' as const), number: prNumber, change }),
  fc.record({ act: fc.constant('cancel' as const), number: prNumber, change }),
  fc.record({ act: fc.constant('targets' as const), number: prNumber, change }),
  fc.record({
    act: fc.constantFrom('RUNNING' as const, 'PAUSED' as const, 'DRAINING' as const),
    number: prNumber,
    change,
  }),
  fc.record({ act: fc.constantFrom('SINGLE' as const, 'PARALLEL' as const), number: prNumber, change }),
);

type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

function play(story: Story, { act: kind, number, change: changes }: Act): Step {
  switch (kind) {
    case 'submit':
      return story.submit(number, { ...changes, status: 'open' });
    case 'observe':
      return story.observe(number, changes);
    case 'gone':
      return story.observe(number, 'gone');
    case 'cancel':
      return story.cancel(number);
    case 'targets':
      return story.setTargets(number, changes.headSha ?? `${number}a`);
    case 'SINGLE':
    case 'PARALLEL':
      return story.update({ mode: kind });
    default:
      return story.update({}, kind);
  }
}

describe('any history', () => {
  it('keeps every promise after every step, and replays to the same state', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const story = new Story();
        for (const each of acts) {
          const before = story.queue;
          const result = play(story, each);
          if (result.outcome.kind === 'refused') assert.equal(story.queue, before);
          checkPromises(story.queue, result);
        }
        const replayed = story.events.reduce((queue, event) => step(queue, event).queue, new Story().queue);
        assert.deepEqual(replayed, story.queue);
        checkTimelines(story.transitions);
      }),
      { numRuns: 300 },
    );
  });
});

function checkPromises(queue: Queue, result: Step): void {
  assert.equal(queue.state === 'SWITCHING_MODES', queue.modeSwitch !== undefined && queue.state !== 'PAUSED');
  for (const entry of valuesOf(queue.entries)) {
    assert.ok(isLive(entry.state));
    assert.equal(entry.state === 'NOT_READY', !isAdmitted(entry));
    if (queue.state === 'RUNNING' && !isAdmitted(entry))
      assert.ok(!isReady(readinessOf(queue, entry)), 'a ready entry waits');
    assert.ok(explain(queue, entry, NOON).summary.length > 0);
  }
  for (const entry of result.ended) assert.ok(!isLive(entry.state));
  const ordinals = admittedInOrder(queue).map((entry) => entry.admission?.ordinal);
  assert.equal(new Set(ordinals).size, ordinals.length);
}

/** Each transition begins in the state in which the previous one ended. */
function checkTimelines(transitions: readonly Transition[]): void {
  const last = new Map<number, EntryState>();
  for (const { prNumber: number, from, to } of transitions) {
    const previous = last.get(number);
    assert.equal(from, previous !== undefined && isLive(previous) ? previous : undefined);
    last.set(number, to);
  }
}
