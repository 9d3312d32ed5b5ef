import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test } from 'node:test';
import type { HintRow, HintStore, StoredHint } from '../../src/storage/hints.ts';
import type { WorkClaim } from '../../src/storage/leased-work.ts';
import { madeOnce } from '../helpers/made.ts';
import { pluck } from '../helpers/pluck.ts';
import { NOON, type OpenStore } from '../helpers/store-rows.ts';

const MINUTE_MS = 60_000;

export function aHint(values: Partial<HintRow> = {}): HintRow {
  return {
    key: randomUUID(),
    host: 'github.com',
    kind: 'pull_request',
    body: '{"n":1}',
    receivedAt: NOON,
    dueAt: NOON,
    ...values,
  };
}

/** Claims are of all hosts, so these tests have a store of their own, in which each finds nothing to claim. */
export function hintPromises(open: () => Promise<OpenStore>): void {
  const opened = madeOnce(() => open());
  afterEach(async () => {
    const { hints } = opened.store;
    await hints.endLeases();
    for (const each of await hints.claim(aClaim('last', { now: NOON * 2 }))) {
      await hints.settle(each, 'last', { kind: 'done' });
    }
    await hints.tidy(NOON * 2);
    assert.equal(await hints.findNextDueAt(), undefined);
  });

  const world: HintWorld = {
    hints: () => opened.store.hints,
    claim: (holder, values = {}) => opened.store.hints.claim(aClaim(holder, values)),
  };
  additionPromises(world);
  duePromises(world);
  settlementPromises(world);
  memoryPromises(world);
  leasePromises(world);
}

interface HintWorld {
  hints(): HintStore;
  /** As at NOON, for a minute. */
  claim(holder: string, values?: Partial<WorkClaim>): Promise<readonly StoredHint[]>;
}

function aClaim(holder: string, values: Partial<WorkClaim>): WorkClaim {
  const now = values.now ?? NOON;
  return { holder, now, leaseUntil: now + MINUTE_MS, limit: 1_000, ...values };
}

function asStored(hint: HintRow, values: Partial<StoredHint> = {}): StoredHint {
  return { ...hint, version: 1, attempts: 0, ...values };
}

async function claimOne({ claim }: HintWorld, holder: string, now = NOON): Promise<StoredHint> {
  const claimed = await claim(holder, { now });
  assert.equal(claimed.length, 1);
  return claimed[0] as StoredHint;
}

