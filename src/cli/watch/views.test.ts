import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { redraw } from './views.ts';

const show = (text: string): string => text.replaceAll('\u001b[', '^');

describe('redraw [W2]', () => {
  it('draws over the lines before, and clears what is left of them', () => {
    assert.equal(show(redraw([], ['a', 'b'], 80)), '\ra^K\nb^K\n^J');
    assert.equal(show(redraw(['a', 'b'], ['c'], 80)), '^2A\rc^K\n^J');
  });

  it('goes up further where the terminal became narrower and wrapped them; colours have no width', () => {
    const before = ['', 'x'.repeat(80), `\u001b[31m${'y'.repeat(40)}\u001b[39m`, '日'.repeat(21)];
    assert.equal(show(redraw(before, [], 40)), '^6A\r^J');
  });
});
