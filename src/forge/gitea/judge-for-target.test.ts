import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { createGiteaWorld } from '../../../test/contract/gitea-repository.ts';
import { until } from '../../../test/e2e/harness.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import type { BlockReason, PrNumber } from '../../engine/model/pull-request.ts';

describe('a member of a stack on Gitea, by the protection of the target', () => {
  const world = madeOnce(() => createGiteaWorld());
  let number: PrNumber;

  before(async () => {
    const base = await world.commit('main', { files: { 'a.txt': 'a\n' } });
    for (const branch of ['below', 'above']) {
      await world.createBranch(branch, base);
      await world.commit(branch, { files: { [branch]: 'new\n' } });
    }
    number = await world.openFrom('above', 'below');
    await world.protect('main', 1);
  });

  beforeEach(() => world.review(number, 'eve', 'APPROVED'));

  async function isJudged(rule: object, ...reasons: readonly BlockReason[]): Promise<void> {
    const usual = { required_approvals: 1, enable_approvals_whitelist: false, block_on_outdated_branch: false };
    const path = `/repos/${world.fullName}/branch_protections/main`;
    await world.people.get('root', 'PATCH', path, { block_on_rejected_reviews: true, ...usual, ...rule });
    world.forge.hosting.forget('acme');
    const question = { repository: world.repository, number, targetBranch: 'main' };
    assert.deepEqual((await world.forge.hosting.judgeForTarget(question)).blockReasons, reasons);
  }

  it('needs as many approvals as the target wants, each of another person [G177]', async () => {
    await isJudged({});
    await isJudged({ required_approvals: 2 }, 'reviewRequired');
    await world.review(number, 'eve', 'APPROVED');
    await isJudged({ required_approvals: 2 }, 'reviewRequired');
  });

  it('needs approvals by those who may approve for the target [G177]', async () => {
    const limited = { enable_approvals_whitelist: true };
    await isJudged({ ...limited, approvals_whitelist_username: ['ada'] }, 'reviewRequired');
    await isJudged({ ...limited, approvals_whitelist_username: ['ada', 'eve'] });
  });

  it('an approval counts as long as its author may write [G177]', async () => {
    const path = `/repos/${world.fullName}/collaborators/eve`;
    await world.people.get('root', 'PUT', path, { permission: 'read' });
    await isJudged({}, 'reviewRequired');
  });

  it('a rejection counts where the target blocks on it [G177]', async () => {
    await world.review(number, 'eve', 'REQUEST_CHANGES');
    await isJudged({}, 'changesRequested');
    await isJudged({ block_on_rejected_reviews: false, required_approvals: 0 });
  });

  it('waits for its own turn where it must contain the target, or the target is not there [G177]', async () => {
    await isJudged({ block_on_outdated_branch: true }, 'other');
    const question = { repository: world.repository, number, targetBranch: 'none' };
    assert.deepEqual((await world.forge.hosting.judgeForTarget(question)).blockReasons, ['other']);
  });

  it('settings that stacks feel are warnings of an inspection [G178]', async () => {
    const path = `/repos/${world.fullName}`;
    await world.people.get('root', 'PATCH', path, { default_delete_branch_after_merge: true });
    const findings = await world.forge.hosting.inspect(world.repository, 'main');
    assert.ok(findings.some(({ level, code }) => level === 'warning' && code === 'BRANCHES_DELETED'));
  });

  it('an approval by one who may not approve for the target does not count after its base has changed [G177]', async () => {
    const limited = { enable_approvals_whitelist: true, approvals_whitelist_username: ['ada'] };
    await isJudged(limited, 'reviewRequired');
    const change = { repository: world.repository, number };
    assert.equal(await world.forge.hosting.retarget({ ...change, branch: 'main' }), undefined);
    const judged = await until('mergeability', 30_000, async () => {
      const now = await world.forge.hosting.judgeForTarget({ ...change, targetBranch: 'main' });
      return now.mergeability === 'IN_PROGRESS' ? undefined : now;
    });
    assert.equal(await world.forge.hosting.retarget({ ...change, branch: 'below' }), undefined);
    assert.deepEqual(judged.blockReasons, ['reviewRequired']);
  });

  it('a changed base dismisses no approval, also where the target dismisses stale ones [G176]', async () => {
    await isJudged({ dismiss_stale_approvals: true });
    const change = { repository: world.repository, number };
    assert.equal(await world.forge.hosting.retarget({ ...change, branch: 'main' }), undefined);
    const judged = await until('mergeability', 30_000, async () => {
      const now = await world.forge.hosting.judgeForTarget({ ...change, targetBranch: 'main' });
      return now.mergeability === 'IN_PROGRESS' ? undefined : now;
    });
    assert.deepEqual(judged.blockReasons, []);
    assert.equal(await world.forge.hosting.retarget({ ...change, branch: 'below' }), undefined);
  });

  it('a pull request whose base is deleted goes to the default branch [G177]', async () => {
    await world.deleteBranch('below');
    const question = { repository: world.repository, number, targetBranch: 'main' };
    await until('the other base', 30_000, async () => {
      const facts = await world.forge.findPullRequest(question);
      return facts?.baseBranch === 'main' ? true : undefined;
    });
  });
});
