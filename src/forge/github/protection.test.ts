import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RefNode, rulesOf } from './protection.ts';

const CLASSIC: NonNullable<RefNode['branchProtectionRule']> = {
  requiresStatusChecks: true,
  requiresStrictStatusChecks: false,
  requiresConversationResolution: false,
  requiresCommitSignatures: false,
  requiresDeployments: false,
  lockBranch: false,
  requiredApprovingReviewCount: null,
  requiresCodeOwnerReviews: false,
  requireLastPushApproval: false,
  requiredStatusChecks: [
    { context: 'test', app: null },
    { context: 'lint', app: { slug: 'github-actions' } },
  ],
};

function ref(more: Partial<RefNode>): RefNode {
  return { branchProtectionRule: null, refUpdateRule: null, rules: { nodes: [] }, ...more };
}

function checksRule(...checks: readonly { readonly context: string; readonly integrationId: number | null }[]) {
  const parameters = { strictRequiredStatusChecksPolicy: false, requiredStatusChecks: checks };
  return { type: 'REQUIRED_STATUS_CHECKS', parameters };
}

describe('the protection of a branch', () => {
  it('classic protection and rulesets count together, each with the app that must report [G14]', () => {
    const rules = rulesOf(
      ref({
        branchProtectionRule: CLASSIC,
        rules: {
          nodes: [
            checksRule({ context: 'build', integrationId: 15_368 }, { context: 'lint', integrationId: null }),
            checksRule({ context: 'test', integrationId: 7 }),
          ],
        },
      }),
      false,
    );
    assert.deepEqual(rules.checks, [
      { name: 'lint', app: 'github-actions' },
      { name: 'build', app: '15368' },
      { name: 'test', app: '7' },
    ]);
    assert.equal(rules.isPartial, false);
  });

  it('a branch that is not there, or not protected, demands nothing', () => {
    for (const node of [null, ref({}), ref({ rules: null })]) {
      const rules = rulesOf(node, false);
      assert.deepEqual(rules.checks, []);
      assert.equal(rules.isStrict, false);
    }
  });

  it('checks of a protection that does not require checks are not required', () => {
    assert.deepEqual(
      rulesOf(ref({ branchProtectionRule: { ...CLASSIC, requiresStatusChecks: false } }), false).checks,
      [],
    );
  });

  it('protection that may not be read is its public part and rulesets, and that is told [G124]', () => {
    const refUpdateRule = {
      requiredStatusCheckContexts: ['test', null],
      requiresConversationResolution: true,
      requiresSignatures: false,
      requiredApprovingReviewCount: 2,
      requiresCodeOwnerReviews: false,
    };
    const rules = rulesOf(
      ref({ refUpdateRule, rules: { nodes: [checksRule({ context: 'build', integrationId: null })] } }),
      true,
    );
    assert.deepEqual(rules.checks, ['test', 'build']);
    assert.equal(rules.isPartial, true);
    assert.equal(rules.needsResolvedThreads, true);
    assert.equal(rules.approvals, 2);
    assert.equal(rules.needsMoreThanApprovals, true);
  });

  it('the most approvals that classic protection or a ruleset requires are required, and further wishes are noticed [G175]', () => {
    const of = (classic: object, parameters: object) => {
      const branchProtectionRule = { ...CLASSIC, requiredApprovingReviewCount: 1, ...classic };
      const rules = { nodes: [{ type: 'PULL_REQUEST', parameters }] };
      const { approvals, needsMoreThanApprovals } = rulesOf(ref({ branchProtectionRule, rules }), false);
      return [approvals, needsMoreThanApprovals];
    };
    const plain = { requiredApprovingReviewCount: 2, requireCodeOwnerReview: false, requireLastPushApproval: false };
    assert.deepEqual(of({}, {}), [1, false]);
    assert.deepEqual(of({}, plain), [2, false]);
    assert.deepEqual(of({ requiredApprovingReviewCount: 3 }, plain), [3, false]);
    assert.deepEqual(of({ requiresCodeOwnerReviews: true }, plain), [2, true]);
    assert.deepEqual(of({ requireLastPushApproval: true }, plain), [2, true]);
    assert.deepEqual(of({}, { ...plain, requireCodeOwnerReview: true }), [2, true]);
    assert.deepEqual(of({}, { ...plain, requireLastPushApproval: true }), [2, true]);
    assert.equal(rulesOf(ref({ rules: null }), true).needsMoreThanApprovals, true);
    assert.equal(rulesOf(null, false).needsMoreThanApprovals, false);
  });

  it('a rule of a kind that cannot be judged from here is noticed', () => {
    const of = (type: string) => rulesOf(ref({ rules: { nodes: [{ type, parameters: null }, null] } }), false);
    assert.equal(of('UPDATE').restrictsUpdates, true);
    assert.equal(of('UPDATE').isJudgeable, true);
    assert.equal(of('CODE_SCANNING').isJudgeable, false);
    assert.equal(of('A_NEW_RULE').isJudgeable, false);
    assert.equal(rulesOf(ref({ branchProtectionRule: { ...CLASSIC, lockBranch: true } }), false).isJudgeable, false);
  });
});
