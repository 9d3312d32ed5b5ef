import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import zlib from 'node:zlib';
import { type Answer, problemOf } from '../../../test/e2e/harness.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { createUploadWorld, FIELDS, REPORT } from '../../../test/worlds/server/upload-server.ts';
import type { UploadPage } from '../../app/uploads/uploads.ts';
import type { Upload } from '../../storage/uploads.ts';

const HOUR_MS = 3_600_000;
const FORM = 'multipart/form-data; boundary=x';
const PART = ['form-data; name="files"; filename="a.xml"', REPORT] as const;
const FIELD_PARTS = Object.entries(FIELDS).map(([name, value]) => [`form-data; name="${name}"`, value] as const);
const MANY = Array.from({ length: 10_000 }, (_, index) => [`form-data; name="f${index}"`, 'x'] as const);

describe('upload-results', () => {
  const world = madeForEach(() => createUploadWorld());

  const accepted = (answer: Answer): string => {
    assert.equal(answer.status, 202, answer.text);
    const reply = JSON.parse(answer.text) as { upload_id: string; status: string };
    assert.equal(reply.status, 'ACCEPTED');
    return reply.upload_id;
  };
  const find = async (id: string) => (await world.store.uploads.find(id)) as Upload;
  const textOf = async (upload: Upload, fileNo = 0) => {
    return buffer(world.store.uploadBodies.read(upload.bodyId as string, fileNo));
  };
  const form = (
    fields: Readonly<Record<string, string | undefined>>,
    ...files: readonly (string | Buffer<ArrayBuffer>)[]
  ) => {
    const data = new FormData();
    for (const [index, file] of files.entries()) data.append('files', new Blob([file]), `report-${index}.xml`);
    // After the files: fields may follow them in a form.
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) data.append(name, value);
    return data;
  };

  describe('in a form', () => {
    test('files and fields are stored as they came, and answered with 202 [U15]', async () => {
      const upload = await find(accepted(await world.send(form(FIELDS, REPORT, '<testsuite/>'))));
      assert.deepEqual(pluck(upload.files, 'name', 'encoding', 'sizeBytes'), [
        ['report-0.xml', 'identity', REPORT.length],
        ['report-1.xml', 'identity', 12],
      ]);
      assert.deepEqual(upload.fields, {
        sha: FIELDS.sha,
        branch: 'main',
        prNumber: null,
        jobName: null,
        jobUrl: null,
        variant: '',
        candidateId: null,
        check: null,
        isFork: false,
        jobAttempt: null,
      });
      assert.equal((await textOf(upload)).toString(), REPORT);
      assert.equal((await textOf(upload, 1)).toString(), '<testsuite/>');
      assert.deepEqual([upload.kind, upload.status, world.wakes()], ['reports', 'ACCEPTED', 1]);
    });

    test('every field is kept, in the form in which it is compared', async () => {
      const fields = {
        ...FIELDS,
        sha: 'ABCDEF1',
        branch: 'refs/heads/main',
        pr_number: '7',
        job_name: 'unit',
        job_url: 'https://ci.test/1',
        variant: 'linux',
        unknown: 'is ignored',
      };
      const upload = await find(accepted(await world.send(form(fields, REPORT))));
      assert.deepEqual(upload.fields, {
        sha: 'abcdef1',
        branch: 'main',
        prNumber: 7,
        jobName: 'unit',
        jobUrl: 'https://ci.test/1',
        variant: 'linux',
        candidateId: null,
        check: null,
        isFork: false,
        jobAttempt: null,
      });
    });

    test('a part with a file name is a file under any name, and one called files without a file name too', async () => {
      const body = multipart([
        ['form-data; name="report"; filename="a.xml"', REPORT],
        ['form-data; name="files"', '<testsuite/>'],
        ...Object.entries(FIELDS).map(([name, value]) => [`form-data; name="${name}"`, value] as const),
      ]);
      const upload = await find(accepted(await world.send(body, { 'content-type': FORM })));
      assert.deepEqual(pluck(upload.files, 'name'), ['a.xml', 'file-2']);
    });

    test('files that are packed are known by their first bytes', async () => {
      const data = form(FIELDS, zlib.gzipSync(REPORT), zlib.zstdCompressSync(REPORT), REPORT);
      const { files } = await find(accepted(await world.send(data)));
      assert.deepEqual(pluck(files, 'encoding'), ['gzip', 'zstd', 'identity']);
    });

    test('names of files are cut and cleaned of control characters, and lead nowhere', async () => {
      const body = multipart([
        ['form-data; name="files"; filename="a\u0007\u001b[31mb.xml"', REPORT],
        ['form-data; name="files"; filename="../../etc/passwd"', REPORT],
        [`form-data; name="files"; filename="${'x'.repeat(5_000)}"`, REPORT],
        ...Object.entries(FIELDS).map(([name, value]) => [`form-data; name="${name}"`, value] as const),
      ]);
      const { files } = await find(accepted(await world.send(body, { 'content-type': FORM })));
      assert.deepEqual(pluck(files, 'name'), ['a\ufffd\ufffd[31mb.xml', '../../etc/passwd', 'x'.repeat(500)]);
    });

    test('a file of many pieces is the file it was', async () => {
      const large = Buffer.alloc(3 * 1024 * 1024 + 17, 'abcdefg');
      const upload = await find(accepted(await world.send(form(FIELDS, large, REPORT))));
      assert.equal(upload.sizeBytes, large.length + REPORT.length);
      assert.ok((await textOf(upload)).equals(large));
      assert.equal((await textOf(upload, 1)).toString(), REPORT);
    });

    test('an empty file is accepted as a file, for processing to judge', async () => {
      const { files } = await find(accepted(await world.send(form(FIELDS, ''))));
      assert.deepEqual(files, [{ name: 'report-0.xml', encoding: 'identity', sizeBytes: 0 }]);
    });

    for (const [what, body, headers] of [
      ['without a file', () => form(FIELDS), {}],
      ['without a boundary', () => REPORT, { 'content-type': 'multipart/form-data' }],
      ['of another kind', () => REPORT, { 'content-type': 'multipart/mixed; boundary=x' }],
      ['that is no form at all', () => REPORT, { 'content-type': FORM }],
      ['that is cut off within a file', () => multipart([PART]).slice(0, -30), { 'content-type': FORM }],
      ['that is cut off within a head', () => '--x\r\ncontent-disposition: form-d', { 'content-type': FORM }],
      ['with 10,000 fields', () => multipart([PART, ...MANY]), { 'content-type': FORM }],
      ['with a field of 1 MB', () => form({ ...FIELDS, branch: 'x'.repeat(1_000_000) }, REPORT), {}],
      [
        'with a field twice',
        () => multipart([PART, ['form-data; name="sha"', 'ab'], ['form-data; name="sha"', 'ab']]),
        { 'content-type': FORM },
      ],
      [
        'with no file chosen',
        () => multipart([['form-data; name="files"; filename=""', ''], ...FIELD_PARTS]),
        { 'content-type': FORM },
      ],
    ] as readonly (readonly [string, () => string | FormData, Record<string, string>])[]) {
      test(`one ${what} is 400, and nothing of it is kept [U15] [U66] [U65]`, async () => {
        const problem = problemOf(await world.send(body(), headers), '400 VALIDATION_FAILED');
        assert.ok((problem.errors?.length ?? 0) > 0);
        await world.nothingIsKept();
      });
    }

    test('an encoding around a form is 415: its files may be packed', async () => {
      const answer = await world.send(form(FIELDS, REPORT), { 'content-encoding': 'gzip' });
      problemOf(answer, '415 UNSUPPORTED_MEDIA_TYPE');
    });
  });

  describe('as a body', () => {
    for (const type of [
      'application/xml',
      'text/xml; charset=utf-8',
      'application/octet-stream',
      'application/x-www-form-urlencoded',
      'application/gzip',
      '',
    ]) {
      test(`a report of the type "${type}" is taken, with its fields in the query [U15]`, async () => {
        const headers = type === '' ? {} : { 'content-type': type };
        const upload = await find(accepted(await world.send(Buffer.from(REPORT), headers, FIELDS)));
        assert.equal((await textOf(upload)).toString(), REPORT);
        assert.deepEqual(upload.files, [{ name: 'report.xml', encoding: 'identity', sizeBytes: REPORT.length }]);
      });
    }

    for (const [header, encoding, pack] of [
      ['gzip', 'gzip', zlib.gzipSync],
      ['x-gzip', 'gzip', zlib.gzipSync],
      ['zstd', 'zstd', zlib.zstdCompressSync],
      ['deflate', 'deflate', zlib.deflateSync],
      ['identity', 'identity', Buffer.from],
      [undefined, 'gzip', zlib.gzipSync],
      ['gzip', 'gzip', Buffer.from],
    ] as const) {
      test(`the encoding ${header} is kept with the bytes as they came (${pack.name})`, async () => {
        const packed = pack(Buffer.from(REPORT) as never) as Buffer;
        const headers = { 'content-type': 'text/xml', ...(header === undefined ? {} : { 'content-encoding': header }) };
        const upload = await find(accepted(await world.send(packed, headers, FIELDS)));
        assert.ok((await textOf(upload)).equals(packed));
        assert.equal(upload.files[0]?.encoding, encoding);
      });
    }

    for (const [what, headers] of [
      ['JSON', { 'content-type': 'application/json' }],
      ['an encoding that nobody knows', { 'content-type': 'text/xml', 'content-encoding': 'lzma' }],
      ['two encodings', { 'content-type': 'text/xml', 'content-encoding': 'gzip, zstd' }],
      ['a type that is none', { 'content-type': 'xml' }],
    ] as const) {
      test(`${what} is 415`, async () => {
        problemOf(await world.send(Buffer.from('{}'), headers, FIELDS), '415 UNSUPPORTED_MEDIA_TYPE');
        await world.nothingIsKept();
      });
    }

    test('no body is 400', async () => {
      for (const headers of [{}, { 'content-type': 'text/xml' }]) {
        problemOf(await world.send(Buffer.alloc(0), headers, FIELDS), '400 VALIDATION_FAILED');
      }
      await world.nothingIsKept();
    });
  });

  describe('a CODEOWNERS beside the reports', () => {
    const withOwners = (owners: Buffer<ArrayBuffer> | string, name: string | undefined, ...reports: string[]) => {
      const data = form(FIELDS, ...reports);
      if (name === undefined) data.append('codeowners', owners.toString());
      else data.append('codeowners', new Blob([owners]), name);
      return data;
    };

    test('is stored with the upload and is no report [U39]', async () => {
      for (const name of ['.github/CODEOWNERS', undefined]) {
        const owners = `* @acme/${name}`;
        const upload = await find(accepted(await world.send(withOwners(owners, name, REPORT))));
        assert.deepEqual(pluck(upload.files, 'name', 'role'), [
          ['report-0.xml', undefined],
          [name ?? 'CODEOWNERS', 'codeowners'],
        ]);
        assert.equal((await textOf(upload, 1)).toString(), owners);
      }
      const { uploads } = await world.ok<UploadPage>('/v1/flaky-tests/list-uploads', {
        ...world.scope,
        page_query: {},
      });
      assert.deepEqual(pluck(uploads, 'files'), [1, 1]);
    });

    test('is part of what makes an upload the same one [U16] [U39]', async () => {
      const send = async (data: FormData) => accepted(await world.send(data));
      const first = await send(withOwners('* @a', 'CODEOWNERS', REPORT));
      assert.equal(await send(withOwners('* @a', 'docs/CODEOWNERS', REPORT)), first);
      assert.notEqual(await send(withOwners('* @b', 'CODEOWNERS', REPORT)), first);
      assert.notEqual(await send(form(FIELDS, REPORT, '* @a')), first);
    });

    test('needs a report beside it, comes once, and has at most 3 MB [U39]', async () => {
      const two = withOwners('* @a', 'CODEOWNERS', REPORT);
      two.append('codeowners', new Blob(['* @b']), 'CODEOWNERS');
      const large = withOwners(Buffer.alloc(3_000_001, 'a'), 'CODEOWNERS', REPORT);
      for (const [data, path] of [
        [withOwners('* @a', 'CODEOWNERS'), '/files'],
        [two, '/codeowners'],
        [large, '/codeowners'],
      ] as const) {
        const { errors } = problemOf(await world.send(data), '400 VALIDATION_FAILED');
        assert.deepEqual(pluck(errors, 'path'), [path]);
      }
      await world.nothingIsKept();
    });
  });

  describe('its fields', () => {
    test('are all checked at once [U65]', async () => {
      const fields = {
        org_url_slug: 'acme',
        repo_host: 'not a host',
        repo_owner: '../x',
        repo_name: '',
        sha: 'xyz',
        branch: 'a\u0001b',
        pr_number: '0',
        job_url: 'javascript:alert(1)',
      };
      for (const body of [form(fields, REPORT), Buffer.from(REPORT)]) {
        const answer = await world.send(body, {}, body instanceof FormData ? {} : fields);
        const { errors } = problemOf(answer, '400 VALIDATION_FAILED');
        assert.deepEqual(errors?.map(({ path }) => path).toSorted(), [
          '/branch',
          '/job_url',
          '/pr_number',
          '/repo_host',
          '/repo_name',
          '/repo_owner',
          '/sha',
        ]);
      }
      await world.nothingIsKept();
    });

    test('an organization that is not the token\u2019s is 404', async () => {
      const answer = await world.send(form({ ...FIELDS, org_url_slug: 'other' }, REPORT));
      problemOf(answer, '404 ORGANIZATION_NOT_FOUND');
      await world.nothingIsKept();
    });

    test('a test run that this repository does not have is 404, and needs a check [U65]', async () => {
      const testRun = { ...FIELDS, test_run_id: randomUUID(), check: 'test' };
      for (const fields of [testRun, { ...testRun, repo_name: 'unseen' }]) {
        problemOf(await world.send(form(fields, REPORT)), '404 TEST_RUN_NOT_FOUND');
        problemOf(await world.send(Buffer.from(REPORT), {}, fields), '404 TEST_RUN_NOT_FOUND');
      }
      const { errors } = problemOf(
        await world.send(form({ ...FIELDS, test_run_id: randomUUID() }, REPORT)),
        '400 VALIDATION_FAILED',
      );
      assert.deepEqual(pluck(errors, 'path'), ['/check']);
      await world.nothingIsKept();
    });

    test('a check without a test run names the job [U65]', async () => {
      const upload = await find(accepted(await world.send(form({ ...FIELDS, check: 'test' }, REPORT))));
      assert.deepEqual([upload.fields?.candidateId, upload.fields?.check], [null, 'test']);
    });

    test('a fork and the try of the job are kept, and another try is another upload [U38]', async () => {
      const send = async (fields: Readonly<Record<string, string>>) =>
        accepted(await world.send(form({ ...FIELDS, ...fields }, REPORT)));
      const first = await send({ fork: 'True', job_attempt: '1' });
      const { fields } = await find(first);
      assert.deepEqual([fields?.isFork, fields?.jobAttempt], [true, 1]);
      assert.equal(await send({ fork: 'true', job_attempt: '1' }), first);
      const others = await Promise.all([
        send({ fork: 'true', job_attempt: '2' }),
        send({ job_attempt: '1' }),
        send({}),
      ]);
      assert.equal(new Set([first, ...others]).size, 4);
      assert.equal(await send({ fork: 'false' }), others[2]);
    });

    test('a fork is true or false, a try is a positive number [U38]', async () => {
      for (const wrong of ['0', '-1', '1.5', 'x', '1000000']) {
        const answer = await world.send(form({ ...FIELDS, fork: 'maybe', job_attempt: wrong }, REPORT));
        const { errors } = problemOf(answer, '400 VALIDATION_FAILED');
        assert.deepEqual(errors?.map(({ path }) => path).toSorted(), ['/fork', '/job_attempt']);
      }
      await world.nothingIsKept();
    });

    test('that are empty count as absent', async () => {
      const fields = { ...FIELDS, pr_number: '', job_name: '', test_run_id: '', check: '' };
      accepted(await world.send(form(fields, REPORT)));
    });
  });

  describe('permissions', () => {
    test('a token uploads with the scope upload, and not with the scope read', async () => {
      const upload = await world.makeToken({ scopes: ['upload'] });
      const read = await world.makeToken({ scopes: ['read'] });
      accepted(await world.send(form(FIELDS, REPORT), { 'x-api-token': upload }));
      problemOf(await world.send(form(FIELDS, REPORT), { 'x-api-token': read }), '403 INSUFFICIENT_SCOPE');
      problemOf(await world.send(form(FIELDS, REPORT), { 'x-api-token': 'x' }), '401 INVALID_TOKEN');
      problemOf(await world.send(form(FIELDS, REPORT), { 'x-api-token': '' }), '401 AUTHENTICATION_REQUIRED');
    });

    test('the first upload makes the repository, on any host [U17]', async () => {
      const fields = { ...FIELDS, repo_host: 'git.acme.test:8443', repo_owner: 'a/b', repo_name: 'unseen' };
      const token = await world.makeToken({ scopes: ['upload'] });
      accepted(await world.send(form(fields, REPORT), { 'x-api-token': token }));
      const repo = { host: 'git.acme.test:8443', owner: 'a/b', name: 'unseen' };
      const { uploads } = await world.ok<UploadPage>('/v1/flaky-tests/list-uploads', {
        repo,
        org_url_slug: 'acme',
        page_query: {},
      });
      assert.equal(uploads.length, 1);
    });

    test('a token for some repositories makes none, and sees no other [U17]', async () => {
      const token = await world.makeToken({ scopes: ['upload'], repositories: [world.scope.repo] });
      accepted(await world.send(form(FIELDS, REPORT), { 'x-api-token': token }));
      const fields = { ...FIELDS, repo_name: 'unseen' };
      problemOf(await world.send(form(fields, REPORT), { 'x-api-token': token }), '404 REPOSITORY_NOT_FOUND');
      problemOf(await world.send(Buffer.from(REPORT), { 'x-api-token': token }, fields), '404 REPOSITORY_NOT_FOUND');
    });
  });

  describe('a repeated request', () => {
    test('within 24 h is the same upload, in a form or not [U16]', async () => {
      const id = accepted(await world.send(form(FIELDS, REPORT)));
      world.clock.set(world.clock.now() + 24 * HOUR_MS - 1);
      assert.equal(accepted(await world.send(form(FIELDS, REPORT))), id);
      assert.equal(accepted(await world.send(Buffer.from(REPORT), {}, FIELDS)), id);
      world.clock.set(world.clock.now() + 2);
      assert.notEqual(accepted(await world.send(form(FIELDS, REPORT))), id);
    });

    test('with another field, file or order of files is another upload [U16]', async () => {
      const bodies = [
        form(FIELDS, REPORT),
        form({ ...FIELDS, variant: 'linux' }, REPORT),
        form({ ...FIELDS, job_name: 'unit' }, REPORT),
        form({ ...FIELDS, sha: 'abc' }, REPORT),
        form({ ...FIELDS, repo_name: 'other' }, REPORT),
        form(FIELDS, `${REPORT}\n`),
        form(FIELDS, REPORT, '<a/>'),
        form(FIELDS, '<a/>', REPORT),
        form(FIELDS, '<a', '/>'),
        form(FIELDS, '<a/', '>'),
      ];
      const ids = [];
      for (const body of bodies) ids.push(accepted(await world.send(body)));
      assert.equal(new Set(ids).size, bodies.length);
    });

    test('at the same time is one upload, and one body is kept', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => world.send(form(FIELDS, REPORT))));
      assert.equal(new Set(answers.map(accepted)).size, 1);
    });
  });

  test('is the same on both mounts, but for the case of words', async () => {
    const answer = await world.send(form(FIELDS, REPORT), {}, {}, '/trunk/v1');
    assert.equal(answer.status, 202);
    assert.equal((JSON.parse(answer.text) as { status: string }).status, 'accepted');
  });
});

function multipart(parts: readonly (readonly [string, string])[]): string {
  const written = parts.map(([disposition, value]) => `--x\r\ncontent-disposition: ${disposition}\r\n\r\n${value}\r\n`);
  return `${written.join('')}--x--\r\n`;
}
