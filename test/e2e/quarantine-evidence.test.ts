import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { UploadView } from '../../src/app/uploads/uploads.ts';
import { type CreatedUpload, Uploader } from '../helpers/uploader.ts';
import { type Client, createClient, startHere, type TestServer, until } from './harness.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

/** Three tests, each of which fails if the commit says so, and a report of them. */
const COMMAND = `
mkdir -p reports
code=0
run() {
  if [ -f "break-$1.txt" ]; then
    code=1; echo "<testcase name=\\"$1\\" classname=\\"math\\" time=\\"0.1\\"><failure message=\\"no\\">no</failure></testcase>"
  else
    echo "<testcase name=\\"$1\\" classname=\\"math\\" time=\\"0.1\\"/>"
  fi
}
{ echo '<testsuite name="math">'; run a; run b; run c; echo '</testsuite>'; } > reports/unit.xml
exit $code`;

interface Scene {
  readonly server: TestServer;
  readonly queue: TestQueue;
}

async function withQueue(settings: object, use: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await startHere();
  const queue = await createQueue(server.api, { honorQuarantine: 'ON', ...settings });
  try {
    const scope = { repo: queue.repo, org_url_slug: 'default' };
    await server.api.ok('flaky-tests/update-settings', { ...scope, auto_quarantine: true });
    await use({ server, queue });
  } finally {
    await server.stop();
    await queue.close();
  }
}

async function land(queue: TestQueue, files: Readonly<Record<string, string>> = {}): Promise<EntryView> {
  const number = await queue.submitOne({ [`change-${Math.random()}.txt`]: 'x\n', ...files });
  await queue.untilEntry(number, ({ isCurrentlySubmittedToQueue }) => !isCurrentlySubmittedToQueue);
  return queue.get(number, { includeExplanation: true, includeTimeline: true });
}

async function withScopes({ server }: Scene, ...scopes: readonly string[]): Promise<Client> {
  const { token } = await server.api.ok<{ token: string }>('createApiToken', { name: scopes.join(), scopes });
  return createClient({ url: `${server.url}/v1`, token });
}

/** Any holder of this token can claim it: the test failed at the first attempt of a job, and passed at the second. */
async function tellFlaky(
  api: Client,
  queue: TestQueue,
  of: { readonly sha: string; readonly branch: string; readonly test: string },
) {
  const failure = '<failure message="no">no</failure>';
  for (const [attempt, inside] of [failure, ''].entries()) {
    const report = `<testsuite name="math"><testcase name="${of.test}" classname="math" time="0.1">${inside}</testcase></testsuite>`;
    await send(
      api,
      queue,
      { sha: of.sha, branch: of.branch, job_name: 'forged', job_attempt: String(attempt + 1) },
      report,
    );
  }
}

