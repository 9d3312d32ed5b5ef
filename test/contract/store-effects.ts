import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { WorkClaim } from '../../src/storage/leased-work.ts';
import type { EffectRow, EffectStore, QueueId, QueueStore } from '../../src/storage/queues.ts';
import { madeOnce } from '../helpers/made.ts';
import { pluck } from '../helpers/pluck.ts';
import { aCommit, anEffect, asStored, NOON, type OpenStore, storeQueue } from '../helpers/store-rows.ts';

const MINUTE_MS = 60_000;

/** Claims are of all queues, so these tests have a store of their own, in which each finds nothing to claim. */
export function effectPromises(open: () => Promise<OpenStore>): void {
  const opened = madeOnce(() => open());
  let used: QueueId[] = [];
  afterEach(async () => {
    const { queues, effects } = opened.store;
    for (const id of used) await queues.delete(id, (await queues.findVersion(id)) ?? 0, { at: NOON, by: 'ada' });
    used = [];
    assert.equal(await effects.findNextDueAt(), undefined);
  });

  const world: EffectWorld = {
    queues: () => opened.store.queues,
    outbox: () => opened.store.effects,
    async queueWith(...effects) {
      const { id } = await storeQueue(opened.store);
      used.push(id);
      await opened.store.queues.commit(aCommit(id, 1, { effects }));
      return id;
    },
    claim: (holder, values = {}) => opened.store.effects.claim(aClaim(holder, values)),
    claimIds: async (holder, values = {}) => (await world.claim(holder, values)).map(({ id }) => id),
    renew: async (holder, ids, until) => {
      const named = ids.map((id) => ({ id }));
      return pluck(await opened.store.effects.renewLeases(holder, named, until), 'id');
    },
  };
  claimPromises(world);
  streamPromises(world);
  leasePromises(world);
  renewalPromises(world);
  settlementPromises(world);
  parkingPromises(world);
  dueTimePromises(world);
  queuePromises(world);
  crowdPromises(world);
}

interface EffectWorld {
  queues(): QueueStore;
  outbox(): EffectStore;
  /** A new queue at version 2 with these effects. */
  queueWith(...effects: EffectRow[]): Promise<QueueId>;
  /** As at NOON, for a minute, of whatever is there. */
  claim(holder: string, values?: Partial<WorkClaim>): ReturnType<EffectStore['claim']>;
  claimIds(holder: string, values?: Partial<WorkClaim>): Promise<string[]>;
  renew(holder: string, ids: readonly string[], until: number): Promise<string[]>;
}

function aClaim(holder: string, values: Partial<WorkClaim>): WorkClaim {
  const now = values.now ?? NOON;
  return { holder, now, leaseUntil: now + MINUTE_MS, limit: 100, ...values };
}

function claimPromises({ queues, outbox, queueWith, claim, claimIds }: EffectWorld): void {
  test('a due effect is claimed as it is stored, whatever its queue', async () => {
    const [a, b] = [anEffect({ kind: 'notify', body: '{"a":1}' }), anEffect({ dueAt: NOON - 1 })];
    const ofA = await queueWith(a, anEffect({ dueAt: NOON + 1 }));
    const ofB = await queueWith(b);
    assert.deepEqual(await claim('x'), [asStored(ofB, b), asStored(ofA, a)]);
    assert.deepEqual((await outbox().list(ofA))[0], asStored(ofA, a));
    assert.deepEqual(await claim('x'), []);
  });

  test('the effect that is due longest comes first, then in the order of storing', async () => {
    const at = (minutes: number) => anEffect({ dueAt: NOON + minutes * MINUTE_MS });
    const [a, b, c, d, e] = [at(-1), at(-2), at(-1), at(-3), at(-1)] as const;
    const id = await queueWith(a, b);
    await queues().commit(aCommit(id, 2, { effects: [c, d, e] }));
    assert.deepEqual(await claimIds('x', { limit: 0 }), []);
    assert.deepEqual(await claimIds('x', { limit: 2 }), [d.id, b.id]);
    assert.deepEqual(await claimIds('y'), [a.id, c.id, e.id]);
    assert.deepEqual(pluck(await outbox().list(id), 'id'), [a.id, b.id, c.id, d.id, e.id]);
  });

  test('claims at once get different effects', async () => {
    const effects = Array.from({ length: 60 }, () => anEffect());
    await queueWith(...effects.slice(0, 30));
    await queueWith(...effects.slice(30));
    const claims = Array.from({ length: 10 }, (_, index) => claimIds(`holder-${index}`, { limit: 7 }));
    const claimed = (await Promise.all(claims)).flat();
    const rest = await claimIds('last');
    assert.equal(new Set([...claimed, ...rest]).size, claimed.length + rest.length);
    assert.deepEqual([...claimed, ...rest].sort(), effects.map(({ id }) => id).sort());
  });
}

