import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readMergeAnswer } from './merging.ts';

const read = (status: number, message: string) => readMergeAnswer({ status, data: { message } });

describe('a refused merge', () => {
  it('a merge is tried again when Gitea cannot say yet whether it works [G166]', () => {
    for (const [status, message] of [
      [405, 'Please try again later'],
      [405, 'The PR is already merged'],
      [409, 'merge push out of date'],
      [500, ''],
      [502, '<html>'],
    ] as const) {
      assert.equal(read(status, message).kind, 'unclear', message);
    }
  });

  it('a refused merge is the author’s or the operator’s to solve when Gitea names a reason [G166]', () => {
    const reasonOf = (status: number, message: string) => {
      const answer = read(status, message);
      return answer.kind === 'refused' ? answer.reason : answer.kind;
    };
    assert.equal(reasonOf(405, 'Does not have enough approvals'), 'GITHUB_API_BRANCH_PROTECTION_UNMET');
    assert.equal(reasonOf(405, 'Not all required status checks successful'), 'GITHUB_API_BRANCH_PROTECTION_UNMET');
    assert.equal(reasonOf(405, 'Work in progress PRs cannot be merged'), 'GITHUB_API_MERGE_PR_FAILED');
    assert.equal(reasonOf(404, ''), 'GITHUB_API_MERGE_PR_FAILED');
    assert.equal(reasonOf(409, 'head out of date'), 'head_moved');
    assert.throws(() => read(401, 'token is gone'), /does not take merges now/);
  });
});
