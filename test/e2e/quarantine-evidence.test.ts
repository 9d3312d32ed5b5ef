import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { UploadView } from '../../src/app/uploads/uploads.ts';
import { type CreatedUpload, Uploader } from '../helpers/uploader.ts';
import { testRunOf } from './checks.ts';
import { type Client, until } from './harness.ts';
import { aReportingQueue, caseOf, FAILURE, reportOf, submitFiles, upload } from './quarantine-world.ts';
import { type TestQueue, useServer } from './test-queue.ts';

/** Any holder of this token can claim it: the test failed at the first attempt of a job, and passed at the second. */
async function tellFlaky(
  api: Client,
  queue: TestQueue,
  of: { readonly sha: string; readonly branch: string; readonly test: string },
) {
  for (const [attempt, inside] of [FAILURE, ''].entries()) {
    const fields = { sha: of.sha, branch: of.branch, job_name: 'forged', job_attempt: String(attempt + 1) };
    await upload(api, queue, fields, reportOf(caseOf(of.test, inside)));
  }
}

async function processed({ api, repo }: TestQueue): Promise<readonly UploadView[]> {
  const body = { repo, org_url_slug: 'default', page_query: {} };
  return until('every upload is processed', 20_000, async () => {
    const { uploads } = await api.ok<{ uploads: readonly UploadView[] }>('flaky-tests/list-uploads', body);
    return uploads.every(({ status }) => status !== 'ACCEPTED') ? uploads : undefined;
  });
}

async function statusOf({ api, repo }: TestQueue, name: string): Promise<string> {
  const found = await api.ok<{ tests: { name: string; status: { value: string }; quarantined: boolean }[] }>(
    'flaky-tests/search-tests',
    { repo, org_url_slug: 'default', query: name },
  );
  const test = found.tests.find((each) => each.name === name);
  return `${test?.status.value} ${test?.quarantined === true ? 'quarantined' : 'free'}`;
}

function jobOf({ testBranchSha: sha, testBranch: branch }: CandidateView, name = 'test') {
  return { sha, branch, job_name: name };
}

function textsOf(reasons: EntryView['explanation']): string {
  return JSON.stringify(reasons);
}

describe('evidence for a waiver', () => {
  const world = useServer();
  const quarantineItself = ({ api, repo }: TestQueue) =>
    api.ok('flaky-tests/update-settings', { repo, org_url_slug: 'default', auto_quarantine: true });

  it('is nothing that a token with the scope upload can forge: what really breaks a test fails [V21] [U45]', async () => {
    const queue = await aReportingQueue(world, ['a', 'b', 'c'], { honorQuarantine: 'ON' });
    await quarantineItself(queue);
    const first = await submitFiles(queue);
    assert.equal(first.state, 'MERGED');
    const run = await queue.ci.read(await testRunOf(queue, first.prNumber));
    const attacker = await queue.api.withScopes('upload');
    const head = await queue.git.git(['rev-parse', 'main']);
    await tellFlaky(attacker, queue, { sha: 'd'.repeat(40), branch: 'main', test: 'a' });
    await tellFlaky(attacker, queue, { sha: head, branch: 'main', test: 'b' });
    await tellFlaky(attacker, queue, { sha: run.testBranchSha, branch: run.testBranch, test: 'c' });
    const uploads = await processed(queue);
    assert.deepEqual(
      uploads.map(({ evidence, no_evidence_because: flaw }) => flaw ?? evidence),
      ['STATUSES', 'STATUSES', 'STATUSES', 'STATUSES', 'UNKNOWN_COMMIT', 'UNKNOWN_COMMIT', 'WAIVERS'],
    );
    assert.equal(await statusOf(queue, 'a'), 'HEALTHY free', 'no commit, no status');
    assert.equal(await statusOf(queue, 'b'), 'FLAKY quarantined', 'uploaders are told so');

    const denials = { a: /It is not quarantined/, b: /origin is not proven/, c: /origin is not proven/ };
    for (const [test, why] of Object.entries(denials)) {
      const guilty = await submitFiles(queue, { [`break-${test}.txt`]: 'x\n' });
      assert.equal(guilty.state, 'FAILED', test);
      assert.match(textsOf(guilty.explanation), why);
      assert.match(textsOf(guilty.explanation), /is not waived/);
    }

    await tellFlaky(await queue.api.withScopes('evidence'), queue, { sha: head, branch: 'main', test: 'b' });
    await processed(queue);
    const excused = await submitFiles(queue, { 'break-b.txt': 'x\n' });
    assert.equal(excused.state, 'MERGED', 'whoever runs the tests of the target says so');
    assert.equal(excused.landed?.waived[0]?.check, 'test');
  });

  it('needs results of a proven origin: those that code of a pull request can forge excuse nobody [V21] [U46]', async () => {
    const queue = await world.aQueue({ honorQuarantine: 'ON' });
    await quarantineItself(queue);
    const failing = reportOf(caseOf('a', FAILURE), caseOf('b'));
    const trusted = await queue.api.withScopes('evidence');
    const first = await queue.submitOne();
    const passed = await queue.ci.runOf(first);
    await upload(trusted, queue, jobOf(passed), reportOf(caseOf('a'), caseOf('b')));
    await queue.ci.pass(first);
    await queue.ci.untilState(first, 'MERGED');
    await tellFlaky(trusted, queue, { sha: await queue.git.git(['rev-parse', 'main']), branch: 'main', test: 'a' });
    const [told] = await processed(queue);
    assert.equal(told?.evidence, 'WAIVERS');

    const forged = await queue.submitOne();
    const { token = '' } = await queue.api.withScopes('upload');
    const run = await queue.ci.runOf(forged);
    const uploader = new Uploader({ base: `${world.server.url}/trunk`, token, org: 'default', repo: queue.repo });
    const created = (await (await uploader.create()).json()) as CreatedUpload;
    const meta = {
      envs: { CUSTOM: 'true', COMMIT_BRANCH: run.testBranch, JOB_NAME: 'test' },
      internal_bundled_file: null,
      repo: { repo: queue.repo, repo_head_sha: run.testBranchSha, repo_head_branch: `refs/heads/${run.testBranch}` },
    };
    const packed = uploader.pack(created, [{ path: 'junit/0', content: failing }], meta);
    const put = await uploader.put(created.url, packed);
    assert.equal(put.status, 200);
    const [bundle] = await processed(queue);
    assert.deepEqual([bundle?.test_run_id, bundle?.check], [run.testRunId, 'test']);
    await queue.ci.fail(forged);
    const { quarantine } = (await queue.ci.read(run.testRunId)).checkSuites[0]?.checkRuns[0] ?? {};
    assert.equal(quarantine?.verdict, 'PENDING', 'results that can be believed may still come');
    await upload(trusted, queue, jobOf(run), reportOf(caseOf('a', FAILURE), caseOf('b', FAILURE)));
    const { explanation } = await queue.ci.untilState(forged, 'FAILED');
    assert.match(textsOf(explanation), /b: It is not quarantined/);

    const honest = await queue.submitOne();
    const failed = await queue.ci.runOf(honest);
    await upload(trusted, queue, jobOf(failed, 'CI / test'), failing);
    await queue.ci.fail(honest);
    await queue.ci.untilState(honest, 'MERGED');
  });
});