function streamPromises({ queues, outbox, queueWith, claimIds }: EffectWorld): void {
  test('effects of a stream follow each other, those of others do not wait', async () => {
    const inStream = (stream: string) => anEffect({ stream });
    const [a1, a2, b1, a3, b2] = [inStream('a'), inStream('a'), inStream('b'), inStream('a'), inStream('b')] as const;
    const id = await queueWith(a1, a2, b1);
    await queues().commit(aCommit(id, 2, { effects: [a3, b2] }));
    assert.deepEqual(await claimIds('x'), [a1.id, b1.id]);
    assert.deepEqual(await claimIds('y'), []);
    await outbox().settle({ id: a1.id }, 'x', { kind: 'done' });
    assert.deepEqual(await claimIds('y'), [a2.id]);
    await outbox().settle({ id: b1.id }, 'x', { kind: 'done' });
    await outbox().settle({ id: a2.id }, 'y', { kind: 'done' });
    assert.deepEqual(await claimIds('x'), [a3.id, b2.id]);
  });

  test('streams of different queues have nothing to do with each other', async () => {
    const [a, b] = [anEffect({ stream: 's' }), anEffect({ stream: 's' })];
    await queueWith(a);
    await queueWith(b);
    assert.deepEqual((await claimIds('x')).sort(), [a.id, b.id].sort());
  });

  test('a first one that is not due yet blocks its stream', async () => {
    const first = anEffect({ stream: 's', dueAt: NOON + 1 });
    const second = anEffect({ stream: 's' });
    await queueWith(first, second);
    assert.deepEqual(await claimIds('x'), []);
    assert.equal(await outbox().findNextDueAt(), NOON + 1);
    assert.deepEqual(await claimIds('x', { now: NOON + 1 }), [first.id]);
  });

  test('an effect that is asked for again keeps its place, its lease and its attempts', async () => {
    const [first, second] = [anEffect({ stream: 's' }), anEffect({ stream: 's' })];
    const id = await queueWith(first, second);
    await claimIds('x');
    await outbox().settle({ id: first.id }, 'x', { kind: 'retry', dueAt: NOON, error: 'no' });
    await claimIds('x');
    const again = { ...first, kind: 'other', dueAt: NOON - 5, body: '{"n":2}' };
    await queues().commit(aCommit(id, 2, { effects: [{ ...again, stream: 'another' }] }));
    const expected = asStored(id, again, { attempts: 1, lastError: 'no' });
    assert.deepEqual(await outbox().list(id), [expected, asStored(id, second)]);
    assert.deepEqual(await claimIds('y'), []);
    assert.equal(await outbox().settle({ id: first.id }, 'x', { kind: 'done' }), 'settled');
  });
}