function additionPromises(world: HintWorld): void {
  const { hints, claim } = world;
  test('a waiting hint takes the new body, the earlier due time and a new version', async () => {
    const hint = aHint({ dueAt: NOON + 5 });
    assert.equal(await hints().add([hint]), 1);
    const again = { ...hint, kind: 'label', body: '{"é":"\u{1f600}"}', receivedAt: NOON + 1, dueAt: NOON + 9 };
    assert.equal(await hints().add([again]), 1);
    assert.deepEqual(await claim('x', { now: NOON + 5 }), [asStored({ ...again, dueAt: NOON + 5 }, { version: 2 })]);
  });

  test('the same body told of again was heard when it was heard first', async () => {
    const hint = aHint();
    await hints().add([hint]);
    await hints().add([{ ...hint, receivedAt: NOON + 9, dueAt: NOON - 9 }]);
    assert.deepEqual(await claim('x'), [asStored({ ...hint, dueAt: NOON - 9 }, { version: 2 })]);
  });

  test('one call may hold several of one key, and the same key of two hosts', async () => {
    const hint = aHint({ key: 'k', dueAt: NOON - 1 });
    const [last, other] = [
      { ...hint, body: '{"n":2}', dueAt: NOON },
      { ...hint, host: 'other.host' },
    ];
    assert.equal(await hints().add([hint, other, last]), 2);
    assert.deepEqual(await claim('x'), [asStored({ ...last, dueAt: NOON - 1 }), asStored(other)]);
    assert.equal(await hints().add([]), 0);
  });

  test('many are kept in one write', async () => {
    const many = Array.from({ length: 700 }, (_, n) => aHint({ key: `many ${n}` }));
    assert.equal(await hints().add(many), 700);
    assert.equal((await claim('x', { limit: 1_000 })).length, 700);
  });

  test('many who tell of the same at once leave one', async () => {
    const pair = [aHint({ key: 'b' }), aHint({ key: 'a' })];
    await Promise.all(Array.from({ length: 12 }, (_, n) => hints().add(n % 2 === 0 ? pair : pair.toReversed())));
    const claimed = await claim('x');
    assert.deepEqual(pluck(claimed, 'key', 'version'), [
      ['a', 12],
      ['b', 12],
    ]);
  });

  test('ensuring inserts, and has one that waits looked at earlier', async () => {
    const hint = aHint({ dueAt: NOON + 9 });
    await hints().ensure(hint);
    await hints().ensure({ ...hint, body: 'new', dueAt: NOON + 20 });
    assert.equal(await hints().findNextDueAt(), NOON + 9);
    await hints().ensure({ ...hint, body: 'new', dueAt: NOON });
    assert.deepEqual(await claim('x'), [asStored({ ...hint, dueAt: NOON })]);
    await hints().settle(asStored(hint), 'x', { kind: 'postpone', dueAt: NOON + 30 });
    assert.equal(await hints().findNextDueAt(), NOON + 30);
  });

  test('a hint that is ensured during a look is looked at again', async () => {
    const hint = aHint();
    await hints().ensure(hint);
    const claimed = await claimOne(world, 'x');
    await hints().ensure({ ...hint, body: 'new', dueAt: NOON + 9 });
    assert.equal(await hints().settle(claimed, 'x', { kind: 'done' }), 'again');
    assert.deepEqual(await claim('x'), [asStored(hint, { version: 2 })]);
  });

  test('a hint that is ensured during a look has the body that the look leaves', async () => {
    const hint = aHint();
    await hints().ensure(hint);
    const claimed = await claimOne(world, 'x');
    await hints().ensure({ ...hint, body: 'new' });
    const later = { kind: 'postpone', dueAt: NOON + 9, body: '{"since":7}' } as const;
    assert.equal(await hints().settle(claimed, 'x', later), 'again');
    assert.deepEqual(await claim('x'), [asStored({ ...hint, body: '{"since":7}' }, { version: 2 })]);
  });
}

function duePromises({ hints, claim }: HintWorld): void {
  test('those that are due are counted by host, with the oldest, whoever holds them', async () => {
    assert.deepEqual(await hints().countDue(NOON), []);
    const rows = [-9, -5, 0, 1].map((offset) => aHint({ dueAt: NOON + offset }));
    await hints().add([...rows, aHint({ host: 'ghe.test', dueAt: NOON - 3 })]);
    const [oldest] = await claim('x');
    assert.deepEqual([await hints().countOverdue(NOON), await hints().countOverdue(NOON - 5)], [3, 1]);
    assert.ok(oldest);
    assert.equal(await hints().settle(oldest, 'x', { kind: 'remember', until: NOON + 1 }), 'settled');
    const counted = (await hints().countDue(NOON)).toSorted((a, b) => a.count - b.count);
    assert.deepEqual(counted, [
      { host: 'ghe.test', count: 1, oldestDueAt: NOON - 3 },
      { host: 'github.com', count: 2, oldestDueAt: NOON - 5 },
    ]);
  });
}

