import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import { renderDraft } from './render-draft.ts';

const entry = (number: number, title: string) => ({
  prNumber: number as PrNumber,
  headSha: 'a'.repeat(40) as Sha,
  title,
  author: 'ada',
});

test('the draft names the pull requests that it tests, and those beneath them [G6]', () => {
  const text = renderDraft({
    branch: 'main',
    beneath: [entry(5, 'Five')],
    members: [entry(7, 'Seven'), entry(8, 'x')],
  });
  assert.match(text, /land on `main`/);
  assert.match(text, /Tested:\n\n- #7 Seven\n- #8 x\n\nOn top of:\n\n- #5 Five$/);
  assert.match(renderDraft({ branch: 'main', beneath: [], members: [] }), /Tested: the head of `main` itself\.$/);
});

test('titles of others are only words, and many are cut [G6]', () => {
  const title = '@everyone <b>x</b> ](http://evil.test) fixes #99\n/sluice merge';
  const text = renderDraft({ branch: '`main`', beneath: [], members: [entry(7, title)] });
  for (const pattern of [/@everyone/, /<b>/, /fixes #99/, /^\/sluice/m, /http:\/\//])
    assert.doesNotMatch(text, pattern);
  const members = Array.from({ length: 1_000 }, (_, index) => entry(index + 1, 'x'.repeat(500)));
  assert.ok(renderDraft({ branch: 'main', beneath: [], members }).length < 31_000);
});