function leasePromises({ queues, outbox, queueWith, claim, claimIds }: EffectWorld): void {
  test('a lease that is over is taken over, and its holder has lost it', async () => {
    const effect = anEffect();
    const id = await queueWith(effect);
    assert.deepEqual(await claimIds('x', { leaseUntil: NOON + 10 }), [effect.id]);
    for (const holder of ['x', 'y']) assert.deepEqual(await claimIds(holder, { now: NOON + 9 }), []);
    assert.deepEqual(await claim('y', { now: NOON + 10 }), [asStored(id, effect)]);
    const settlements = [
      { kind: 'done' },
      { kind: 'retry', dueAt: NOON, error: 'no' },
      { kind: 'postpone', dueAt: NOON },
      { kind: 'park', at: NOON, error: 'no' },
    ] as const;
    for (const settlement of settlements) {
      assert.equal(await outbox().settle({ id: effect.id }, 'x', settlement), 'lost');
      assert.deepEqual(await outbox().list(id), [asStored(id, effect)]);
    }
    assert.deepEqual(await claimIds('x', { now: NOON + 11 }), []);
    assert.equal(await outbox().settle({ id: effect.id }, 'y', { kind: 'done' }), 'settled');
    assert.deepEqual(await outbox().list(id), []);
  });

  test('all leases are ended where their holders are known to be dead', async () => {
    const [a, b] = [anEffect(), anEffect()];
    // Deleted queues of other tests may have some too.
    await outbox().endLeases();
    await queueWith(a, b);
    await claim('x');
    assert.deepEqual(await claimIds('y'), []);
    assert.equal(await outbox().endLeases(), 2);
    assert.deepEqual(await claimIds('y'), [a.id, b.id]);
    assert.equal(await outbox().settle({ id: a.id }, 'x', { kind: 'done' }), 'lost');
    assert.equal(await outbox().endLeases(), 2);
    assert.equal(await outbox().endLeases(), 0);
  });

  test('the leases of one holder are ended, and no other', async () => {
    const [a, b] = [anEffect(), anEffect()];
    await queueWith(a);
    await claim('dead');
    await queueWith(b);
    await claim('alive');
    assert.equal(await outbox().endLeases('nobody'), 0);
    assert.equal(await outbox().endLeases('dead'), 1);
    assert.deepEqual(await claimIds('y'), [a.id]);
    assert.equal(await outbox().settle({ id: b.id }, 'alive', { kind: 'done' }), 'settled');
  });

  test('a lease that is over, but nobody took, can still be settled', async () => {
    const effect = anEffect();
    const id = await queueWith(effect);
    await claimIds('x', { leaseUntil: NOON + 10 });
    assert.equal(await outbox().findNextDueAt(), NOON + 10);
    assert.equal(await outbox().settle({ id: effect.id }, 'x', { kind: 'done' }), 'settled');
    assert.deepEqual(await outbox().list(id), []);
  });

  test('only what is claimed can be settled, and only once', async () => {
    const [effect, other] = [anEffect(), anEffect({ dueAt: NOON + 1 })];
    const id = await queueWith(effect, other);
    const settle = (effectId: string) => outbox().settle({ id: effectId }, 'x', { kind: 'postpone', dueAt: NOON + 5 });
    assert.equal(await settle(effect.id), 'lost');
    await claimIds('x');
    assert.equal(await settle(effect.id), 'settled');
    assert.equal(await settle(effect.id), 'lost');
    assert.equal(await settle(other.id), 'lost');
    assert.equal(await settle('nothing'), 'lost');
    assert.deepEqual(await outbox().list(id), [asStored(id, { ...effect, dueAt: NOON + 5 }), asStored(id, other)]);
  });

  test('a commit may end an effect that is leased, and its holder has lost it', async () => {
    const effect = anEffect();
    const id = await queueWith(effect);
    await claimIds('x');
    await queues().commit(aCommit(id, 2, { doneEffects: [effect.id] }));
    assert.deepEqual(await outbox().list(id), []);
    assert.equal(await outbox().settle({ id: effect.id }, 'x', { kind: 'retry', dueAt: NOON, error: 'no' }), 'lost');
    assert.deepEqual(await outbox().list(id), []);
  });
}

