import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { pluck } from '../../../test/helpers/pluck.ts';
import { createTestIds } from '../../flaky/identity/test-id.ts';
import { readReports } from './read-reports.ts';

const ids = createTestIds({ org: 'acme', repository: { host: 'h', owner: 'o', name: 'n' }, variant: '' });
const report = (name: string): string =>
  `<testsuite name="s"><testcase name="${name}" classname="c" file="f"><failure message="no"/></testcase><testcase name="ok ${name}" classname="c" file="f"/></testsuite>`;

describe('reading reports here [W5]', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-read-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function read(files: Readonly<Record<string, Uint8Array | string>>) {
    const list = Object.entries(files).map(([name, content]) => {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      return { name, path: file, sizeBytes: content.length };
    });
    const { tests, failing, troubled } = await readReports(list, { testIds: ids, root: '' });
    return { tests, failing: failing.map(({ names }) => names.name), troubled };
  }

  it('counts distinct tests over all files, packed or not', async () => {
    const found = await read({
      'a.xml': report('a'),
      'b.xml': gzipSync(report('b')),
      'c.xml': zstdCompressSync(report('c')),
    });
    assert.deepEqual(found, { tests: 6, failing: ['a', 'b', 'c'], troubled: [] });
  });

  it('uses what can be read of a damaged file, and names it', async () => {
    const cut = gzipSync(report('a').repeat(50)).subarray(0, -20);
    const found = await read({ 'cut.xml.gz': cut, 'half.xml': report('b').slice(0, 110), 'page.xml': '<html></html>' });
    assert.deepEqual(pluck(found.troubled, 'name'), ['cut.xml.gz', 'half.xml', 'page.xml']);
    assert.match(found.troubled[2]?.problem ?? '', /HTML/);
    assert.ok(found.failing.includes('b'));
  });

  it('takes an error before any test for a failure that belongs to no test [F89]', async () => {
    const go = new URL('../../../test/fixtures/junit-setup/go-junit-report.xml', import.meta.url);
    const file = { name: 'go.xml', path: fileURLToPath(go), sizeBytes: 1 };
    const found = await readReports([file], { testIds: ids, root: '' });
    assert.deepEqual([found.tests, found.failing, found.unaccounted], [1, [], 4]);
    assert.match(found.troubled[0]?.problem ?? '', /^4 errors before any test: .*undefined: undefinedCall; /);
  });

  it('goes on where a file is gone', async () => {
    const gone = { name: 'gone.xml', path: path.join(folder, 'gone.xml'), sizeBytes: 1 };
    const { troubled } = await readReports([gone], { testIds: ids, root: '' });
    assert.match(troubled[0]?.problem ?? '', /ENOENT/);
  });
});
