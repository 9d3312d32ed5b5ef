import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BlockReason, PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Readiness } from '../hosted/readiness.ts';
import type { CheckRunNode, Context } from './checks.ts';
import type { BranchRules } from './protection.ts';
import type { PullRequestNode } from './pull-request-text.ts';
import { type Block, hasOpenThread, readinessOf, readinessOfBlocked } from './readiness.ts';

const OPEN: PullRequestNode = {
  id: 'PR_7',
  number: 7 as PrNumber,
  title: 'A change',
  body: '',
  url: 'https://github.com/acme/app/pull/7',
  state: 'OPEN',
  isDraft: false,
  mergeable: 'MERGEABLE',
  mergeStateStatus: 'CLEAN',
  reviewDecision: null,
  isCrossRepository: false,
  headRefOid: 'a'.repeat(40) as Sha,
  headRefName: 'change',
  baseRefName: 'main',
  headRepository: { id: 'R_1' },
  author: { __typename: 'User', login: 'ada' },
};

const RULES: BranchRules = {
  checks: [],
  isStrict: false,
  restrictsUpdates: false,
  needsResolvedThreads: false,
  isJudgeable: true,
  approvals: 0,
  needsMoreThanApprovals: false,
  isPartial: false,
};

const BLOCK: Block = {
  contexts: [],
  isWhole: true,
  hasOpenThreads: false,
  isUpToDate: false,
  ownLogin: 'sluice-app',
  rules: undefined,
};

function run(name: string, conclusion: string | null, more: Partial<CheckRunNode> = {}): Context {
  return {
    __typename: 'CheckRun',
    name,
    status: conclusion === null ? 'IN_PROGRESS' : 'COMPLETED',
    conclusion,
    startedAt: '2026-03-01T12:00:00Z',
    detailsUrl: null,
    title: null,
    isRequired: true,
    checkSuite: { id: `CS_${name}`, app: { slug: 'github-actions', databaseId: 15_368 }, workflowRun: null },
    ...more,
  };
}

/** Like facts.ts, reads the rules only when nothing else explains the block. */
function judge(pr: PullRequestNode, block: Partial<Block> = {}): Readiness {
  return readinessOf(pr) ?? readinessOfBlocked(pr, { ...BLOCK, ...block });
}

const STATES = ['BEHIND', 'BLOCKED', 'CLEAN', 'DIRTY', 'DRAFT', 'HAS_HOOKS', 'UNKNOWN', 'UNSTABLE', 'NEW_WORD'];
const MERGEABLES = ['CONFLICTING', 'MERGEABLE', 'UNKNOWN'] as const;
const DECISIONS = [null, 'APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED'];

/** Computes the expected result in a different way than the code under test. */
function expected(state: string, mergeable: string, decision: string | null): string {
  if (state === 'DRAFT') return mergeable === 'CONFLICTING' ? 'draft conflict' : 'draft';
  if (state === 'DIRTY' || mergeable === 'CONFLICTING') return 'conflict';
  if (mergeable === 'UNKNOWN' || state === 'UNKNOWN' || state === 'NEW_WORD') return 'IN_PROGRESS';
  if (state === 'BEHIND') return 'behind';
  if (state !== 'BLOCKED') return 'MERGEABLE';
  if (decision === 'CHANGES_REQUESTED') return 'changesRequested';
  return decision === 'REVIEW_REQUIRED' ? 'reviewRequired' : 'other';
}

function words({ mergeability, blockReasons }: Readiness): string {
  return mergeability === 'NOT_MERGEABLE' ? blockReasons.join(' ') : mergeability;
}

describe('readiness as GitHub tells it', () => {
  it('every state, with every answer about conflicts and reviews, is read as one word or with its reasons [G10]', () => {
    for (const mergeStateStatus of STATES) {
      for (const mergeable of MERGEABLES) {
        for (const reviewDecision of DECISIONS) {
          const read = judge({ ...OPEN, mergeStateStatus, mergeable, reviewDecision });
          const told = `${mergeStateStatus} ${mergeable} ${reviewDecision}`;
          assert.equal(words(read), expected(mergeStateStatus, mergeable, reviewDecision), told);
          assert.equal(read.blockReasons.length > 0, read.mergeability === 'NOT_MERGEABLE', told);
        }
      }
    }
  });

  it('a closed or merged pull request, or a draft, is not ready for any other state', () => {
    for (const mergeStateStatus of STATES) {
      assert.deepEqual(words(judge({ ...OPEN, mergeStateStatus, state: 'CLOSED' })), 'closed');
      assert.deepEqual(words(judge({ ...OPEN, mergeStateStatus, state: 'MERGED' })), 'closed');
    }
    assert.equal(words(judge({ ...OPEN, isDraft: true, mergeStateStatus: 'BLOCKED' })), 'draft');
  });
});