async function send(
  api: Client,
  { repo }: TestQueue,
  more: Readonly<Record<string, string>>,
  report: string,
): Promise<void> {
  const fields = {
    org_url_slug: 'default',
    repo_host: repo.host,
    repo_owner: repo.owner,
    repo_name: repo.name,
    ...more,
  };
  const init = { method: 'POST', headers: { 'content-type': 'application/xml' }, body: report };
  const { status, text } = await api.send(`flaky-tests/upload-results?${new URLSearchParams(fields)}`, init);
  assert.equal(status, 202, text);
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

function explained(queue: TestQueue, { prNumber }: EntryView): Promise<EntryView> {
  return queue.get(prNumber, { includeExplanation: true });
}

const BROKEN = '<testcase name="b" classname="math"><failure message="no">no</failure></testcase>';

function textsOf(reasons: EntryView['explanation']): string {
  return JSON.stringify(reasons);
}

describe('evidence for a waiver', () => {
  it('is nothing that a token with the scope upload can forge: what really breaks a test fails [V21] [U45]', () =>
    withQueue({ requiredStatuses: null }, async (scene) => {
      const { queue, server } = scene;
      const checks = [{ name: 'test', command: COMMAND }];
      await server.api.ok('registerRepository', { repo: queue.repo, checks, junit: ['reports/*.xml'] });
      const first = await land(queue);
      assert.equal(first.state, 'MERGED');
      const { testRunId } = first.timeline?.find((step) => step.testRunId !== undefined) ?? {};
      const run = await server.api.ok<CandidateView>('getMergeQueueTestingDetails', { ...queue.ref, testRunId });
      const attacker = await withScopes(scene, 'upload');
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
        const guilty = await land(queue, { [`break-${test}.txt`]: 'x\n' });
        assert.equal(guilty.state, 'FAILED', test);
        assert.match(textsOf(guilty.explanation), why);
        assert.match(textsOf(guilty.explanation), /is not waived/);
      }

      await tellFlaky(await withScopes(scene, 'evidence'), queue, { sha: head, branch: 'main', test: 'b' });
      await processed(queue);
      const excused = await land(queue, { 'break-b.txt': 'x\n' });
      assert.equal(excused.state, 'MERGED', 'whoever runs the tests of the target says so');
      assert.equal(excused.landed?.waived[0]?.check, 'test');
    }));

  it('needs results of a proven origin: those that code of a pull request can forge excuse nobody [V21] [U46]', () =>
    withQueue({}, async (scene) => {
      const { queue, server } = scene;
      const report = (inside = '') =>
        `<testsuite name="math"><testcase name="a" classname="math">${inside}</testcase><testcase name="b" classname="math"/></testsuite>`;
      const failing = report('<failure message="no">no</failure>');
      const trusted = await withScopes(scene, 'evidence');
      const first = await queue.submitOne();
      const passed = await queue.ci.runOf(first);
      await send(trusted, queue, { sha: passed.testBranchSha, branch: passed.testBranch, job_name: 'test' }, report());
      await queue.ci.pass(first);
      await queue.ci.untilState(first, 'MERGED');
      await tellFlaky(trusted, queue, { sha: await queue.git.git(['rev-parse', 'main']), branch: 'main', test: 'a' });
      const [upload] = await processed(queue);
      assert.equal(upload?.evidence, 'WAIVERS');

      const forged = await queue.submitOne();
      const { token } = await server.api.ok<{ token: string }>('createApiToken', { name: 'ci', scopes: ['upload'] });
      const run = await queue.ci.runOf(forged);
      const uploader = new Uploader({ base: `${server.url}/trunk`, token, org: 'default', repo: queue.repo });
      const created = (await (await uploader.create()).json()) as CreatedUpload;
      const meta = {
        envs: { CUSTOM: 'true', COMMIT_BRANCH: run.testBranch, JOB_NAME: 'test' },
        internal_bundled_file: null,
        repo: { repo: queue.repo, repo_head_sha: run.testBranchSha, repo_head_branch: `refs/heads/${run.testBranch}` },
      };
      const put = await uploader.put(
        created.url,
        uploader.pack(created, [{ path: 'junit/0', content: failing }], meta),
      );
      assert.equal(put.status, 200);
      const [bundle] = await processed(queue);
      assert.deepEqual([bundle?.test_run_id, bundle?.check], [run.testRunId, 'test']);
      await queue.ci.fail(forged);
      const { quarantine } = (await queue.ci.read(run.testRunId)).checkSuites[0]?.checkRuns[0] ?? {};
      assert.equal(quarantine?.verdict, 'PENDING', 'results that can be believed may still come');
      const real = { sha: run.testBranchSha, branch: run.testBranch, job_name: 'test' };
      await send(trusted, queue, real, failing.replace('<testcase name="b" classname="math"/>', BROKEN));
      assert.match(
        textsOf((await explained(queue, await queue.ci.untilState(forged, 'FAILED'))).explanation),
        /b: It is not quarantined/,
      );

      const honest = await queue.submitOne();
      const failed = await queue.ci.runOf(honest);
      await send(
        trusted,
        queue,
        { sha: failed.testBranchSha, branch: failed.testBranch, job_name: 'CI / test' },
        failing,
      );
      await queue.ci.fail(honest);
      await queue.ci.untilState(honest, 'MERGED');
    }));
});