function renewalPromises({ queues, outbox, queueWith, claim, claimIds, renew }: EffectWorld): void {
  test('leases are prolonged by their holder, and effects stay as they are', async () => {
    const [a, b, c] = [anEffect(), anEffect(), anEffect()];
    const id = await queueWith(a, b);
    const other = await queueWith(c);
    await claimIds('x', { leaseUntil: NOON + 10 });
    assert.deepEqual(await renew('x', [c.id, a.id, c.id], NOON + 20), [c.id, a.id]);
    assert.equal(await outbox().findNextDueAt(), NOON + 10);
    assert.deepEqual(await claimIds('y', { now: NOON + 19 }), [b.id]);
    // Of two queues either may come first.
    const claimed = new Map((await claim('y', { now: NOON + 20 })).map((effect) => [effect.id, effect]));
    assert.deepEqual([claimed.get(a.id), claimed.get(c.id)], [asStored(id, a), asStored(other, c)]);
    assert.equal(claimed.size, 2);
  });

  test('a renewal leaves leases of other holders alone', async () => {
    const [mine, done, settled, unclaimed] = [anEffect(), anEffect(), anEffect(), anEffect({ dueAt: NOON + 1 })];
    const id = await queueWith(mine, done, settled, unclaimed);
    await claimIds('x', { leaseUntil: NOON + 10 });
    await outbox().settle({ id: done.id }, 'x', { kind: 'done' });
    await outbox().settle({ id: settled.id }, 'x', { kind: 'postpone', dueAt: NOON + 2 });
    const ids = [mine, done, settled, unclaimed].map((effect) => effect.id);
    assert.deepEqual(await renew('y', ids, NOON + 20), []);
    assert.deepEqual(await renew('x', [], NOON + 20), []);
    assert.deepEqual(await renew('x', ['nothing', ...ids], NOON + 20), [mine.id]);
    assert.deepEqual(await claimIds('y', { now: NOON + 19 }), [unclaimed.id, settled.id]);
    await queues().commit(aCommit(id, 2, { doneEffects: [mine.id] }));
    assert.deepEqual(await renew('x', [mine.id], NOON + 30), []);
  });

  test('a lease that ran out is prolonged until somebody else takes it', async () => {
    const effect = anEffect();
    await queueWith(effect);
    await claimIds('x', { leaseUntil: NOON + 10 });
    assert.deepEqual(await renew('x', [effect.id], NOON + 50), [effect.id]);
    assert.deepEqual(await claimIds('y', { now: NOON + 49 }), []);
    assert.deepEqual(await claimIds('y', { now: NOON + 50 }), [effect.id]);
    assert.deepEqual(await renew('x', [effect.id], NOON * 2), []);
    assert.equal(await outbox().settle({ id: effect.id }, 'y', { kind: 'done' }), 'settled');
  });

  test('of a renewal and a claim at once one gets it', async () => {
    for (let round = 0; round < 20; round++) {
      const effect = anEffect();
      await queueWith(effect);
      await claimIds('x', { leaseUntil: NOON });
      const [renewed, claimed] = await Promise.all([
        renew('x', [effect.id], NOON + 50),
        claimIds('y', { leaseUntil: NOON + 50 }),
      ]);
      assert.equal(renewed.length + claimed.length, 1);
      const holder = renewed.length === 1 ? 'x' : 'y';
      assert.equal(await outbox().settle({ id: effect.id }, holder, { kind: 'done' }), 'settled');
    }
  });
}

