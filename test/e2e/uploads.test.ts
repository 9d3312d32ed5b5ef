import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UploadPage, UploadView } from '../../src/app/uploads/uploads.ts';
import { createTestIds } from '../../src/flaky/identity/test-id.ts';
import { type CreatedUpload, type FailingTest, Uploader } from '../helpers/uploader.ts';
import { type Client, makeFolder, problemOf, type ServerProcess, until } from './harness.ts';
import { openProcess } from './test-queue.ts';

const REPO = { host: 'github.com', owner: 'acme', name: 'widgets' };
const SCOPE = { repo: REPO, org_url_slug: 'default' };
const NAMES = { file: 'src/math.test.ts', classname: 'math', parent: 'math suite', name: 'subtracts', infoId: '' };
const REPORT = `<testsuites><testsuite name="math suite">
<testcase name="adds" classname="math" file="src/math.test.ts" time="0.012"/>
<testcase name="subtracts" classname="math" file="src/math.test.ts" time="0.020"><failure message="expected 1">stack</failure></testcase>
</testsuite></testsuites>`;
const FILES = [{ path: 'junit/0', content: REPORT }];
const FIELDS = {
  org_url_slug: 'default',
  repo_host: REPO.host,
  repo_owner: REPO.owner,
  repo_name: REPO.name,
  sha: 'abcdef1',
  branch: 'main',
};

const list = async (api: Client) =>
  (await api.ok<UploadPage>('flaky-tests/list-uploads', { ...SCOPE, page_query: {} })).uploads;

const untilProcessed = (api: Client, count: number) =>
  until(`${count} uploads are processed`, 30_000, async (): Promise<readonly UploadView[] | undefined> => {
    const uploads = await list(api);
    const isSo = uploads.length === count && uploads.every(({ status }) => status !== 'ACCEPTED');
    return isSo ? uploads : undefined;
  });

describe('uploads to a real server', () => {
  test('bundles on both mounts, forms and reports are all processed, and quarantine is looked up [U15] [U18]', async (t) => {
    const { url, token, api, output } = (await openProcess(t)).server;
    const client = (base: string) => new Uploader({ base, token, org: 'default', repo: REPO });
    const id = createTestIds({ org: 'default', repository: REPO, variant: '' })(NAMES);
    const failing: FailingTest = {
      id,
      name: NAMES.name,
      parentName: NAMES.parent,
      className: NAMES.classname,
      file: NAMES.file,
      variant: '',
    };
    assert.deepEqual(await client(url).run(FILES, [failing]), [200, 200, 200, 200]);
    assert.deepEqual(await client(`${url}/trunk`).run(FILES), [200, 200, 200]);
    const form = new FormData();
    form.append('files', new Blob([REPORT]), 'report.xml');
    for (const [name, value] of Object.entries(FIELDS)) form.append(name, value);
    const sent = await api.send('flaky-tests/upload-results', { method: 'POST', body: form });
    assert.equal(sent.status, 202, sent.text);
    const query = new URLSearchParams({ ...FIELDS, job_name: 'unit' });
    const raw = await api.send(`flaky-tests/upload-results?${query}`, { method: 'POST', body: REPORT });
    assert.equal(raw.status, 202, raw.text);
    const uploads = await untilProcessed(api, 4);
    assert.deepEqual(
      uploads.map(({ status, test_runs }) => [status, test_runs]),
      Array.from({ length: 4 }, () => ['PROCESSED', 2]),
    );
    const setting = { test_id: id, setting: 'ALWAYS_QUARANTINE', reason: 'it annoys' };
    await api.ok('flaky-tests/set-quarantine', { ...SCOPE, ...setting });
    const config = await (await client(url).lookUp([failing])).json();
    assert.deepEqual(config, { isDisabled: false, testIds: [id] });
    assert.ok(!output.err.includes('because of a bug'), output.err);
  });

  test('results are tied to a test run of their repository, and of no other [U15]', async (t) => {
    const { server, aQueue } = await openProcess(t);
    const { api } = server;
    const [queue, other] = [await aQueue(), await aQueue()];
    await queue.submitOne();
    const id = await until('a test run begins', 15_000, async () => (await queue.ci.runs())[0]?.testRunId);
    const send = (name: string) => {
      const repo = { repo_host: 'local', repo_owner: 'acme', repo_name: name };
      const query = new URLSearchParams({
        ...FIELDS,
        ...repo,
        test_run_id: `${id.toUpperCase()}-bisection`,
        check: 'test',
      });
      return api.send(`flaky-tests/upload-results?${query}`, { method: 'POST', body: REPORT });
    };
    problemOf(await send(other.repo.name), '404 TEST_RUN_NOT_FOUND');
    assert.equal((await send(queue.repo.name)).status, 202);
    const body = { repo: queue.repo, org_url_slug: 'default', page_query: {} };
    const [upload] = (await api.ok<UploadPage>('flaky-tests/list-uploads', body)).uploads;
    assert.deepEqual([upload?.test_run_id, upload?.check], [id, 'test']);
  });

  test('an address stays good when the server starts again, and accepted uploads are processed then [U18]', async (t) => {
    const environment = { SLUICE_DATA: await makeFolder() };
    const { server: first } = await openProcess(t, environment);
    const client = (server: ServerProcess) =>
      new Uploader({ base: server.url, token: server.token, org: 'default', repo: REPO });
    const created = (await (await client(first).create()).json()) as CreatedUpload;
    await first.stop();
    const { server: second } = await openProcess(t, environment);
    const { pathname, search } = new URL(created.url);
    const put = await client(second).put(`${second.url}${pathname}${search}`, client(second).pack(created, FILES));
    assert.equal(put.status, 200);
    // Killed at any point of the processing.
    second.child.kill('SIGKILL');
    await second.exited;
    const { server: third } = await openProcess(t, environment);
    const [upload] = await untilProcessed(third.api, 1);
    assert.deepEqual([upload?.id, upload?.status, upload?.test_runs], [created.id, 'PROCESSED', 2]);
  });
});
