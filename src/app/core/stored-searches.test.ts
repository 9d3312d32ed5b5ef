import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../../../test/helpers/doc-pages.ts';
import { plainQueue } from '../../../test/helpers/plain-queue.ts';
import { settle } from '../../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { findBreachAnywhere } from '../../engine/line/invariants.ts';
import type { Queue } from '../../engine/model/queue.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { QueueSnapshot } from '../../storage/queues.ts';
import { decodeQueue, encodeEntry, encodeQueue } from './queue-codec.ts';
import type { StoredSearch } from './stored-searches.ts';

/** Queues under way, as a server of 0.2.0 stored them. */
const FROZEN: Readonly<Record<string, QueueSnapshot>> = JSON.parse(
  readFileSync(join(ROOT, 'test/fixtures/queues/0.2.0.json'), 'utf8'),
);

function open(name: string): Queue {
  const queue = decodeQueue(FROZEN[name] as QueueSnapshot);
  assert.equal(findBreachAnywhere(queue), undefined);
  return queue;
}

/** The story whose first lines led to the frozen queue goes on with it. */
function goOn(name: string, begun: string): Scenario {
  const stored = open(name);
  const isAdaptive = stored.settings.optimizationMode === 'ADAPTIVE';
  // Elsewhere that version removed an entry for its first failure.
  const confirmFailures = isAdaptive ? 'AUTO' : 'NEVER';
  const queue: Queue = { ...stored, settings: { ...stored.settings, confirmFailures } };
  const story = new Scenario(queue.settings).play(begun);
  story.queue = queue;
  return story;
}

describe('a queue that version 0.2.0 stored', () => {
  it('goes on with a search in halves, whose chains become one [B7] [D3]', () => {
    const story = goOn('halves', 'together A B C D; fail ABCD');
    assert.deepEqual(
      story.queue.bisections.map(({ number, members, cuts }) => [number, members.length, cuts.join()]),
      [[1, 4, '2,3,4']],
    );
    story.play(`
                  → testing ~AB ~C ~C+D
      pass ~C     → ABCD=testing
      fail ~AB    → CD=pending; testing ~A ~B  # C and D are tested again with the rest
      pass ~A; fail ~B → B=failed
    `);
    settle(story, (tree) => !tree.split('+').includes('B'));
    assert.deepEqual(
      ['A', 'B', 'C', 'D'].map((name) => story.stateOf(name)),
      ['MERGED', 'FAILED', 'MERGED', 'MERGED'],
    );
  });

  it('goes on with a search in prefixes [K8] [D3]', () => {
    goOn('prefixes', 'together A B C D; fail ABCD').play(`
                  → testing ~AB
      pass ~AB    → AB=merged C=testing D=held; testing ~AB+C HEAD
      pass ~AB+C; wait 1m → C=merged D=held; testing ~ABC+D HEAD
      pass ~ABC+D         → D=merged
    `);
  });

  it('goes on with a hold, its suspicions and the entries that return [V16] [V18] [D3]', () => {
    goOn('hold', 'submit A B C; fail A B HEAD').play(`
      wait 10m  → testing C HEAD; AB=pending
      pass HEAD → over RED_TARGET; ABC=testing
    `);
  });

  it('returns the entries that it had removed for a failure of the branch [V18] [D3]', () => {
    goOn('suspicion', 'submit A B C; fail A B').play(`
                → testing C HEAD
      fail HEAD → alarm RED_TARGET; AB=pending
    `);
  });

  it('is stored in the shape that servers of 0.2.0 read [D3]', () => {
    for (const name of Object.keys(FROZEN)) {
      const snapshot = FROZEN[name] as QueueSnapshot;
      const queue = open(name);
      const entries = [...valuesOf(queue.entries)].map((entry) => encodeEntry(entry, snapshot.queue.id, 1));
      const again = decodeQueue({ ...snapshot, entries, queue: { ...snapshot.queue, body: encodeQueue(queue) } });
      assert.deepEqual(plainQueue(again), plainQueue(queue));
      const [first] = JSON.parse(encodeQueue(queue)).bisections;
      const [stored] = JSON.parse(snapshot.queue.body).bisections;
      const partsOf = (search: StoredSearch | undefined) => search?.chains.flatMap(({ parts }) => parts);
      assert.deepEqual(partsOf(first), partsOf(stored));
    }
  });
});