function settlementPromises({ outbox, queueWith, claim, claimIds }: EffectWorld): void {
  test('a retry counts, and waits until it is due', async () => {
    const [effect, next] = [anEffect({ stream: 's' }), anEffect({ stream: 's' })];
    const id = await queueWith(effect, next);
    for (let attempts = 1; attempts <= 3; attempts++) {
      const now = NOON + attempts * 100;
      await claimIds('x', { now });
      const retry = { kind: 'retry', dueAt: now + 10, error: `failed ${attempts}` } as const;
      assert.equal(await outbox().settle({ id: effect.id }, 'x', retry), 'settled');
      const tried = asStored(id, { ...effect, dueAt: now + 10 }, { attempts, lastError: `failed ${attempts}` });
      assert.deepEqual(await outbox().list(id), [tried, asStored(id, next)]);
      assert.deepEqual(await claimIds('y', { now: now + 9 }), []);
      assert.deepEqual(await claim('y', { now: now + 10, leaseUntil: now + 20 }), [tried]);
    }
  });

  test('a postponement does not count', async () => {
    const effect = anEffect();
    const id = await queueWith(effect);
    await claimIds('x');
    await outbox().settle({ id: effect.id }, 'x', { kind: 'retry', dueAt: NOON, error: 'no' });
    await claimIds('x');
    assert.equal(await outbox().settle({ id: effect.id }, 'x', { kind: 'postpone', dueAt: NOON + 7 }), 'settled');
    const expected = asStored(id, { ...effect, dueAt: NOON + 7 }, { attempts: 1, lastError: 'no' });
    assert.deepEqual(await outbox().list(id), [expected]);
    assert.deepEqual(await claim('x', { now: NOON + 6 }), []);
    assert.deepEqual(await claim('x', { now: NOON + 7 }), [expected]);
  });

  test('of two settlements at once one counts', async () => {
    const effect = anEffect();
    await queueWith(effect);
    await claimIds('x');
    const outcomes = await Promise.all([1, 2, 3].map(() => outbox().settle({ id: effect.id }, 'x', { kind: 'done' })));
    assert.deepEqual(outcomes.sort(), ['lost', 'lost', 'settled']);
  });
}

function parkingPromises({ queues, outbox, queueWith, claim, claimIds }: EffectWorld): void {
  test('a parked effect is shown, blocks its stream, and waits', async () => {
    const [effect, next, other] = [anEffect({ stream: 's' }), anEffect({ stream: 's' }), anEffect()];
    const id = await queueWith(effect, next, other);
    await claimIds('x');
    await outbox().settle({ id: other.id }, 'x', { kind: 'done' });
    assert.equal(
      await outbox().settle({ id: effect.id }, 'x', { kind: 'park', at: NOON + 3, error: 'why' }),
      'settled',
    );
    const parked = asStored(id, effect, { attempts: 1, lastError: 'why', parkedAt: NOON + 3 });
    assert.deepEqual(await outbox().list(id), [parked, asStored(id, next)]);
    const { waiting, parked: count, oldestDueAt } = await outbox().measure();
    assert.ok(waiting >= 2 && count >= 1 && oldestDueAt !== null);
    assert.deepEqual(await claimIds('x', { now: NOON * 2 }), []);
    assert.equal(await outbox().findNextDueAt(), undefined);
    await queues().commit(aCommit(id, 2, { doneEffects: [effect.id] }));
    assert.deepEqual(await claim('x'), [asStored(id, next)]);
  });

  test('parked effects of a queue are made due again, from their first attempt', async () => {
    const [a, b, c] = [anEffect(), anEffect(), anEffect()];
    const [id, other] = [await queueWith(a, b), await queueWith(c)];
    const waiting = anEffect({ dueAt: NOON + MINUTE_MS });
    await queues().commit(aCommit(id, 2, { effects: [waiting] }));
    for (const effect of await claim('x')) {
      await outbox().settle({ id: effect.id }, 'x', { kind: 'park', at: NOON, error: 'why' });
    }
    assert.equal(await outbox().unpark('nothing' as QueueId, NOON), 0);
    assert.equal(await outbox().unpark(id, NOON + 9), 2);
    assert.equal(await outbox().unpark(id, NOON + 10), 0);
    const [dueA, dueB] = [a, b].map((effect) => asStored(id, { ...effect, dueAt: NOON + 9 }));
    assert.deepEqual(await outbox().list(id), [dueA, dueB, asStored(id, waiting)]);
    const [left] = await outbox().list(other);
    assert.equal(left?.parkedAt, NOON);
    assert.deepEqual(await claim('x', { now: NOON + 8 }), []);
    assert.deepEqual(await claim('x', { now: NOON + 9 }), [dueA, dueB]);
  });
}