describe('block reasons of a pull request', () => {
  const blocked = { ...OPEN, mergeStateStatus: 'BLOCKED' };
  const reasons = (block: Partial<Block>, pr = blocked): readonly BlockReason[] => judge(pr, block).blockReasons;

  it('a required check that failed, or has not ended, is named; one that is not required is not [G119]', () => {
    assert.deepEqual(reasons({ contexts: [run('test', 'FAILURE')] }), ['failingCheck']);
    assert.deepEqual(reasons({ contexts: [run('test', null)] }), ['awaitingCheck']);
    assert.deepEqual(reasons({ contexts: [run('test', null), run('lint', 'TIMED_OUT')] }), ['failingCheck']);
    assert.deepEqual(reasons({ contexts: [run('test', 'FAILURE', { isRequired: false })] }), ['other']);
    assert.deepEqual(reasons({ contexts: [run('test', 'SKIPPED')] }), ['other']);
  });

  it('required checks that failed are named, and no others [G119]', () => {
    const runs = [run('unit', 'FAILURE'), run('lint', 'TIMED_OUT'), run('docs', 'SUCCESS')];
    const extra = run('extra', 'FAILURE', { isRequired: false });
    assert.deepEqual(judge(blocked, { contexts: [...runs, extra] }).failingChecks, ['lint', 'unit']);
    const many = Array.from({ length: 190 }, (_, index) => run(`unit ${index}`, 'FAILURE'));
    assert.equal(judge(blocked, { contexts: many }).failingChecks?.length, 100);
  });

  it('the last required checks that have not reported are named, and many are not [G119]', () => {
    const contexts = [run('unit', null), run('docs', 'SUCCESS'), run('lint', null)];
    assert.deepEqual(judge(blocked, { contexts }).awaitedChecks, ['lint', 'unit']);
    const many = ['a', 'b', 'c', 'd'].map((name) => run(name, null));
    assert.equal(judge(blocked, { contexts: many }).awaitedChecks, undefined);
  });

  it('names of required checks that failed are given when all have ended [G119]', () => {
    const contexts = [run('unit', 'FAILURE'), run('build', null)];
    assert.deepEqual(judge(blocked, { contexts }), { mergeability: 'NOT_MERGEABLE', blockReasons: ['failingCheck'] });
  });

  it('reviews and checks are told together', () => {
    const pr = { ...blocked, reviewDecision: 'REVIEW_REQUIRED' };
    assert.deepEqual(reasons({ contexts: [run('test', null)] }, pr), ['reviewRequired', 'awaitingCheck']);
  });

  it('a required check that was never reported is awaited [G119]', () => {
    const rules = { ...RULES, checks: ['test', { name: 'lint', app: '15368' }] };
    assert.deepEqual(reasons({ contexts: [run('test', 'SUCCESS')], rules }), ['awaitingCheck']);
    const lint = run('lint', 'SUCCESS', {
      checkSuite: { id: 'CS', app: { slug: 'evil', databaseId: 1 }, workflowRun: null },
    });
    assert.deepEqual(reasons({ contexts: [run('test', 'SUCCESS'), lint], rules }), ['awaitingCheck']);
    assert.deepEqual(reasons({ contexts: [run('test', 'SUCCESS'), run('lint', 'SUCCESS')], rules }), ['other']);
  });

  it('our own check never counts [G119]', () => {
    const app = { slug: 'sluice-app', databaseId: 1 };
    const own = run('Sluice (main)', null, { checkSuite: { id: 'CS', app, workflowRun: null } });
    assert.deepEqual(reasons({ contexts: [own] }), ['other']);
    assert.deepEqual(reasons({ contexts: [own, run('test', null)] }), ['awaitingCheck']);
    // A check run of another app with that name counts.
    assert.deepEqual(reasons({ contexts: [run('Sluice (main)', 'FAILURE')] }), ['failingCheck']);
  });

  it('a target that only the queue may update does not make its pull requests unready [G11]', () => {
    const rules = { ...RULES, restrictsUpdates: true, checks: ['test'] };
    const contexts = [run('test', 'SUCCESS')];
    assert.equal(judge(blocked, { rules, contexts }).mergeability, 'MERGEABLE');
    assert.deepEqual(reasons({ rules, contexts: [] }), ['awaitingCheck']);
    assert.deepEqual(reasons({ rules: { ...rules, isJudgeable: false }, contexts }), ['other']);
    assert.deepEqual(reasons({ rules: { ...rules, isStrict: true }, contexts }), ['behind']);
    assert.equal(
      judge(blocked, { rules: { ...rules, isStrict: true }, contexts, isUpToDate: true }).mergeability,
      'MERGEABLE',
    );
    const threads = { ...rules, needsResolvedThreads: true };
    assert.deepEqual(reasons({ rules: threads, contexts, hasOpenThreads: true }), ['other']);
    assert.equal(judge(blocked, { rules: threads, contexts }).mergeability, 'MERGEABLE');
    const unreviewed = { ...blocked, reviewDecision: 'REVIEW_REQUIRED' };
    assert.deepEqual(reasons({ rules, contexts }, unreviewed), ['reviewRequired']);
  });

  it('a conversation that is out of sight behind a hundred resolved ones is open [G11]', () => {
    const resolved = Array.from({ length: 100 }, () => ({ isResolved: true }));
    assert.equal(hasOpenThread({ totalCount: 0, nodes: [] }), false);
    assert.equal(hasOpenThread({ totalCount: 100, nodes: resolved }), false);
    assert.equal(hasOpenThread({ totalCount: 1, nodes: [{ isResolved: false }] }), true);
    assert.equal(hasOpenThread({ totalCount: 101, nodes: resolved }), true);
  });
});