function settlementPromises(world: HintWorld): void {
  const { hints, claim } = world;
  test('a hint that is done is gone', async () => {
    await hints().add([aHint()]);
    const claimed = await claimOne(world, 'x');
    assert.equal(await hints().settle(claimed, 'y', { kind: 'done' }), 'lost');
    assert.equal(await hints().settle(claimed, 'x', { kind: 'done' }), 'settled');
    assert.equal(await hints().settle(claimed, 'x', { kind: 'done' }), 'lost');
    assert.equal(await hints().findNextDueAt(), undefined);
  });

  test('a hint that arrives again during a look is looked at again [G129]', async () => {
    const hint = aHint();
    const told = { ...hint, body: '{"n":2}' };
    await hints().add([hint]);
    const claimed = await claimOne(world, 'x');
    await hints().add([told]);
    assert.deepEqual(await claim('y'), []);
    assert.equal(await hints().settle(claimed, 'x', { kind: 'done' }), 'again');
    const second = await claimOne(world, 'y');
    assert.deepEqual(second, asStored(told, { version: 2 }));
    await hints().add([hint]);
    const later = { kind: 'postpone', dueAt: NOON + 9 } as const;
    assert.equal(await hints().settle(second, 'y', later), 'again');
    assert.deepEqual(await claimOne(world, 'x'), asStored(hint, { version: 3 }));
  });

  test('later is not before its time, and may have another body', async () => {
    await hints().add([aHint()]);
    const claimed = await claimOne(world, 'x');
    const later = { kind: 'postpone', dueAt: NOON + 9, body: '{"since":7}' } as const;
    assert.equal(await hints().settle(claimed, 'x', later), 'settled');
    assert.deepEqual(await claim('x', { now: NOON + 8 }), []);
    const again = await claimOne(world, 'x', NOON + 9);
    assert.deepEqual(again, { ...claimed, dueAt: NOON + 9, body: '{"since":7}' });
    await hints().settle(again, 'x', { kind: 'postpone', dueAt: NOON });
    assert.equal((await claimOne(world, 'x')).body, '{"since":7}');
  });

  test('failures are counted until it is told of again and looked at', async () => {
    const hint = aHint();
    await hints().add([hint]);
    const failed = (dueAt: number) => ({ kind: 'retry', dueAt }) as const;
    await hints().settle(await claimOne(world, 'x'), 'x', failed(NOON + 1));
    const second = await claimOne(world, 'x', NOON + 1);
    assert.equal(second.attempts, 1);
    await hints().add([hint]);
    assert.equal(await hints().settle(second, 'x', failed(NOON + 5)), 'settled');
    assert.deepEqual(await claim('x', { now: NOON + 4 }), []);
    const third = await claimOne(world, 'x', NOON + 5);
    assert.equal(third.attempts, 2);
    await hints().add([hint]);
    assert.equal(await hints().settle(third, 'x', { kind: 'done' }), 'again');
    assert.equal((await claimOne(world, 'x', NOON + 5)).attempts, 0);
  });
}

function memoryPromises(world: HintWorld): void {
  const { hints, claim } = world;
  test('a remembered hint is not looked at again, also when it arrived during the look [G130]', async () => {
    const hint = aHint({ kind: 'comment' });
    await hints().add([hint]);
    const claimed = await claimOne(world, 'x');
    await hints().add([hint]);
    assert.equal(await hints().settle(claimed, 'x', { kind: 'remember', until: NOON + 10 }), 'settled');
    assert.equal(await hints().add([{ ...hint, receivedAt: NOON + 10 }, aHint()]), 1);
    await hints().ensure({ ...hint, dueAt: NOON - 1 });
    const [other, ...more] = await claim('x');
    assert.notEqual(other?.key, hint.key);
    assert.deepEqual(more, []);
  });

  test('a hint that was remembered long enough is new, tidied away or not', async () => {
    const hint = aHint();
    const remember = async () => {
      const claimed = await claimOne(world, 'x');
      await hints().settle(claimed, 'x', { kind: 'remember', until: NOON + 10 });
    };
    await hints().add([hint]);
    await remember();
    const told = { ...hint, receivedAt: NOON + 11, dueAt: NOON };
    assert.equal(await hints().add([told]), 1);
    assert.equal((await claimOne(world, 'y')).receivedAt, NOON + 11);
    await hints().endLeases('y');
    await remember();
    assert.equal(await hints().tidy(NOON + 10), 0);
    assert.equal(await hints().tidy(NOON + 11), 1);
    assert.equal(await hints().add([hint]), 1);
    assert.equal((await claimOne(world, 'x')).version, 1);
  });
}

function leasePromises(world: HintWorld): void {
  const { hints, claim } = world;
  test('a lease that ran out is no lease', async () => {
    await hints().add([aHint()]);
    const claimed = await claimOne(world, 'x');
    assert.deepEqual(await claim('y', { now: NOON + MINUTE_MS - 1 }), []);
    await claimOne(world, 'y', NOON + MINUTE_MS);
    assert.equal(await hints().settle(claimed, 'x', { kind: 'done' }), 'lost');
  });
}
