import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isForkRun, jobAttemptOf, jobNameOf, readCiFacts } from './ci-facts.ts';

const COMMIT = { branch: 'main', message: '', authorName: '', authorEmail: '', isUncloned: false };
const RULES = { testBranchPrefix: 'sluice-test', stableBranches: [] };
const map = (envs: Readonly<Record<string, string>>) => new Map(Object.entries(envs));

function jobName(envs: Readonly<Record<string, string>>): string {
  return jobNameOf(readCiFacts({ envs: map(envs), commit: COMMIT, rules: RULES }), map(envs));
}

describe('the job of a run [U28]', () => {
  it('has a name that is the same in each of its runs', () => {
    assert.equal(jobName({ GITHUB_ACTIONS: '1', GITHUB_WORKFLOW: 'CI', GITHUB_JOB: 'unit' }), 'CI / unit');
    assert.equal(jobName({ CUSTOM: '1', JOB_NAME: 'unit' }), 'unit');
    assert.equal(jobName({ BUILDKITE: '1', BUILDKITE_LABEL: 'Unit', BUILDKITE_JOB_ID: 'x' }), 'Unit');
    assert.equal(jobName({ BUILD_ID: '7', JOB_NAME: 'widgets/main' }), 'widgets/main');
    assert.equal(jobName({ TRIGGER_NAME: 'on-push', BUILD_ID: '7f' }), 'on-push');
    assert.equal(
      jobName({ BITBUCKET_BUILD_NUMBER: '7', BITBUCKET_STEP_UUID: '{1}', BITBUCKET_PIPELINE_UUID: '{2}' }),
      '',
    );
    assert.equal(jobName({}), '');
  });

  it('says which try it is, counted from 1 [U63]', () => {
    assert.equal(jobAttemptOf(map({ GITHUB_RUN_ATTEMPT: '2' })), 2);
    assert.equal(jobAttemptOf(map({ BUILDKITE_RETRY_COUNT: '0' })), 1);
    assert.equal(jobAttemptOf(map({ SYSTEM_JOBATTEMPT: '3' })), 3);
    for (const wrong of ['', '-1', 'two', '1e9', '99999999']) {
      assert.equal(jobAttemptOf(map({ GITHUB_RUN_ATTEMPT: wrong })), null);
    }
  });

  it('says whether the commit is of a fork [U63]', () => {
    const isFork = (envs: Readonly<Record<string, string>>) => isForkRun(map(envs), { owner: 'acme' });
    for (const envs of [
      { GITHUB_REPOSITORY: 'someone/widgets' },
      { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '2', CI_MERGE_REQUEST_PROJECT_ID: '1' },
      {
        BUILDKITE_PULL_REQUEST_REPO: 'git://github.com/me/widgets.git',
        BUILDKITE_REPO: 'git@github.com:acme/widgets.git',
      },
      { TRAVIS_PULL_REQUEST_SLUG: 'me/widgets', TRAVIS_REPO_SLUG: 'acme/widgets' },
      { CIRCLE_PR_REPONAME: 'widgets' },
      { SYSTEM_PULLREQUEST_ISFORK: 'True' },
      { CHANGE_FORK: 'me' },
    ]) {
      assert.equal(isFork(envs as Readonly<Record<string, string>>), true, JSON.stringify(envs));
    }
    for (const envs of [
      {},
      { GITHUB_REPOSITORY: 'Acme/widgets' },
      { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '1', CI_MERGE_REQUEST_PROJECT_ID: '1' },
      {
        BUILDKITE_PULL_REQUEST_REPO: 'https://github.com/acme/widgets',
        BUILDKITE_REPO: 'git@github.com:acme/widgets.git',
      },
      { BUILDKITE_PULL_REQUEST_REPO: '', BUILDKITE_REPO: 'git@github.com:acme/widgets.git' },
      { SYSTEM_PULLREQUEST_ISFORK: 'False' },
    ]) {
      assert.equal(isFork(envs as Readonly<Record<string, string>>), false, JSON.stringify(envs));
    }
  });
});
