import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIssueList } from './issue.ts';
import { type CaseFacts, checkCase, checkUpload, createFindingCounts, type UploadFacts } from './validate.ts';

const NOW = 1_790_000_000_000;
const HOUR = 3_600_000;
const CASE: CaseFacts = { suite: 's', name: 'n', classname: 'c', file: 'f', startedAt: NOW - 1_000, durationMs: 5 };
const UPLOAD: UploadFacts = {
  sha: 'abc',
  branch: 'main',
  branchClass: 'PB',
  prNumber: null,
  authorName: 'Dev',
  authorEmail: '',
  commitMessage: 'm',
};

function ofCase(changes: Partial<CaseFacts>): string[] {
  return checkCase({ ...CASE, ...changes }, NOW).map(({ level, message }) => `${level}: ${message}`);
}

function ofUpload(changes: Partial<UploadFacts>): string[] {
  return checkUpload({ ...UPLOAD, ...changes }).map(({ level, message }) => `${level}: ${message}`);
}

describe('validation', () => {
  it('finds nothing in a case that says everything', () => assert.deepEqual(ofCase({}), []));

  const cases: [Partial<CaseFacts>, RegExp][] = [
    [{ name: '' }, /^error: A case has no name/],
    [{ suite: '' }, /^warning: A suite has no name/],
    [{ name: 'x'.repeat(1_001) }, /^warning: A name is longer/],
    [{ name: 'ü'.repeat(501) }, /^warning: A name is longer/],
    [{ classname: '' }, /^warning: A case has no class name/],
    [{ classname: 'x'.repeat(1_001) }, /^warning: A class name is longer/],
    [{ file: '' }, /^warning: A case has no file/],
    [{ file: 'x'.repeat(1_001) }, /^warning: A file path is longer/],
    [{ durationMs: null }, /^warning: A case has no duration/],
    [{ startedAt: null }, /^warning: A case has no usable timestamp/],
    [{ startedAt: 0 }, /^warning: A case has no usable timestamp/],
    [{ startedAt: Number.NaN }, /^warning: A case has no usable timestamp/],
    [{ startedAt: NOW + HOUR }, /^warning: A timestamp is in the future/],
    [{ startedAt: NOW - 2 * HOUR }, /^warning: A timestamp is more than an hour old/],
    [{ startedAt: NOW - 48 * HOUR }, /^warning: A timestamp is more than a day old/],
  ];
  for (const [changes, expected] of cases) {
    it(`tells of a case ${JSON.stringify(changes).slice(0, 40)} [U14]`, () => {
      const found = ofCase(changes);
      assert.equal(found.length, 1, String(found));
      assert.match(found[0] as string, expected);
    });
  }

  it('takes 1,000 bytes for short enough [U14]', () => assert.deepEqual(ofCase({ name: 'ü'.repeat(500) }), []));

  it('tells of an upload without commit, branch or the number of its pull request [U62]', () => {
    assert.deepEqual(ofUpload({}), []);
    assert.match(ofUpload({ sha: '' })[0] as string, /^error: The upload has no commit/);
    assert.match(ofUpload({ branch: '' })[0] as string, /^error: The upload has no branch/);
    assert.match(ofUpload({ branchClass: 'PR' })[0] as string, /^error: .*number is missing/);
    assert.match(ofUpload({ branchClass: 'MERGE', prNumber: 3 })[0] as string, /^error: .*not of one/);
    assert.match(
      ofUpload({ authorName: '', commitMessage: '' }).join('\n'),
      /^warning: .*author.*\nwarning: .*message/,
    );
  });

  it('counts the same finding of many cases as one issue [U14]', () => {
    const counts = createFindingCounts();
    for (let i = 0; i < 1_000; i += 1) counts.count(checkCase({ ...CASE, file: '' }, NOW), i + 7);
    const [issue, ...others] = counts.list('junit.xml');
    assert.deepEqual(others, []);
    assert.deepEqual([issue?.file, issue?.line], ['junit.xml', 7]);
    assert.match(issue?.message ?? '', /\(1000 times\)$/);
  });

  it('lists the first hundred issues and counts the others', () => {
    const list = createIssueList();
    for (let i = 0; i < 150; i += 1) list.add({ level: 'error', file: null, line: i, message: 'm', hint: 'h' });
    assert.equal(list.list().length, 101);
    assert.match(list.list().at(-1)?.message ?? '', /^50 further/);
  });
});
