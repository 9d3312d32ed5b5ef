import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { classifyBranch, cleanBranch } from './branch.ts';
import { type CiFacts, readCiFacts } from './ci-facts.ts';

const COMMIT = {
  branch: 'refs/heads/from-git',
  message: 'A',
  authorName: 'Dev',
  authorEmail: 'dev@acme.test',
  isUncloned: false,
};
const RULES = { testBranchPrefix: 'sluice', stableBranches: ['main', 'release/1'] };

function facts(envs: Readonly<Record<string, string>>, commit: Partial<typeof COMMIT> = {}): CiFacts {
  return readCiFacts({ envs: new Map(Object.entries(envs)), commit: { ...COMMIT, ...commit }, rules: RULES });
}

const CASES: [string, Readonly<Record<string, string>>, Partial<CiFacts>][] = [
  [
    'custom, which beats all',
    {
      CUSTOM: 'true',
      GITHUB_ACTIONS: 'true',
      COMMIT_BRANCH: 'b',
      PR_NUMBER: '5',
      JOB_URL: 'u',
      JOB_NAME: 'unit',
      AUTHOR_NAME: 'A',
      AUTHOR_EMAIL: 'a@x',
      COMMIT_MESSAGE: 'm',
      PR_TITLE: 't',
    },
    {
      platform: 'custom',
      branch: 'b',
      branchClass: 'PR',
      prNumber: 5,
      jobUrl: 'u',
      workflow: 'unit',
      job: 'unit',
      authorName: 'A',
      authorEmail: 'a@x',
      commitMessage: 'm',
    },
  ],
  [
    'GitHub, a pull request',
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_REF: 'refs/pull/12/merge',
      GITHUB_HEAD_REF: 'feature',
      GITHUB_REPOSITORY: 'acme/widgets',
      GITHUB_RUN_ID: '9',
      GITHUB_WORKFLOW: 'CI',
      GITHUB_JOB: 'test',
      GITHUB_ACTOR: 'dev',
    },
    {
      platform: 'github',
      branch: 'feature',
      branchClass: 'PR',
      prNumber: 12,
      jobUrl: 'https://github.com/acme/widgets/actions/runs/9?pr=12',
      workflow: 'CI',
      job: 'test',
      authorName: 'Dev',
    },
  ],
  [
    'GitHub, a push',
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_HEAD_REF: '',
      GITHUB_REPOSITORY: 'a/b',
      GITHUB_RUN_ID: '9',
    },
    { branch: 'main', branchClass: 'PB', prNumber: null, jobUrl: 'https://github.com/a/b/actions/runs/9' },
  ],
  [
    'GitHub, with a job URL and a number given',
    { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/heads/x', JOB_URL: 'https://ci/1', TRUNK_PR_NUMBER: '77' },
    { jobUrl: 'https://ci/1', prNumber: 77, branchClass: 'PR' },
  ],
  [
    'Jenkins',
    {
      BUILD_ID: '1',
      CHANGE_BRANCH: 'c',
      BRANCH_NAME: 'PR-3',
      CHANGE_ID: '3',
      BUILD_URL: 'u',
      CHANGE_AUTHOR_DISPLAY_NAME: 'J',
      CHANGE_AUTHOR_EMAIL: 'j@x',
    },
    { platform: 'jenkins', branch: 'c', prNumber: 3, jobUrl: 'u', authorName: 'J' },
  ],
  [
    'Cloud Build, which beats a BUILD_ID',
    { TRIGGER_NAME: 'nightly', BUILD_ID: 'b', PROJECT_ID: 'p', BRANCH_NAME: 'main', _PR_NUMBER: '' },
    {
      platform: 'cloud-build',
      branch: 'main',
      workflow: 'nightly',
      job: 'b',
      jobUrl: 'https://console.cloud.google.com/cloud-build/builds/b?project=p',
      prNumber: null,
    },
  ],
  [
    'Buildkite',
    {
      BUILDKITE: 'true',
      BUILDKITE_BRANCH: 'b',
      BUILDKITE_PULL_REQUEST: 'false',
      BUILDKITE_BUILD_URL: 'u',
      BUILDKITE_JOB_ID: 'j',
      BUILDKITE_BUILD_AUTHOR: 'B',
    },
    {
      platform: 'buildkite',
      branch: 'b',
      prNumber: null,
      jobUrl: 'u#j',
      authorName: 'B',
      authorEmail: 'dev@acme.test',
    },
  ],
  [
    'Semaphore',
    {
      SEMAPHORE: 'true',
      SEMAPHORE_GIT_WORKING_BRANCH: 'w',
      SEMAPHORE_GIT_BRANCH: 'g',
      SEMAPHORE_GIT_PR_NUMBER: '4',
      SEMAPHORE_ORGANIZATION_URL: 'https://s',
      SEMAPHORE_PROJECT_ID: 'p',
      SEMAPHORE_JOB_ID: 'j',
      SEMAPHORE_PROJECT_NAME: 'n',
      SEMAPHORE_JOB_NAME: 'jn',
      SEMAPHORE_GIT_COMMITTER: 'C',
    },
    {
      platform: 'semaphore',
      branch: 'w',
      prNumber: 4,
      jobUrl: 'https://s/projects/p/jobs/j',
      workflow: 'n',
      job: 'jn',
    },
  ],
  [
    'GitLab, a merge train',
    {
      GITLAB_CI: 'true',
      CI_COMMIT_REF_NAME: 'remotes/x',
      CI_MERGE_REQUEST_IID: '8',
      CI_MERGE_REQUEST_EVENT_TYPE: 'merge_train',
      CI_JOB_URL: 'u',
      CI_JOB_NAME: 'n',
      CI_JOB_STAGE: 's',
      CI_COMMIT_AUTHOR: 'Ann B <ann@x>',
      CI_COMMIT_MESSAGE: 'm',
      CI_MERGE_REQUEST_TITLE: 't',
    },
    {
      platform: 'gitlab',
      branch: 'x',
      branchClass: 'MERGE',
      prNumber: 8,
      jobUrl: 'u',
      workflow: 'n',
      job: 's',
      authorName: 'Ann B',
      authorEmail: 'ann@x',
      commitMessage: 'm',
    },
  ],
  [
    'Drone',
    {
      DRONE: 'true',
      DRONE_SOURCE_BRANCH: 'd',
      DRONE_PULL_REQUEST: '2',
      DRONE_BUILD_LINK: 'l',
      DRONE_COMMIT_AUTHOR: 'dd',
      DRONE_COMMIT_AUTHOR_NAME: 'D',
      DRONE_PULL_REQUEST_TITLE: 't',
    },
    { platform: 'drone', branch: 'd', prNumber: 2, jobUrl: 'l', authorName: 'D' },
  ],
  [
    'Bitbucket',
    {
      BITBUCKET_BUILD_NUMBER: '7',
      BITBUCKET_BRANCH: 'b',
      BITBUCKET_PR_ID: '1',
      BITBUCKET_WORKSPACE: 'w',
      BITBUCKET_REPO_SLUG: 'r',
      BITBUCKET_STEP_UUID: '{s}',
      BITBUCKET_PIPELINE_UUID: '{p}',
    },
    {
      platform: 'bitbucket',
      branch: 'b',
      prNumber: 1,
      jobUrl: 'https://bitbucket.org/w/r/pipelines/results/7/steps/%7Bs%7D',
      workflow: '{p}',
      job: '{s}',
    },
  ],
  [
    'CircleCI',
    {
      CIRCLECI: 'true',
      CIRCLE_BRANCH: 'pull/6',
      CIRCLE_PULL_REQUEST: 'https://github.com/a/b/pull/6',
      CIRCLE_BUILD_URL: 'u',
      CIRCLE_JOB: 'j',
      CIRCLE_USERNAME: 'c',
    },
    { platform: 'circleci', branch: 'pull/6', prNumber: 6, jobUrl: 'u', job: 'j' },
  ],
  [
    'CircleCI, with all parts of a link',
    {
      CIRCLECI: 'true',
      CIRCLE_BUILD_URL: 'https://circleci.com/gh/a/b/4',
      CIRCLE_PIPELINE_ID: 'p',
      CIRCLE_WORKFLOW_ID: 'w',
      CIRCLE_BUILD_NUM: '4',
      CIRCLE_NODE_INDEX: '0',
    },
    { jobUrl: 'https://app.circleci.com/pipelines/github/a/b/p/workflows/w/jobs/4/parallel-runs/0', authorName: 'Dev' },
  ],
  [
    'Bamboo',
    {
      bamboo_buildNumber: '1',
      bamboo_planRepository_branchName: 'b',
      bamboo_repository_pr_key: '2',
      bamboo_resultsUrl: 'r',
      bamboo_planName: 'p',
      bamboo_shortJobName: 'j',
      bamboo_planRepository_username: 'u',
    },
    { platform: 'bamboo', branch: 'b', prNumber: 2, jobUrl: 'r', workflow: 'p', job: 'j' },
  ],
  ...['TRAVIS', 'WEBAPPIO', 'CODEBUILD_BUILD_ID', 'TF_BUILD', 'UNKNOWN'].map(
    (sign): [string, Record<string, string>, Partial<CiFacts>] => [
      `${sign}: everything from the checkout`,
      { [sign]: 'x' },
      {
        branch: 'from-git',
        branchClass: 'NONE',
        prNumber: null,
        jobUrl: '',
        commitMessage: 'A',
      },
    ],
  ),
];

