import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from '../../test/worlds/engine/story.ts';
import { numberOf } from '../../test/worlds/engine/words.ts';
import { findEntry } from '../engine/model/queue.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import { explain } from './explain.ts';
import { changeText } from './reasons.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5, concurrency: 4 } as const;
const ADAPTIVE = { optimizationMode: 'ADAPTIVE', concurrency: 4 } as const;

function tell(settings: Partial<QueueSettings>, story: string, name: string) {
  const told = play(settings)([story] as unknown as TemplateStringsArray);
  const prNumber = numberOf(name);
  const entry = findEntry(told.queue, prNumber) ?? told.ended.get(prNumber);
  assert.ok(entry !== undefined);
  const timeline = told.transitions
    .filter((transition) => transition.prNumber === prNumber)
    .map(({ to, because, landed }) => changeText({ to, branch: 'main', because, landed }));
  const { summary, next, reasons } = explain(told.queue, entry, told.now);
  return { summary, next, timeline: timeline.join('\n'), reasons: reasons.map(({ text }) => text).join('\n') };
}

describe('The timeline of an entry [E36]', () => {
  it('names all of a failed batch ahead of it: none of them is known to be the cause', () => {
    const { timeline } = tell(BATCH, 'together A B C D; submit E; wait 6m; fail ABCD', 'E');
    assert.match(timeline, /#1, #2, #3, #4 failed together\. It is not known yet which of them caused it/);
    assert.doesNotMatch(timeline, /without #1/);
  });

  it('names the part of the search ahead of it, and never the entry itself', () => {
    const { timeline } = tell(BATCH, 'together A B C D; fail ABCD ~AB', 'C');
    assert.match(timeline, /#1, #2 failed together/);
  });

  it('never says of an entry in a search in prefixes that it is tested without itself', () => {
    const story = 'submit A; wait 10m; pass A; submit B; wait 45m; submit C urgent';
    const { timeline } = tell({ ...ADAPTIVE, concurrency: 1 }, story, 'B');
    assert.match(timeline, /#3 is urgent/);
    assert.doesNotMatch(timeline, /#2/);
  });

  it('says of a slow run ahead that it is slow, and not that it failed', () => {
    const settings = { ...ADAPTIVE, mode: 'PARALLEL', concurrency: 2, runCost: 0.25 } as const;
    const story = 'submit A[x]; wait 10m; pass A; submit B[x]; submit C[x]; submit D[x]; wait 45m';
    const { timeline } = tell(settings, story, 'C');
    assert.match(timeline, /#2 takes much longer to test than others/);
  });

  it('says that the queue left ADAPTIVE, and not that a batch failed', () => {
    const story = 'together A B C D E F G; submit H; set optimizationMode=OFF';
    const { timeline } = tell({ ...ADAPTIVE, runCost: 0.25 }, story, 'H');
    assert.match(timeline, /The queue left ADAPTIVE/);
    assert.doesNotMatch(timeline, /batch failed/);
  });
});

describe('The explanation of an entry [E36]', () => {
  it('names the culprit of its batch once it has left, and searches no more for it', () => {
    const { reasons } = tell({ ...BATCH, concurrency: 1 }, 'together A B C D; fail ABCD ~AB ~A', 'D');
    assert.match(reasons, /Its batch of 4 failed\. 1 of them has left\. The others are tested again without it\./);
    assert.doesNotMatch(reasons, /searches/);
  });

  it('says of a passed entry in a paused queue nothing of a landing', () => {
    const { reasons, next } = tell({}, 'submit A; pause; pass A', 'A');
    assert.doesNotMatch(reasons, /lands as soon as/);
    assert.equal(next, 'It lands automatically when the queue is resumed.');
  });

  it('advises nothing against the decision of a person who took it out', () => {
    const { next } = tell({}, 'submit A; cancel A', 'A');
    assert.equal(next, 'Nothing to do. If it is to land after all, submit it again.');
  });

  it('says what an accused entry waits for, in a state that fits', () => {
    const story = 'together A B C D E F G; submit H; fail ~H ~H ~H';
    const { summary } = tell({ ...ADAPTIVE, runCost: 0.25 }, story, 'H');
    assert.match(summary, /: Failed; it stays until the pull requests ahead of it have left \(PENDING_FAILURE\)/);
  });

  it('says of an accused entry under its last test that it is tested once more', () => {
    const story = 'together A B C D E F G; submit H; fail ~H ~H ~H; pass ABCDEFG';
    const { summary } = tell({ ...ADAPTIVE, runCost: 0.25 }, story, 'H');
    assert.match(summary, /: Failed on an older main; tested once more \(TESTING\)/);
  });
});
