import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UploadPage, UploadView } from '../../src/app/uploads/uploads.ts';
import { type CreatedUpload, Uploader } from '../helpers/uploader.ts';
import { type Client, makeFolder, type ServerProcess, until } from './harness.ts';
import { openProcess } from './test-queue.ts';

const REPO = { host: 'github.com', owner: 'acme', name: 'widgets' };
const SCOPE = { repo: REPO, org_url_slug: 'default' };
const REPORT = `<testsuites><testsuite name="math suite">
<testcase name="adds" classname="math" file="src/math.test.ts" time="0.012"/>
<testcase name="subtracts" classname="math" file="src/math.test.ts" time="0.020"><failure message="expected 1">stack</failure></testcase>
</testsuite></testsuites>`;
const FILES = [{ path: 'junit/0', content: REPORT }];

const list = async (api: Client) =>
  (await api.ok<UploadPage>('flaky-tests/list-uploads', { ...SCOPE, page_query: {} })).uploads;

const untilProcessed = (api: Client, count: number) =>
  until(`${count} uploads are processed`, 30_000, async (): Promise<readonly UploadView[] | undefined> => {
    const uploads = await list(api);
    const isSo = uploads.length === count && uploads.every(({ status }) => status !== 'ACCEPTED');
    return isSo ? uploads : undefined;
  });

describe('uploads to a real server', () => {
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
