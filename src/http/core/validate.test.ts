import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { getCandidateLog } from '../../contract/candidate-log.ts';
import {
  getSubmittedPullRequest,
  getSubmittedPullRequests,
  setImpactedTargets,
  submitPullRequest,
} from '../../contract/pull-requests.ts';
import { createQueue } from '../../contract/queues.ts';
import { updateTestSettings } from '../../contract/test-settings.ts';
import { reportCheck } from '../../contract/testing.ts';
import { HttpProblem } from './problem.ts';
import { createValidator } from './validate.ts';

const REPO = { host: 'local', owner: 'acme', name: 'app' };
const QUEUE = { repo: REPO, targetBranch: 'main' };

function errorsOf(schema: TSchema, value: unknown): Record<string, string> {
  try {
    createValidator(schema)(value);
    return {};
  } catch (error) {
    assert.ok(error instanceof HttpProblem);
    return Object.fromEntries((error.errors ?? []).map(({ path, message }) => [path, message]));
  }
}

describe('validation', () => {
  it('names everything that is wrong, each place once [H19]', () => {
    const value = {
      repo: { host: 'a b', owner: '' },
      targetBranch: 7,
      pr: { number: 0 },
      priority: 300,
      noBatch: 'no',
    };
    assert.deepEqual(Object.keys(errorsOf(submitPullRequest.body, value)).sort(), [
      '/noBatch',
      '/pr/number',
      '/priority',
      '/repo/host',
      '/repo/name',
      '/repo/owner',
      '/targetBranch',
    ]);
  });

  it('numbers of pull requests may be strings of digits up to 4294967295 [H22]', () => {
    const check = (number: unknown): number =>
      Object.keys(errorsOf(submitPullRequest.body, { ...QUEUE, pr: { number } })).length;
    for (const good of [1, 4294967295, '12', '4294967295']) assert.equal(check(good), 0, String(good));
    for (const bad of [0, -1, 1.5, 4294967296, '0', '012', '4294967296', ' 1', '1e3', '', null, true]) {
      assert.equal(check(bad), 1, String(bad));
    }
  });

  it('says one thing about a choice between two forms', () => {
    for (const pr of [{}, { number: 1, branch: 'x' }]) {
      assert.deepEqual(errorsOf(getSubmittedPullRequest.body, { ...QUEUE, pr }), {
        '/pr': 'must have exactly one of number and branch',
      });
    }
    assert.deepEqual(
      Object.keys(errorsOf(setImpactedTargets.body, { ...QUEUE, pr: { number: 1 }, impactedTargets: ['a', 3] })),
      ['/impactedTargets'],
    );
  });

  it('names the field that is missing beside another one [H36]', () => {
    const log = { testRunId: 'x' };
    assert.deepEqual(errorsOf(getCandidateLog.body, { ...log, repo: REPO }), {
      '/targetBranch': 'is required with repo',
    });
    assert.deepEqual(errorsOf(getCandidateLog.body, { ...log, targetBranch: 'main' }), {
      '/repo': 'is required with targetBranch',
    });
    const check = { repo: REPO, testRunId: 'x', name: 'test' };
    const wrong = [{ status: 'completed' }, { status: 'QUEUED', conclusion: 'SUCCESS' }];
    for (const each of wrong) {
      assert.deepEqual(errorsOf(reportCheck.body, { ...check, ...each }), {
        '/conclusion': 'is required when status is COMPLETED, and only then',
      });
    }
  });

  it('names the nearest setting for an unknown one [H7]', () => {
    assert.deepEqual(errorsOf(createQueue.body, { ...QUEUE, concurency: 3 }), {
      '/concurency': 'is not known here; did you mean "concurrency"?',
    });
    assert.deepEqual(errorsOf(createQueue.body, { ...QUEUE, ['x'.repeat(200)]: 3 }), {
      [`/${'x'.repeat(200)}`]: 'is not known here',
    });
    const scope = { repo: QUEUE.repo, org_url_slug: 'acme' };
    assert.deepEqual(errorsOf(updateTestSettings.body, { ...scope, quarantining_enabled: false }), {
      '/quarantining_enabled': 'is not known here; did you mean "quarantine_enabled"?',
    });
  });

  it('says which items of a list are wrong, and how many there may be', () => {
    const prs = [{ number: 1 }, { number: 0 }, {}];
    assert.deepEqual(errorsOf(getSubmittedPullRequests.body, { ...QUEUE, prs }), {
      '/prs/1/number': 'must be a whole number from 1 to 4294967295',
      '/prs/2/number': 'is required',
    });
    const many = Array.from({ length: 51 }, () => ({}));
    assert.deepEqual(errorsOf(getSubmittedPullRequests.body, { ...QUEUE, prs: many }), {
      '/prs': 'must have at most 50 items',
    });
    assert.deepEqual(errorsOf(getSubmittedPullRequests.body, []), { '': 'must be an object' });
  });

  it('does not list a million problems', () => {
    const value = {
      ...QUEUE,
      ...Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`unknown${index}`, 1])),
    };
    assert.equal(Object.keys(errorsOf(createQueue.body, value)).length, 50);
  });
});