function dueTimePromises({ queues, outbox, queueWith, claimIds }: EffectWorld): void {
  test('the next due time is when something can be claimed', async () => {
    const nextAt = () => outbox().findNextDueAt();
    assert.equal(await nextAt(), undefined);
    const [soon, behind] = [anEffect({ stream: 's', dueAt: NOON + 5 }), anEffect({ stream: 's', dueAt: NOON - 99 })];
    const late = anEffect({ dueAt: NOON + 50 });
    await queueWith(late);
    assert.equal(await nextAt(), NOON + 50);
    await queueWith(soon, behind);
    assert.equal(await nextAt(), NOON + 5);
    await claimIds('x', { now: NOON + 5, leaseUntil: NOON + 20 });
    assert.equal(await nextAt(), NOON + 20);
    await outbox().settle({ id: soon.id }, 'x', { kind: 'retry', dueAt: NOON + 70, error: 'no' });
    assert.equal(await nextAt(), NOON + 50);
    await claimIds('x', { now: NOON + 50, leaseUntil: NOON + 100 });
    assert.equal(await nextAt(), NOON + 70);
    await claimIds('x', { now: NOON + 70, leaseUntil: NOON + 90 });
    assert.equal(await nextAt(), NOON + 90);
    await outbox().settle({ id: soon.id }, 'x', { kind: 'done' });
    assert.equal(await nextAt(), NOON - 99);
  });

  test('a lease that is over before the effect is due again tells nothing', async () => {
    const effect = anEffect();
    const id = await queueWith(effect);
    await claimIds('x', { leaseUntil: NOON + 5 });
    await queues().commit(aCommit(id, 2, { effects: [{ ...effect, dueAt: NOON + 60 }] }));
    assert.equal(await outbox().findNextDueAt(), NOON + 60);
    assert.deepEqual(await claimIds('y', { now: NOON + 59 }), []);
    assert.deepEqual(await claimIds('y', { now: NOON + 60 }), [effect.id]);
  });
}

function queuePromises({ queues, outbox, queueWith, claimIds }: EffectWorld): void {
  test('an effect of a deleted queue is never claimed, and stays', async () => {
    const [effect, parked] = [anEffect(), anEffect()];
    const id = await queueWith(parked, effect);
    await claimIds('x', { leaseUntil: NOON + 5 });
    await outbox().settle({ id: parked.id }, 'x', { kind: 'park', at: NOON, error: 'why' });
    assert.equal(await queues().delete(id, 2, { at: NOON, by: 'ada' }), 'deleted');
    assert.equal(await outbox().unpark(id, NOON), 0);
    assert.deepEqual(await claimIds('y', { now: NOON + MINUTE_MS }), []);
    assert.equal(await outbox().findNextDueAt(), undefined);
    const kept = asStored(id, parked, { attempts: 1, lastError: 'why', parkedAt: NOON });
    assert.deepEqual(await outbox().list(id), [kept, asStored(id, effect)]);
    assert.equal(await outbox().settle({ id: effect.id }, 'x', { kind: 'done' }), 'settled');
    assert.deepEqual(await outbox().list(id), [kept]);
  });
}

/** Last: PostgreSQL goes on with plans for a small table, so that every test after this one would take seconds. */
function crowdPromises({ outbox, queueWith, claimIds, renew }: EffectWorld): void {
  test('a thousand leases are prolonged at once', async () => {
    const effects = Array.from({ length: 1000 }, () => anEffect());
    await queueWith(...effects);
    await claimIds('x', { limit: 1000, leaseUntil: NOON + 10 });
    const ids = effects.map(({ id }) => id);
    assert.deepEqual(await renew('x', ids, NOON + 20), ids);
    assert.equal(await outbox().findNextDueAt(), NOON + 20);
  });
}
