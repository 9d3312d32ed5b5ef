import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { LogKey } from '../../src/storage/logs.ts';
import type { Store } from '../../src/storage/store.ts';
import { NOON } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function logPromises(tests: StoreTests): void {
  appendPromises(tests);
  readPromises(tests);
  removalPromises(tests);
}

function aKey(values: Partial<LogKey> = {}): LogKey {
  return { candidateId: randomUUID(), check: 'unit', ...values };
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function readText(store: Store, key: LogKey, offset = 0, limit = 1_000_000): Promise<string | undefined> {
  const part = await store.logs.read(key, offset, limit);
  return part && new TextDecoder().decode(part.bytes);
}

function appendPromises({ inStore }: StoreTests): void {
  inStore('appended output is read back, byte by byte', async ({ logs }) => {
    const key = aKey();
    const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
    const parts = [everyByte, Uint8Array.from([0]), new Uint8Array(5000), Uint8Array.from(randomBytes(5000))];
    for (const part of parts) await logs.append(key, part, NOON);
    const whole = Uint8Array.from(Buffer.concat(parts));
    assert.deepEqual(await logs.read(key, 0, 20_000), { bytes: whole, size: whole.length });
  });

  inStore('logs are kept apart by candidate and check', async ({ store, logs }) => {
    const key = aKey({ check: 'a b' });
    const others = [aKey({ check: 'a b' }), { ...key, check: 'a' }, { ...key, check: '"é\u{1f600}' }];
    const keys = [key, ...others];
    for (const [index, each] of keys.entries()) await logs.append(each, bytesOf(`log ${index}`), NOON);
    for (const [index, each] of keys.entries()) assert.equal(await readText(store, each), `log ${index}`);
  });

  inStore('appends at once are stored in the order of the calls [D6]', async ({ store, logs }) => {
    const [key, other] = [aKey(), aKey()];
    const lines = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(index * 20)}\n`);
    await Promise.all(lines.flatMap((line) => [key, other].map((each) => logs.append(each, bytesOf(line), NOON))));
    for (const each of [key, other]) assert.equal(await readText(store, each), lines.join(''));
  });

  inStore('an append that is refused does not hold up the next', async ({ store, logs }) => {
    const [key, unusable] = [aKey(), aKey({ check: 'a\0b' })];
    const appends = [unusable, key, unusable, key].map((each) => logs.append(each, bytesOf('a'), NOON));
    const outcomes = (await Promise.allSettled(appends)).map(({ status }) => status);
    assert.deepEqual(outcomes, ['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    assert.equal(await readText(store, key), 'aa');
  });

  inStore('the buffer can be used again before it is stored', async ({ store, logs }) => {
    const key = aKey();
    const writes: Promise<void>[] = [];
    for (const size of [3, 1000, 200_000]) {
      const buffer = Buffer.alloc(size, 'a');
      writes.push(logs.append(key, buffer, NOON));
      buffer.fill('b');
    }
    await Promise.all(writes);
    assert.equal(await readText(store, key), 'a'.repeat(201_003));
  });

  inStore('no bytes are no log', async ({ store, logs }) => {
    const key = aKey();
    await logs.append(key, new Uint8Array(), NOON);
    assert.equal(await logs.read(key, 0, 10), undefined);
    await logs.append(key, bytesOf('a'), NOON);
    await logs.append(key, new Uint8Array(), NOON);
    await logs.append(key, bytesOf('b'), NOON);
    assert.equal(await readText(store, key), 'ab');
  });
}

function readPromises({ inStore }: StoreTests): void {
  inStore('a part is read, from any byte to any other', async ({ logs }) => {
    const key = aKey();
    const parts = ['one', ' two', ' ', 'three'.repeat(300), 'x'.repeat(70_000), ' four'];
    for (const part of parts) await logs.append(key, bytesOf(part), NOON);
    const whole = bytesOf(parts.join(''));
    const edges = [0, 1, 2, 3, 4, 7, 8, 9, 1507, 1508, 1509, 67_044, 71_507, 71_508, 71_512, 71_513];
    for (const offset of edges) {
      for (const limit of [0, 1, 3, 100, 65_536, 1_000_000]) {
        const expected = { bytes: whole.slice(offset, offset + limit), size: whole.length };
        assert.deepEqual(await logs.read(key, offset, limit), expected, `${limit} from ${offset}`);
      }
    }
  });

  inStore('nothing lies behind the end, until the log grows', async ({ logs }) => {
    const key = aKey();
    await logs.append(key, bytesOf('abc'), NOON);
    for (const offset of [3, 4, 1_000_000]) {
      assert.deepEqual(await logs.read(key, offset, 9), { bytes: new Uint8Array(), size: 3 });
    }
    await logs.append(key, bytesOf('def'), NOON);
    assert.deepEqual(await logs.read(key, 3, 9), { bytes: bytesOf('def'), size: 6 });
  });

  inStore('a check that never wrote has no log', async ({ logs }) => {
    const key = aKey();
    assert.equal(await logs.read(key, 0, 9), undefined);
    await logs.append(key, bytesOf('a'), NOON);
    assert.equal(await logs.read({ ...key, check: 'other' }, 0, 9), undefined);
  });

  inStore('a log of many pieces is followed while it grows [D6]', async ({ logs }) => {
    const key = aKey();
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index}\n`);
    const expected = lines.join('');
    const writing = (async () => {
      for (const line of lines) await logs.append(key, bytesOf(line), NOON);
    })();
    let followed = '';
    while (followed.length < expected.length) {
      const part = await logs.read(key, followed.length, 97);
      followed += new TextDecoder().decode(part?.bytes);
      assert.ok(expected.startsWith(followed));
      assert.ok((part?.size ?? 0) >= followed.length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    assert.equal(followed, expected);
  });
}

function removalPromises({ inStore }: StoreTests): void {
  inStore(
    'logs that ended before are removed whole, and those that grew since are kept whole [D11]',
    async ({ store, logs }) => {
      const [old, growing, edge] = [aKey(), aKey(), aKey()];
      for (const key of [old, growing]) {
        await logs.append(key, bytesOf('a'), 10);
        await logs.append(key, bytesOf('b'.repeat(1000)), 20);
      }
      await logs.append(growing, bytesOf('c'), 40);
      // A clock that was set back does not make a log older.
      await logs.append(growing, bytesOf('d'), 15);
      await logs.append(edge, bytesOf('e'), 30);
      assert.equal(await logs.removeBefore(30), 1);
      assert.equal(await logs.removeBefore(30), 0);
      assert.equal(await logs.read(old, 0, 9), undefined);
      assert.equal(await readText(store, growing), `a${'b'.repeat(1000)}cd`);
      assert.equal(await readText(store, edge), 'e');
      assert.equal(await logs.removeBefore(41), 2);
    },
  );

  inStore('a log that was removed begins anew', async ({ logs }) => {
    const key = aKey();
    await logs.append(key, bytesOf('before'), 10);
    assert.equal(await logs.removeBefore(11), 1);
    await logs.append(key, bytesOf('after'), NOON);
    assert.deepEqual(await logs.read(key, 0, 99), { bytes: bytesOf('after'), size: 5 });
  });

  inStore('many are removed at once', async ({ logs }) => {
    const keys = Array.from({ length: 120 }, () => aKey());
    for (const key of keys) await logs.append(key, bytesOf('a'), 10);
    assert.equal(await logs.removeBefore(11), 120);
    for (const key of keys) assert.equal(await logs.read(key, 0, 9), undefined);
  });
}
