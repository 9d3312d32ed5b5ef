import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ParseTurns } from './read-json.ts';

describe('parsing bodies', () => {
  it('parses a small one at once, and large ones one after the other with others in between [H15]', async () => {
    const turns = new ParseTurns();
    const seen: string[] = [];
    const over = new Promise<void>((resolve) => {
      turns.run(1_000_000, () => {
        seen.push('first');
        setImmediate(() => seen.push('somebody else'));
      });
      turns.run(1_000_000, () => {
        seen.push('second');
        resolve();
      });
    });
    turns.run(100, () => seen.push('small'));
    await over;
    await nextTurn();
    assert.deepEqual(seen, ['small', 'first', 'somebody else', 'second']);
  });
});
