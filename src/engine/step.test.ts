import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPullRequest } from '../../test/helpers/a-pull-request.ts';
import { explain } from '../words/explain.ts';
import type { QueueEvent } from './model/event.ts';
import { parsePriority } from './model/priority.ts';
import type { PrNumber, PullRequestFacts } from './model/pull-request.ts';
import { createQueue, type EntryId, type EntryState, findEntry } from './model/queue.ts';
import { admittedInOrder, notReadyInOrder } from './model/roster.ts';
import { DEFAULT_SETTINGS } from './model/settings.ts';
import { type Step, step } from './step.ts';

const NOON = Date.UTC(2026, 8, 17, 12);

/** A queue that receives one event a minute. */
class Story {
  queue = createQueue('main', DEFAULT_SETTINGS, 'RUNNING');
  now = NOON;

  tell(event: QueueEvent): Step {
    const result = step(this.queue, event);
    this.queue = result.queue;
    this.now += 60_000;
    return result;
  }

  submit(number: number, more: Partial<PullRequestFacts> & { priority?: string } = {}): Step {
    const { priority, ...changes } = more;
    return this.tell({
      kind: 'pull_request_submitted',
      at: this.now,
      actor: 'ada',
      entryId: `entry-${number}` as EntryId,
      pr: aPullRequest(number, changes),
      targets: undefined,
      priority: priority === undefined ? undefined : parsePriority(priority),
      noBatch: undefined,
    });
  }

  observe(number: number): Step {
    const pr = aPullRequest(number);
    return this.tell({ kind: 'pull_request_observed', at: this.now, prNumber: pr.number, pr, targets: undefined });
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

  why(number: number): string[] {
    const entry = findEntry(this.queue, number as PrNumber);
    return entry === undefined ? [] : explain(this.queue, entry, this.now).reasons.map((reason) => reason.code);
  }
}

describe('submitting', () => {
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
      story.observe(1);
      assert.equal(story.state(1), 'PENDING');
    });
  }

  it('changes nothing when a live entry is submitted again with what is known of it [E4]', () => {
    const story = new Story();
    story.submit(1, { priority: 'high' });
    const before = story.queue;
    assert.equal(story.submit(1).outcome.kind, 'ignored');
    assert.equal(story.submit(1, { priority: 'high' }).outcome.kind, 'ignored');
    assert.equal(story.queue, before);
    assert.equal(story.submit(1, { title: 'Another title' }).outcome.kind, 'applied');
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
