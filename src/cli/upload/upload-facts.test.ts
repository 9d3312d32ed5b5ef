import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import type { Checkout } from '../../git/read-checkout.ts';
import { repoOf } from '../core/checkout.ts';
import { chooseFacts, type GivenFacts } from './upload-facts.ts';

const SHA = 'a'.repeat(40);
const HEAD = 'b'.repeat(40);
const CHECKOUT: Checkout = {
  sha: SHA,
  parents: [HEAD],
  branch: 'topic',
  originUrl: 'git@github.com:acme/widgets.git',
};
const REPO = { host: 'github.com', owner: 'acme', name: 'widgets' };

function facts(environment: Record<string, string>, given: GivenFacts = {}, checkout: Checkout | null = CHECKOUT) {
  return chooseFacts(given, { environment, findCheckout: async () => checkout ?? undefined, findRepo });
}

const findRepo = async (checkout: Checkout | undefined) => repoOf(checkout);
const unasked = async (): Promise<never> => assert.fail('git was asked');

describe('the facts that an upload states [W6]', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-event-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('comes from the checkout where nothing else says it', async () => {
    const found = await facts({});
    assert.deepEqual([found.repo, found.sha, found.branch, found.prNumber], [REPO, SHA, 'topic', null]);
  });

  it('comes from the options before anything else, and git is not asked then', async () => {
    const given = { repo: REPO, sha: HEAD, branch: 'x', pr: 4, job: 'j', jobUrl: 'http://ci/1', variant: 'arm' };
    const environment = { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/heads/main', GITHUB_SHA: SHA };
    const found = await chooseFacts(given, { environment, findCheckout: unasked, findRepo: unasked });
    assert.deepEqual(
      [found.repo, found.sha, found.branch, found.prNumber, found.jobName, found.jobUrl, found.variant],
      [REPO, HEAD, 'x', 4, 'j', 'http://ci/1', 'arm'],
    );
  });

  it('comes from the environment of CI before the checkout', async () => {
    const environment = {
      GITLAB_CI: 'true',
      CI_COMMIT_SHA: HEAD,
      CI_COMMIT_REF_NAME: 'main',
      CI_PROJECT_URL: 'https://gitlab.acme.dev/group/sub/app',
      CI_JOB_NAME: 'unit',
      CI_JOB_STAGE: 'test',
      CI_JOB_URL: 'https://gitlab.acme.dev/jobs/1',
      CI_MERGE_REQUEST_IID: '7',
    };
    const found = await chooseFacts({}, { environment, findCheckout: unasked, findRepo: unasked });
    assert.deepEqual(found.repo, { host: 'gitlab.acme.dev', owner: 'group/sub', name: 'app' });
    assert.deepEqual(
      [found.sha, found.branch, found.prNumber, found.jobName, found.jobUrl],
      [HEAD, 'main', 7, `unit / test on ${process.platform}-${process.arch}`, 'https://gitlab.acme.dev/jobs/1'],
    );
  });

  it('knows the branch and commit of systems that the server leaves to the checkout', async () => {
    const azure = { TF_BUILD: 'True', BUILD_SOURCEVERSION: HEAD, BUILD_SOURCEBRANCH: 'refs/heads/main' };
    const found = await facts(azure, {}, { ...CHECKOUT, branch: null });
    assert.deepEqual([found.sha, found.branch], [HEAD, 'main']);
    const buildkite = { BUILDKITE: 'true', BUILDKITE_COMMIT: 'HEAD', BUILDKITE_BRANCH: 'main' };
    assert.equal((await facts(buildkite)).sha, SHA, 'a word that is no commit is none');
  });

  it('names the head of a pull request, not the merge that GitHub makes of it each time [W18]', async () => {
    const event = path.join(folder, 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { head: { sha: HEAD } } }));
    const environment = {
      GITHUB_ACTIONS: 'true',
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_HEAD_REF: 'topic',
      GITHUB_SHA: SHA,
      GITHUB_REPOSITORY: 'acme/widgets',
      GITHUB_EVENT_PATH: event,
    };
    const found = await chooseFacts({}, { environment, findCheckout: unasked, findRepo: unasked });
    assert.deepEqual([found.sha, found.branch, found.prNumber, found.repo], [HEAD, 'topic', 7, REPO]);
    const merge = { ...CHECKOUT, parents: ['c'.repeat(40), HEAD] };
    writeFileSync(event, 'not JSON');
    assert.equal((await facts(environment, {}, merge)).sha, HEAD);
    assert.equal((await facts(environment, {}, null)).sha, SHA, 'better than none');
  });

  it('knows which try of the job it is and that the commit is a fork\u2019s, where CI says so [U38]', async () => {
    const event = path.join(folder, 'fork.json');
    const github = {
      GITHUB_ACTIONS: 'true',
      GITHUB_SHA: SHA,
      GITHUB_REPOSITORY: 'acme/widgets',
      GITHUB_EVENT_PATH: event,
    };
    const of = async (environment: Record<string, string>, given: GivenFacts = {}) => {
      const { isFork, jobAttempt } = await facts(environment, given);
      return [isFork, jobAttempt];
    };
    const pullRequest = (head: object | null) => {
      const sides = { base: { repo: { full_name: 'acme/widgets' } }, head: { sha: HEAD, repo: head } };
      writeFileSync(event, JSON.stringify({ pull_request: sides }));
    };
    assert.deepEqual(await of({}), [false, null]);
    assert.deepEqual(await of({ ...github, GITHUB_RUN_ATTEMPT: '2' }), [false, 2]);
    pullRequest({ full_name: 'someone/widgets' });
    assert.deepEqual(await of(github), [true, null]);
    assert.deepEqual(await of(github, { fork: false, attempt: 4 }), [false, 4]);
    pullRequest({ full_name: 'acme/widgets' });
    assert.deepEqual(await of(github), [false, null]);
    pullRequest(null);
    assert.deepEqual(await of(github), [true, null], 'a fork that is gone');
    assert.deepEqual(await of({ BUILDKITE: 'true', BUILDKITE_RETRY_COUNT: '1' }, { fork: true }), [true, 2]);
  });

  it('is asked for where nobody says it', async () => {
    await assert.rejects(facts({}, {}, null), /Say which repository: -R/);
    await assert.rejects(facts({}, {}, { ...CHECKOUT, originUrl: '/srv/git/app.git' }), /no address of a repository/);
    await assert.rejects(facts({}, { repo: REPO }, null), /Say which commit was tested: --sha/);
    await assert.rejects(facts({}, { repo: REPO }, { ...CHECKOUT, branch: null }), /--branch/);
    await assert.rejects(facts({}, { testRunId: 'x' }), /--check/);
  });
});
