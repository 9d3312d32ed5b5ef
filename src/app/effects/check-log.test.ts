import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { CheckLog } from './check-log.ts';

const KEY = { candidateId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', check: 'test' };
const MIB = 1024 * 1024;

function create(size = 0) {
  const store = createMemoryStore();
  const warnings: string[] = [];
  const ignore = () => undefined;
  const log = { debug: ignore, info: ignore, warn: (_: object, text: string) => warnings.push(text), error: ignore };
  const app = { store, clock: systemClock, log };
  const read = async () => Buffer.from((await store.logs.read(KEY, 0, 100 * MIB))?.bytes ?? []);
  return { store, warnings, app, read, log: new CheckLog(app, KEY, size) };
}

describe('the log of a check', () => {
  it('[R5] holds the output of the check in order, and a last line', async () => {
    const { log, read } = create();
    for (let count = 0; count < 1_000; count += 1) await log.add(Buffer.from(`${count}\n`));
    await log.end('done\n');
    const expected = [...Array.from({ length: 1_000 }, (_, count) => String(count)), 'done', ''].join('\n');
    assert.equal((await read()).toString(), expected);
  });

  it('[R5] is readable before it ends', async () => {
    const { log, read } = create();
    await log.add(Buffer.alloc(70_000, 'a'));
    assert.equal((await read()).length, 70_000);
    await log.end('');
  });

  it('[R5] leaves out the middle, to the byte', async () => {
    const { log, read } = create();
    const total = 7 * MIB + 13;
    const bytes = Buffer.from(Uint8Array.from({ length: total }, (_, index) => (index * 31) % 251));
    for (let start = 0; start < total; start += 9_999) await log.add(bytes.subarray(start, start + 9_999));
    await log.end('done\n');
    const kept = await read();
    assert.deepEqual(kept.subarray(0, 2 * MIB), bytes.subarray(0, 2 * MIB));
    const rest = kept.subarray(2 * MIB).toString('latin1');
    const [note = '', leftOut] = /^\n\[(\d+) bytes are left out here\]\n/.exec(rest) ?? [];
    const tail = kept.subarray(2 * MIB + note.length, -5);
    assert.equal(Number(leftOut) + tail.length, total - 2 * MIB);
    assert.ok(tail.length >= 2 * MIB && tail.length < 2 * MIB + 10_000);
    assert.deepEqual(tail, bytes.subarray(total - tail.length));
  });

  it('[R5] counts what an interrupted attempt wrote', async () => {
    const { log, read } = create(2 * MIB);
    await log.add(Buffer.from('hello\n'));
    await log.end('done\n');
    assert.equal((await read()).toString(), 'hello\ndone\n');
  });

  it('[R5] is worth less than the check: a store that is away loses it, and says so', async () => {
    const { app, warnings, store } = create();
    store.logs.append = () => Promise.reject(new Fault('STORE_UNAVAILABLE', 'It is away.'));
    const log = new CheckLog(app, KEY, 0);
    await log.add(Buffer.alloc(100_000));
    await log.end('done\n');
    assert.equal(warnings.length, 2);
  });
});
