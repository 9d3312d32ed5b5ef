import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MAX_ATTRIBUTES_BYTES, unionRules } from './union-attributes.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-attributes-'));
after(() => rmSync(folder, { recursive: true }));
execFileSync('git', ['init', '--quiet', folder]);

/** The files that git merges by union, as the given attributes of a clone or of the whole user say. */
function unionFiles(attributes: string, place: 'clone' | 'user'): readonly string[] {
  writeFileSync(join(folder, '.gitattributes'), place === 'clone' ? attributes : '', 'latin1');
  writeFileSync(join(folder, 'rules'), place === 'user' ? attributes : '', 'latin1');
  const names = ['a.md', 'b.md', 'docs/a.md', 'c d', 'x', '\xef\xbb\xbfx'];
  const options = ['-c', `core.attributesFile=${join(folder, 'rules')}`, '-C', folder];
  const text = execFileSync('git', [...options, 'check-attr', '-z', 'merge', '--', ...names], { stdio: 'pipe' });
  const fields = text.toString().split('\0');
  return names.filter((_, index) => fields[index * 3 + 2] === 'union');
}

const FILES = [
  'a.md merge=union\n',
  '\xef\xbb\xbfx merge=union\r\n\r\n# y merge=union\n',
  '*.md merge=union\nb.md merge=binary\n',
  '*.md merge=union\nb.md merge\n/a.md -merge',
  '*.md merge=union\n/docs/* !merge\n',
  '* merge=union\nx binary\n*.md merge=evil\n',
  '  \t"c d"\t text merge=other merge=union eol=lf\n',
  '"c\\040d" merge=union\n"unended merge=union\nx merge=union',
  'a.md merge=union $bad\nb.md merge=union =\nx merge=union\n',
  '!x merge=union\n#x merge=union\na.md merge=union binary\nb.md binary merge=union\n',
  'a.md merge= union\nb.md merge=Union\nx -merge=union\n* text\n',
  `x${' text'.repeat(500)} merge=union\na.md merge=union\n`,
];

test('lines that set merge=union give the files that git merges so [C15]', () => {
  for (const text of FILES) {
    assert.deepEqual(unionFiles(unionRules(text), 'user'), unionFiles(text, 'clone'), text);
  }
  assert.deepEqual(unionFiles(unionRules('docs/*.md merge=union'), 'user'), ['docs/a.md']);
});

test('macros, other attributes and files beyond the limit give no rule [C15]', () => {
  for (const text of [
    '',
    '* filter=evil merge=evil diff=evil\n',
    '[attr]log merge=union\na.md log\n',
    'a\0b merge=union',
  ]) {
    assert.equal(unionRules(text), '');
  }
  assert.equal(unionRules(`a merge=union filter=evil\n`), 'a merge=union\n');
  const line = 'a merge=union\n';
  assert.notEqual(unionRules(line.padEnd(MAX_ATTRIBUTES_BYTES, '\n')), '');
  assert.equal(unionRules(line.padEnd(MAX_ATTRIBUTES_BYTES + 1, '\n')), '');
});
