import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PullRequestPages } from '../../../test/fake/pull-request-pages.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CheckRunDraft, CommentDraft } from '../../forge/hosting.ts';
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

function aWriter() {
  const pages = new PullRequestPages();
  return { pages, writer: createPairedWriter(pages) };
}

describe('the writers of a comment and a check', () => {
  it('write as one, once, and then each by itself [G45] [G48]', async () => {
    const { pages, writer } = aWriter();
    const [first, second] = await Promise.all([writer.writeComment(comment), writer.writeCheck(check)]);
    assert.equal(pages.together, 1);
    await writer.writeComment({ ...comment, ...first, text: 'again' });
    await writer.writeCheck({ ...check, ...second });
    assert.deepEqual([pages.together, pages.acts], [1, ['comment', 'check', 'comment', 'check']]);
  });

  it('do not wait for a part that has nothing to write [G49]', async () => {
    for (const part of ['comment', 'check'] as const) {
      const { pages, writer } = aWriter();
      const written = part === 'comment' ? writer.writeCheck(check) : writer.writeComment(comment);
      writer.skip(part);
      await written;
      assert.deepEqual([pages.together, pages.acts.length], [0, 1]);
    }
  });

  it('each fail only with their own part [G49]', async () => {
    const { pages, writer } = aWriter();
    pages.failing.add('comment');
    const [first, second] = await Promise.allSettled([writer.writeComment(comment), writer.writeCheck(check)]);
    assert.deepEqual([first.status, second.status, pages.together], ['rejected', 'fulfilled', 1]);
  });
});
