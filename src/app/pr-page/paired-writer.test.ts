import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PullRequestPages } from '../../../test/helpers/pull-request-pages.ts';
import type { PrNumber } from '../../engine/pull-request.ts';
import type { CheckRunDraft, CommentDraft, Hosting } from '../../forge/hosting.ts';
import type { Sha } from '../../lib/sha.ts';
import { createPairedWriter } from './paired-writer.ts';

const repository = { id: 'r1', host: 'forge.test', owner: 'acme', name: 'app', git: undefined, checks: [] };
const comment: CommentDraft = { repository, number: 7 as PrNumber, id: undefined, text: 'hello' };
const check: CheckRunDraft = {
  repository,
  id: undefined,
  headSha: 'a'.repeat(40) as Sha,
  name: 'Sluice (main)',
  externalId: 'q/7/1',
  status: 'IN_PROGRESS',
  conclusion: undefined,
  title: 'In the queue',
  summary: '',
  url: undefined,
  startedAt: 0,
  completedAt: undefined,
};

function aPen() {
  const pages = new PullRequestPages();
  return { pages, pen: createPairedWriter(pages as unknown as Hosting) };
}

describe('one who writes a comment and one who writes a check', () => {
  it('write as one, once, and then each by itself [G45] [G48]', async () => {
    const { pages, pen } = aPen();
    const [first, second] = await Promise.all([pen.writeComment(comment), pen.writeCheck(check)]);
    assert.equal(pages.together, 1);
    await pen.writeComment({ ...comment, ...first, text: 'again' });
    await pen.writeCheck({ ...check, ...second });
    assert.deepEqual([pages.together, pages.acts], [1, ['comment', 'check', 'comment', 'check']]);
  });

  it('do not wait for a part that has nothing to write [G49]', async () => {
    for (const part of ['comment', 'check'] as const) {
      const { pages, pen } = aPen();
      const written = part === 'comment' ? pen.writeCheck(check) : pen.writeComment(comment);
      pen.skip(part);
      await written;
      assert.deepEqual([pages.together, pages.acts.length], [0, 1]);
    }
  });

  it('each hear of what went wrong with their own part [G49]', async () => {
    const { pages, pen } = aPen();
    pages.failing.add('comment');
    const [first, second] = await Promise.allSettled([pen.writeComment(comment), pen.writeCheck(check)]);
    assert.deepEqual([first.status, second.status, pages.together], ['rejected', 'fulfilled', 1]);
  });
});
