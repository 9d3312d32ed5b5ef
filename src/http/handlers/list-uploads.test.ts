import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { problemOf } from '../../../test/e2e/harness.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { NOON } from '../../../test/helpers/store-rows.ts';
import { readPages } from '../../../test/worlds/server/pages.ts';
import { createUploadWorld, FIELDS, REPORT } from '../../../test/worlds/server/upload-server.ts';
import type { UploadPage, UploadView } from '../../app/uploads/uploads.ts';
import type { Issue } from '../../flaky/identity/issue.ts';
import type { Upload, UploadOutcome } from '../../storage/uploads.ts';

const LIST = '/v1/flaky-tests/list-uploads';
const AGAIN = '/v1/flaky-tests/process-upload-again';
const ISSUE: Issue = {
  level: 'error',
  file: 'report.xml',
  line: 3,
  message: 'It ends here.',
  hint: 'Send all of it.',
};

describe('list-uploads', () => {
  const world = madeForEach(() => createUploadWorld());

  const upload = async (more: Readonly<Record<string, string>> = {}) => {
    const answer = await world.send(Buffer.from(REPORT), {}, { ...FIELDS, ...more });
    return (JSON.parse(answer.text) as { upload_id: string }).upload_id;
  };
  const list = (page: object = {}) => world.ok<UploadPage>(LIST, { ...world.scope, page_query: page });
  const finish = (uploadId: string, outcome: Partial<UploadOutcome>) =>
    world.store.uploadWork.finish({
      uploadId,
      partsDone: 0,
      status: 'FAILED',
      processedAt: NOON + 5,
      fields: null,
      testRuns: 0,
      issues: [],
      flaw: null,
      counts: null,
      ...outcome,
    });
  const again = (uploadId: string) => world.post(AGAIN, { ...world.scope, upload_id: uploadId });

  test('shows the fields of an upload, its status and its counts [U21]', async () => {
    const job = { job_name: 'unit', job_url: 'https://ci.test/1', job_attempt: '2' };
    const more = { pr_number: '7', ...job, variant: 'linux', fork: 'true' };
    const id = await upload(more);
    const before: UploadView = {
      id,
      status: 'ACCEPTED',
      received_at: new Date(NOON).toISOString(),
      processed_at: null,
      branch: 'main',
      sha: FIELDS.sha,
      pr_number: 7,
      job_name: 'unit',
      job_url: 'https://ci.test/1',
      variant: 'linux',
      test_run_id: null,
      check: null,
      fork: true,
      job_attempt: 2,
      evidence: 'STATUSES',
      no_evidence_because: null,
      files: 1,
      size_bytes: REPORT.length,
      test_runs: 0,
      issues: [],
    };
    assert.deepEqual((await list()).uploads, [before]);
    await finish(id, { status: 'FAILED', issues: [ISSUE] });
    const processed_at = new Date(NOON + 5).toISOString();
    assert.deepEqual((await list()).uploads, [{ ...before, status: 'FAILED', processed_at, issues: [ISSUE] }]);
  });

  test('says why an upload waits', async () => {
    const id = await upload();
    await world.store.uploadWork.delay(id, { trouble: 'The disk is full.', retryAt: NOON + 60_000 });
    const [shown] = (await list()).uploads;
    assert.deepEqual(pluck(shown?.issues, 'level', 'message'), [['warning', 'The disk is full.']]);
  });

  test('is newest first, and all pages are as of the first [U21]', async () => {
    const ids: string[] = [];
    for (let number = 0; number < 7; number++) ids.push(await upload({ job_name: `job ${number}` }));
    const pages = await readPages(3, list, () => upload({ job_name: `later ${randomUUID()}` }));
    assert.ok(pages.every(({ page }) => page.total_rows === 7 && page.total_pages === 3));
    const seen = pages.flatMap(({ uploads }) => uploads.map(({ id }) => id));
    assert.deepEqual(seen, ids.toReversed());
    assert.equal((await list()).page.total_rows, 9);
    const tokens = { page_size: 3, page_token: pages[0]?.page.next_page_token };
    const lists = '/v1/flaky-tests/list-quarantined-tests';
    await world.refused('400 VALIDATION_FAILED', lists, { ...world.scope, page_query: tokens });
  });

  test('is of one repository, and for those who may read it', async () => {
    await upload({ repo_name: 'other' });
    assert.deepEqual((await list()).uploads, []);
    await world.refused('404 ORGANIZATION_NOT_FOUND', LIST, { ...world.scope, org_url_slug: 'x', page_query: {} });
    const repo = { ...world.scope.repo, name: 'nothing' };
    await world.refused('404 REPOSITORY_NOT_FOUND', LIST, { ...world.scope, repo, page_query: {} });
  });

  test('has statuses in lower case on the other mount', async () => {
    await upload();
    const page = await world.ok<UploadPage>(`/trunk${LIST}`, { ...world.scope, page_query: {} });
    assert.deepEqual(
      page.uploads.map(({ status }) => status as string),
      ['accepted'],
    );
  });

  test('an upload is the same with any token that may upload, also one with the old scope evidence [U16] [U47] [A14]', async () => {
    const worths: unknown[] = [];
    for (const [index, scopes] of [['upload'], ['evidence'], ['admin']].entries()) {
      const token = await world.makeToken({ name: `t${index}`, scopes });
      const answer = await world.send(Buffer.from(REPORT), { 'x-api-token': token }, FIELDS);
      assert.equal(answer.status, 202, answer.text);
      worths.push((await list()).uploads[0]?.evidence);
    }
    assert.deepEqual(worths, ['STATUSES', 'STATUSES', 'STATUSES']);
    assert.equal((await list()).page.total_rows, 1);
  });

  describe('ignore-upload', () => {
    const IGNORE = '/v1/flaky-tests/ignore-upload';
    const of = (uploadId: string) => ({ ...world.scope, upload_id: uploadId, reason: 'The database was down.' });

    test('takes back what an upload is evidence for, once [U48]', async () => {
      const id = await upload();
      await world.refused('409 UPLOAD_NOT_PROCESSED', IGNORE, of(id));
      await finish(id, { status: 'PROCESSED', testRuns: 1 });
      const wakes = world.wakes();
      const first = await world.ok<{ upload: UploadView }>(IGNORE, of(id));
      assert.deepEqual(
        [first.upload.status, first.upload.evidence, first.upload.no_evidence_because],
        ['SKIPPED', 'NOTHING', 'IGNORED'],
      );
      assert.equal(first.upload.ignored?.reason, 'The database was down.');
      assert.equal(world.wakes(), wakes + 1);
      const second = await world.ok<{ upload: UploadView }>(IGNORE, { ...of(id), reason: 'Once more.' });
      assert.deepEqual(second.upload, first.upload);
    });

    test('needs a reason, an upload of the repository, and the scope admin [U48]', async () => {
      const id = await upload();
      await world.refused('400 VALIDATION_FAILED', IGNORE, { ...of(id), reason: ' ' });
      await world.refused('404 UPLOAD_NOT_FOUND', IGNORE, of('7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11'));
    });
  });

  describe('process-upload-again', () => {
    test('has an ended upload processed again, once its files are kept [U67]', async () => {
      const id = await upload();
      await finish(id, { status: 'FAILED', issues: [ISSUE] });
      const wakes = world.wakes();
      const answer = await again(id.toUpperCase());
      assert.equal(answer.status, 200, answer.text);
      assert.equal((JSON.parse(answer.text) as { upload: UploadView }).upload.status, 'ACCEPTED');
      assert.equal(world.wakes(), wakes + 1);
      assert.equal(((await world.store.uploads.find(id)) as Upload).status, 'ACCEPTED');
    });

    test('leaves one that waits as it is', async () => {
      const id = await upload();
      assert.equal((await again(id)).status, 200);
      assert.equal(world.wakes(), 1);
    });

    test('is 409 when the files are gone [U67]', async () => {
      const id = await upload();
      await finish(id, { status: 'PROCESSED' });
      const later = NOON + 100;
      const of = { now: later, bodiesBefore: later, maxBytes: Number.MAX_SAFE_INTEGER, uploadsBefore: 0 };
      await world.store.uploadWork.tidy(of);
      problemOf(await again(id), '409 UPLOAD_NOT_KEPT');
    });

    test('knows only uploads of the repository, and only admins may [U67]', async () => {
      problemOf(await again(randomUUID()), '404 UPLOAD_NOT_FOUND');
      problemOf(await again(await upload({ repo_name: 'other' })), '404 UPLOAD_NOT_FOUND');
      problemOf(await again('x'), '400 VALIDATION_FAILED');
      const token = await world.makeToken({ scopes: ['read', 'upload'] });
      const response = await world.server.inject({
        method: 'POST',
        url: AGAIN,
        headers: { 'x-api-token': token, 'content-type': 'application/json' },
        payload: JSON.stringify({ ...world.scope, upload_id: await upload() }),
      });
      assert.equal(response.statusCode, 403);
    });
  });
});
