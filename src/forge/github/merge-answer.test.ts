import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { readMergeAnswer } from './merging.ts';

const SHA = 'a'.repeat(40);
const FAILED = 'GITHUB_API_MERGE_PR_FAILED';
const PROTECTION = 'GITHUB_API_BRANCH_PROTECTION_UNMET';

function read(status: number, data: unknown, headers: Readonly<Record<string, string>> = {}) {
  return readMergeAnswer({ status, data, headers });
}

describe('GitHub’s answers to a merge', () => {
  test('an answer means merged only where it names the commit [G22]', () => {
    assert.deepEqual(read(200, { sha: SHA, merged: true, message: 'Pull Request successfully merged' }), {
      kind: 'merged',
      sha: SHA,
    });
    for (const data of [{ sha: SHA, merged: false }, { merged: true }, { sha: 'x', merged: true }, null, 'ok']) {
      assert.equal(read(200, data).kind, 'unclear', JSON.stringify(data));
    }
  });

  const table: readonly (readonly [status: number, message: string, kind: string, reason: string | undefined])[] = [
    [405, 'Merge already in progress', 'unclear', 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS'],
    [405, 'Base branch was modified. Review and try the merge again.', 'unclear', FAILED],
    [405, 'Pull Request is not mergeable', 'unclear', FAILED],
    [405, 'Pull Request is still a draft', 'refused', FAILED],
    [405, 'Merge commits are not allowed on this repository.', 'refused', FAILED],
    [405, "This branch can't be rebased", 'refused', FAILED],
    [405, 'At least 1 approving review is required by reviewers with write access.', 'refused', PROTECTION],
    [405, 'Required status check "ci" is expected.', 'refused', PROTECTION],
    [405, '2 of 3 required status checks have not succeeded: 1 expected.', 'refused', PROTECTION],
    [405, 'Repository rule violations found', 'refused', PROTECTION],
    [405, 'Changes must be made through the merge queue', 'refused', PROTECTION],
    [405, "You're not authorized to push to this branch.", 'refused', PROTECTION],
    [403, 'Resource not accessible by integration', 'refused', FAILED],
    [403, 'You have exceeded a secondary rate limit.', 'limited', undefined],
    [429, 'API rate limit exceeded', 'limited', undefined],
    [404, 'Not Found', 'refused', FAILED],
    [409, 'Head branch was modified. Review and try the merge again.', 'head_moved', undefined],
    [410, 'Gone', 'refused', FAILED],
    [422, 'Validation Failed', 'refused', FAILED],
    [500, 'Server Error', 'unclear', 'GITHUB_API_REPEATED_SERVER_ERRORS'],
    [503, '', 'unclear', 'GITHUB_API_REPEATED_SERVER_ERRORS'],
  ];
  for (const [status, message, kind, reason] of table) {
    test(`${status} ${message || 'without a word'}: ${kind} [G150] [G23]`, () => {
      const answer = read(status, { message });
      assert.deepEqual([answer.kind, 'reason' in answer ? answer.reason : undefined], [kind, reason]);
      if ('detail' in answer) assert.equal(answer.detail, message || `GitHub answered ${status}.`);
    });
  }

  test('a refusal of all merges is no fault of a pull request [G151]', () => {
    for (const [status, message] of [
      [401, 'Bad credentials'],
      [403, 'This installation has been suspended'],
      [301, 'Moved Permanently'],
    ] as const) {
      assert.throws(
        () => read(status, { message }),
        (error: unknown) => error instanceof Fault,
      );
    }
  });

  test('a limited merge waits as long as GitHub says [G23]', () => {
    const limited = (headers: Readonly<Record<string, string>>) => {
      const answer = read(429, { message: 'Slow down' }, headers);
      return answer.kind === 'limited' ? answer.waitMs : undefined;
    };
    assert.deepEqual(
      [limited({ 'retry-after': '7' }), limited({}), limited({ 'retry-after': 'x' })],
      [7_000, 60_000, 60_000],
    );
  });

  test('an answer is shown without secrets [G18]', () => {
    const answer = read(422, { message: `token ghs_${'a'.repeat(36)} and\nmore` });
    assert.equal('detail' in answer && answer.detail, 'token [secret] and more');
  });
});