describe('CI facts', () => {
  for (const [name, envs, expected] of CASES) {
    it(`are read from the variables of ${name} [U11]`, () => {
      const found = facts(envs);
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((key) => [key, found[key as keyof CiFacts]])),
        expected,
      );
    });
  }

  it('take the branch of a repository without a checkout before that of the environment [U11]', () => {
    assert.equal(facts({ CUSTOM: 'true', COMMIT_BRANCH: 'env' }, { isUncloned: true }).branch, 'from-git');
    assert.equal(facts({ CUSTOM: 'true', COMMIT_BRANCH: 'env' }, { isUncloned: true, branch: '' }).branch, 'env');
  });

  it('take empty variables for absent ones, and no number that is none [U11]', () => {
    assert.equal(facts({ CUSTOM: '', GITHUB_ACTIONS: 'true' }).platform, 'github');
    for (const number of ['false', '-1', '1.5', '1e3', '99999999999', ' ']) {
      assert.equal(facts({ CUSTOM: 'true', PR_NUMBER: number }).prNumber, null, number);
    }
  });
});

describe('a branch', () => {
  it('is cleaned of what git and CI put before it [U12]', () => {
    assert.equal(cleanBranch('refs/heads/main'), 'main');
    assert.equal(cleanBranch(' refs/remotes/origin/x '), 'remotes/x');
    assert.equal(cleanBranch('refs/pull/3/merge'), 'pull/3/merge');
    assert.equal(cleanBranch('ü'.repeat(2_000)), 'ü'.repeat(500));
  });

  it('is of a merge queue, a pull request, protected, or none of them, the first that fits [U61]', () => {
    const classOf = (branch: string, prNumber: number | null = null) =>
      classifyBranch({ branch, prNumber, isMergeTrain: false }, RULES);
    for (const branch of [
      'sluice/pr-1/x',
      'trunk-merge/pr-1/x',
      'x/trunk-merge/y',
      'gh-readonly-queue/main/pr-1',
      'gtmq_x',
      'a/gtmq_b',
    ]) {
      assert.equal(classOf(branch, 1), 'MERGE', branch);
    }
    for (const branch of ['feature/sluice/x', 'sluice', 'my-gtmq_x']) assert.equal(classOf(branch), 'NONE', branch);
    assert.equal(classOf('pull/3/merge'), 'PR');
    assert.equal(classOf('remotes/pull/3/merge'), 'PR');
    assert.equal(classOf('main', 3), 'PR');
    assert.equal(classOf('main'), 'PB');
    assert.equal(classOf('release/1'), 'PB');
    assert.equal(classOf('release/2'), 'NONE');
  });
});
