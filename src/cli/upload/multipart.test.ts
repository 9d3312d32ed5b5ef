import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { ReportFile } from './find-reports.ts';
import { createMultipart } from './multipart.ts';

describe('the form that carries reports [W5]', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-multipart-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function write(name: string, content: Uint8Array | string): ReportFile {
    const file = path.join(folder, path.basename(name).replaceAll('"', ''));
    const bytes = Buffer.from(content as Uint8Array);
    writeFileSync(file, bytes);
    return { name, path: file, sizeBytes: bytes.length };
  }

  async function read(
    files: readonly ReportFile[],
    fields: Record<string, string> = {},
    codeOwners?: ReportFile,
  ): Promise<FormData> {
    const { contentType, bytes } = createMultipart({ fields, files, codeOwners });
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes()) chunks.push(chunk);
    return new Response(Buffer.concat(chunks), { headers: { 'content-type': contentType } }).formData();
  }

  it('holds the fields that say something, and the files under their names', async () => {
    const form = await read([write('a/é.xml', '<a/>'), write('a/"q".xml', '<b/>')], {
      sha: 'abc',
      variant: '',
      branch: 'ü',
    });
    assert.deepEqual([...form.keys()], ['sha', 'branch', 'files', 'files']);
    assert.equal(form.get('branch'), 'ü');
    const files = form.getAll('files') as File[];
    assert.deepEqual(pluck(files, 'name'), ['a/é.xml', 'a/"q".xml']);
    assert.equal(await files[0]?.text(), '<a/>');
  });

  it('holds the CODEOWNERS in a part of its own [U39]', async () => {
    const form = await read([write('a.xml', '<a/>')], {}, write('.github/CODEOWNERS', '* @acme/core'));
    const sent = form.get('codeowners') as File;
    assert.deepEqual([...form.keys()], ['codeowners', 'files']);
    assert.deepEqual([sent.name, await sent.text()], ['.github/CODEOWNERS', '* @acme/core']);
  });

  it('packs large files, leaves packed ones as they are, and says how much was read', async () => {
    const large = `<testsuite>${' '.repeat(300_000)}</testsuite>`;
    const packed = gzipSync('<testsuite/>');
    const files = [write('large.xml', large), write('packed.xml.gz', packed)];
    const [first, second] = (await read(files)).getAll('files') as File[];
    const bytes = Buffer.from(await (first as File).arrayBuffer());
    assert.ok(bytes.length < 10_000);
    assert.equal(gunzipSync(bytes).toString(), large);
    assert.deepEqual(Buffer.from(await (second as File).arrayBuffer()), packed);
    const seen: number[] = [];
    const form = createMultipart({ fields: {}, files, onRead: (count) => seen.push(count) });
    for (let round = 0; round < 2; round += 1) for await (const _chunk of form.bytes());
    assert.equal(seen.at(-1), large.length + packed.length, 'a second try counts from the beginning');
  });

  it('ends with the reason where a file cannot be read', async () => {
    const gone = { name: 'gone.xml', path: path.join(folder, 'gone.xml'), sizeBytes: 1 };
    await assert.rejects(read([gone]), { code: 'ENOENT' });
  });
});
