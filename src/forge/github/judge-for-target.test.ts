import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createGithubWorld } from '../../../test/contract/github-repository.ts';
import type { PullRequest } from '../../../test/fake/github/model.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import type { BlockReason, PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import { judgeReviews, type ReviewedNode } from './judge-for-target.ts';
import type { BranchRules } from './protection.ts';

const HEAD = 'a'.repeat(40) as Sha;
const OLD = 'b'.repeat(40) as Sha;

const RULES: BranchRules = {
  checks: ['test'],
  isStrict: false,
  restrictsUpdates: false,
  needsResolvedThreads: false,
  approvals: 0,
  needsMoreThanApprovals: false,
  isJudgeable: true,
  isPartial: false,
};

/** Reviews as state and commit. */
function node(...reviews: readonly (readonly [string, Sha | null])[]): ReviewedNode {
  const nodes = reviews.map(([state, oid]) => ({ state, commit: oid === null ? null : { oid } }));
  return {
    state: 'OPEN',
    isDraft: false,
    baseRefName: 'below',
    headRefOid: HEAD,
    reviewDecision: null,
    reviewThreads: { totalCount: 1, nodes: [{ isResolved: true }] },
    latestOpinionatedReviews: { totalCount: nodes.length, nodes: [...nodes, null] },
  };
}

function judge(of: ReviewedNode, rules: Partial<BranchRules>): readonly BlockReason[] {
  const { mergeability, blockReasons } = judgeReviews(of, { ...RULES, ...rules });
  assert.equal(mergeability, blockReasons.length === 0 ? 'MERGEABLE' : 'NOT_MERGEABLE');
  return blockReasons;
}

describe('a member of a stack, by the rules of the target', () => {
  it('needs as many approvals of its present head as the target wants [G175]', () => {
    assert.deepEqual(judge(node(), {}), []);
    assert.deepEqual(judge(node(['APPROVED', HEAD]), { approvals: 2 }), ['reviewRequired']);
    assert.deepEqual(judge(node(['APPROVED', HEAD], ['APPROVED', OLD]), { approvals: 2 }), ['reviewRequired']);
    assert.deepEqual(judge(node(['APPROVED', HEAD], ['APPROVED', null]), { approvals: 2 }), ['reviewRequired']);
    assert.deepEqual(judge(node(['APPROVED', HEAD], ['DISMISSED', HEAD]), { approvals: 2 }), ['reviewRequired']);
    assert.deepEqual(judge(node(['APPROVED', HEAD], ['APPROVED', HEAD]), { approvals: 2 }), []);
  });

  it('waits for a request for changes, also of an older head, where the target wants approvals [G175]', () => {
    const rejected = node(['APPROVED', HEAD], ['CHANGES_REQUESTED', OLD]);
    assert.deepEqual(judge(rejected, { approvals: 1 }), ['changesRequested']);
    assert.deepEqual(judge(rejected, {}), []);
  });

  it('is not ready under a rule that cannot be judged, and reviews are named first [G175]', () => {
    const approved = node(['APPROVED', HEAD]);
    for (const rules of [{ needsMoreThanApprovals: true }, { isJudgeable: false }]) {
      assert.deepEqual(judge(approved, { approvals: 1, ...rules }), ['other']);
      assert.deepEqual(judge(node(), { approvals: 1, ...rules }), ['reviewRequired']);
    }
  });

  it('waits for open threads where they must be resolved [G175]', () => {
    const open = { ...node(), reviewThreads: { totalCount: 2, nodes: [{ isResolved: true }, { isResolved: false }] } };
    assert.deepEqual(judge(open, {}), []);
    assert.deepEqual(judge(open, { needsResolvedThreads: true }), ['other']);
    assert.deepEqual(judge(node(), { needsResolvedThreads: true }), []);
  });

  it('is not ready while some opinions are on a page that was not read [G175]', () => {
    const nodes = [{ state: 'APPROVED', commit: { oid: HEAD } }];
    const many = { ...node(), latestOpinionatedReviews: { totalCount: 101, nodes } };
    assert.deepEqual(judge(many, { approvals: 1 }), ['other']);
    assert.deepEqual(judge({ ...many, latestOpinionatedReviews: null }, { approvals: 1 }), ['reviewRequired']);
    assert.deepEqual(judge(many, {}), []);
  });
});

describe('stacks on GitHub', () => {
  const world = madeOnce(() => createGithubWorld(undefined, { mergeability: 'lazy' }));
  let pr: PullRequest;
  const question = () => ({ repository: world.repository, number: pr.number as PrNumber });
  const judge = async () => {
    world.forge.hosting.forget('acme');
    return (await world.forge.hosting.judgeForTarget({ ...question(), targetBranch: 'main' })).blockReasons;
  };
  const reviews = { count: 1, dismissesStale: false, needsCodeOwners: false };

  beforeEach(async () => {
    const { fake, app } = world;
    if (app.refs.size === 0) await world.commit('main', { files: { 'a.txt': 'a\n' } });
    fake.protect(app, 'main', { reviews });
    fake.setPermission(app, 'eve', 'write');
    const lower = await fake.openPullRequest(app, { author: 'ada' });
    pr = await fake.openPullRequest(app, { author: 'ada', base: lower.headRef });
    fake.review(pr, 'eve');
  });

  it('a rule about code owners keeps a member of a stack waiting in spite of approvals [G175]', async () => {
    assert.deepEqual(await judge(), []);
    world.fake.protect(world.app, 'main', { reviews: { ...reviews, needsCodeOwners: true } });
    assert.deepEqual(await judge(), ['other']);
  });

  it('an approval counts as long as its author may write [G175]', async () => {
    world.fake.setPermission(world.app, 'eve', 'read');
    assert.deepEqual(await judge(), ['reviewRequired']);
  });

  it('a ruleset of the target counts as classic protection does [G175]', async () => {
    const ruleset = world.fake.addRuleset(world.app, { rules: [{ type: 'pull_request', approvals: 2 }] });
    assert.deepEqual(await judge(), ['reviewRequired']);
    world.fake.removeRuleset(world.app, ruleset);
  });

  it('a changed base dismisses approvals where the target dismisses stale ones [G175] [G176]', async () => {
    world.fake.protect(world.app, 'main', { reviews: { ...reviews, dismissesStale: true } });
    assert.deepEqual(await judge(), []);
    assert.equal(await world.forge.hosting.retarget({ ...question(), branch: 'main' }), undefined);
    assert.deepEqual(await judge(), ['reviewRequired']);
  });

  it('a dismissed approval is missing before GitHub has computed what can be merged [G179]', async () => {
    world.fake.protect(world.app, 'main', { reviews: { ...reviews, dismissesStale: true } });
    assert.equal(await world.forge.hosting.retarget({ ...question(), branch: 'main' }), undefined);
    assert.deepEqual(await judge(), ['reviewRequired']);
    world.fake.review(pr, 'eve');
    assert.deepEqual(await judge(), []);
    world.fake.protect(world.app, 'main', { reviews: { ...reviews, needsCodeOwners: true } });
    assert.deepEqual(await judge(), []);
  });

  it('a base deleted by hand closes a pull request, which cannot be retargeted then [G175] [G176]', async () => {
    await world.deleteBranch(pr.baseRef);
    assert.deepEqual(await judge(), ['closed']);
    const refusal = await world.forge.hosting.retarget({ ...question(), branch: 'main' });
    assert.match(refusal ?? '', /Cannot change the base branch of a closed pull request\.$/);
  });
});
