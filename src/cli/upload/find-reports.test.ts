import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findReports } from './find-reports.ts';

describe('finding reports [W5]', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-reports-'));
    const files = [
      'junit.xml',
      'reports/b.xml',
      'reports/deep/er/a.xml',
      'reports/notes.txt',
      'reports/[x].xml',
      'node_modules/pkg/junit.xml',
      'reports/node_modules/pkg/junit.xml',
    ];
    for (const file of files) {
      mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(folder, file), '<testsuite/>');
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const names = async (...patterns: string[]): Promise<string[]> =>
    (await findReports(patterns, folder)).files.map(({ name }) => name);

  it('takes files by name, even those whose names look like patterns', async () => {
    assert.deepEqual(await names('junit.xml', 'reports/[x].xml'), ['junit.xml', 'reports/[x].xml']);
    assert.deepEqual(await names(path.join(folder, 'junit.xml')), ['junit.xml']);
  });

  it('takes every .xml file below a folder', async () => {
    assert.deepEqual(await names('reports'), ['reports/[x].xml', 'reports/b.xml', 'reports/deep/er/a.xml']);
    assert.deepEqual(await names('reports/'), await names('reports'));
  });

  it('takes patterns, each file once and in order, and leaves what others wrote alone', async () => {
    assert.deepEqual(await names('**/*.xml', 'junit.xml', 'reports/*'), [
      'junit.xml',
      'reports/[x].xml',
      'reports/b.xml',
      'reports/deep/er/a.xml',
      'reports/notes.txt',
    ]);
    assert.deepEqual(await names('node_modules/**/*.xml'), ['node_modules/pkg/junit.xml']);
  });

  it('takes patterns that begin outside, and follows links, each folder once', async () => {
    const inner = path.join(folder, 'reports/deep');
    assert.deepEqual(
      (await findReports(['../*.xml', `${folder}/j*.xml`], inner)).files.map(({ path: file }) =>
        path.relative(folder, file),
      ),
      ['junit.xml', 'reports/[x].xml', 'reports/b.xml'],
    );
    symlinkSync('reports', path.join(folder, 'linked'));
    symlinkSync('..', path.join(folder, 'reports/deep/up'));
    assert.deepEqual(await names('linked/**/er/*.xml', 'l*/deep/er/*.xml'), ['linked/deep/er/a.xml']);
    assert.deepEqual(await names('reports/deep/**/b.xml'), ['reports/deep/up/b.xml']);
    assert.deepEqual(await names('.*/*.xml', '{junit,x}.xml', '[jk]unit.xm?'), ['junit.xml']);
  });

  it('refuses a pattern that it does not understand', async () => {
    await assert.rejects(names('+(a|aa)+(a|aa).xml'), /The pattern \+\(a\|aa\)\+\(a\|aa\)\.xml has parentheses after/);
  });

  it('says which patterns fit nothing', async () => {
    const { files, unmatched } = await findReports(['nothing/*.xml', 'missing.xml', 'junit.xml'], folder);
    assert.deepEqual([files.length, unmatched], [1, ['nothing/*.xml', 'missing.xml']]);
  });
});
