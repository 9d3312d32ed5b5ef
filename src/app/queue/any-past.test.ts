import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { createDatabase, openPostgres } from '../../../test/helpers/postgres.ts';
import { type Act, act, MANY_PRS, perform, settings } from '../../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { PastWorld } from '../../../test/worlds/shell/past-world.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { QueueEvent } from '../../engine/model/event.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { Store } from '../../storage/store.ts';
import { candidateIdOf } from '../core/entry-id.ts';

const PRS = Array.from({ length: MANY_PRS }, (_, index) => index + 1);
/** Happenings beside the events of the queue. */
const ASIDES = [
  'wait',
  'restart',
  'pack',
  'retry',
  'park',
  'done',
  'unpark',
  'down',
  'up',
  'alarm',
  'end',
  'rename',
] as const;
const aside = fc.constantFrom('nothing', ...ASIDES);
type Aside = typeof aside extends fc.Arbitrary<infer Kind> ? Kind : never;

interface History {
  readonly settings: Partial<QueueSettings>;
  readonly acts: readonly Act[];
  readonly asides: readonly Aside[];
  /** How many events share a commit, in turn. */
  readonly sizes: readonly number[];
}

const history: fc.Arbitrary<History> = fc.record({
  settings,
  acts: fc.array(act, { minLength: 20, maxLength: 120, size: 'max' }),
  asides: fc.array(aside, { minLength: 1, maxLength: 40 }),
  sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 }),
});

/** Each event has an instant of its own, so that there is an instant after each. */
function eventsOf({ settings: given, acts }: History): readonly QueueEvent[] {
  const story = new Scenario(given);
  for (const each of acts) perform(story, each);
  return story.events.map((event, index) => ({ ...event, at: event.at + index }));
}

async function play(store: Store, told: History): Promise<void> {
  const world = await PastWorld.create(store, told.settings);
  const runIds = [undefined, ...[1, 2, 3, 5].map((number) => candidateIdOf(world.queueId, number as CandidateNumber))];
  const events = eventsOf(told);
  for (let from = 0, turn = 0; from < events.length; turn += 1) {
    const size = told.sizes[turn % told.sizes.length] ?? 1;
    await world.happen(events.slice(from, from + size));
    from += size;
    await happenAside(world, told.asides[turn % told.asides.length] ?? 'nothing');
    if (turn % 3 === 0) await world.remember(PRS, runIds);
  }
  await world.checkAll(PRS, runIds);
  await checkRetention(world, runIds);
}

/** The oldest half goes: nothing later changes, and what is gone is said to be gone. */
async function checkRetention(world: PastWorld, runIds: readonly (string | undefined)[]): Promise<void> {
  const { store, queueId, given } = world;
  await store.past.expire(given[Math.floor(given.length / 2)]?.at ?? 0, 1_000);
  const begin = await store.past.findBegin(queueId);
  const kept = given.filter(({ at }) => at >= (begin?.at ?? 0));
  for (const { at, texts } of kept) {
    const again = await world.answer(PRS, runIds, at);
    const same = again.map((text, index) => (isGone(text) ? texts[index] : text));
    assert.deepEqual({ at, texts: same }, { at, texts });
  }
  const [oldest] = given;
  if (oldest === undefined || oldest.at >= (begin?.at ?? 0)) return;
  assert.ok((await world.answer(PRS, runIds, oldest.at)).every(isGone));
}

function isGone(text: string): boolean {
  return text.includes('"code":"PAST_NOT_KEPT"');
}

async function happenAside(world: PastWorld, kind: Aside): Promise<void> {
  const { store, queueId } = world;
  if (kind === 'restart') await world.restart();
  else if (kind === 'pack') await world.pack({ bytes: 1, before: world.now - 60_000, now: world.now });
  else if (kind === 'unpark') await store.effects.unpark(queueId, world.now);
  else if (kind === 'wait') world.pass(30_000);
  else if (kind === 'down' || kind === 'up') await world.poll(kind === 'down');
  else if (kind === 'alarm' || kind === 'end') await world.alarm(kind === 'end');
  else if (kind === 'rename') await world.rename();
  else if (kind !== 'nothing') await world.settleEffect(kind as 'retry' | 'park' | 'done');
}

function bounds(runs: number): { readonly numRuns: number; readonly interruptAfterTimeLimit: number } {
  const factor = Number(process.env.PROPERTY_RUNS ?? 1);
  return { numRuns: runs * factor, interruptAfterTimeLimit: 40_000 * factor };
}

describe('the past of a queue', () => {
  it('answers for every instant as the queue answered then, after any history since [Y2] [Y4]', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (told) => {
        const store = createMemoryStore();
        try {
          await play(store, told);
        } finally {
          await store.close();
        }
      }),
      bounds(12),
    );
  });

  it('answers for every instant as the queue answered then, on PostgreSQL too [Y2]', async (t: TestContext) => {
    await fc.assert(
      fc.asyncProperty(history, async (told) => play(await openPostgres(t, await createDatabase()), told)),
      { ...bounds(2), endOnFailure: true },
    );
  });
});
