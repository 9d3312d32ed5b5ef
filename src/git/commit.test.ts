import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sha } from '../lib/sha.ts';
import { formatCommit, parseCommit, parseStoredCommit } from './commit.ts';

const SHA = 'a'.repeat(40) as Sha;
const TREE = 'b'.repeat(40);

function parse(text: string | Buffer) {
  return parseCommit(SHA, Buffer.from(text));
}

test('a commit is read', () => {
  const commit = parse(
    `tree ${TREE}\nparent ${SHA}\nauthor Ada L <a@b> 1 +0000\ncommitter C <c@d> 1 +0000\n\nTitle\n\nauthor Not Me <x>\n`,
  );
  assert.deepEqual(commit, { sha: SHA, tree: TREE, author: 'Ada L', message: 'Title\n\nauthor Not Me <x>\n' });
});

test('the commit says what it is written in', () => {
  const latin1 = Buffer.from(`tree ${TREE}\nauthor J\xf6rg <a@b> 1 +0000\nencoding ISO-8859-1\n\nf\xfcr`, 'latin1');
  assert.deepEqual([parse(latin1).author, parse(latin1).message], ['Jörg', 'für']);
});

test('bytes that are no text are replaced', () => {
  const bytes = Buffer.concat([
    Buffer.from(`tree ${TREE}\nauthor x <a@b> 1 +0000\nencoding klingon\n\n`),
    Buffer.from([0xff, 0xfe, 0x41]),
  ]);
  assert.equal(parse(bytes).message, '\ufffd\ufffdA');
});

test('odd and damaged commits give what they have', () => {
  assert.equal(parse(`tree ${TREE}\nauthor <only@mail> 1 +0000\n\n`).author, 'only@mail');
  assert.equal(parse(`tree ${TREE}\nauthor nonsense\n\nx`).author, 'nonsense');
  assert.deepEqual(parse(`tree ${TREE}`), { sha: SHA, tree: TREE, author: '', message: '' });
  assert.deepEqual(parse(''), { sha: SHA, tree: '', author: '', message: '' });
});

test('a commit can be made again from its parsed form', () => {
  const text = `tree ${TREE}\nparent ${SHA}\nparent ${TREE}\nauthor J\xf6 <j@x> 5 -0330\ncommitter S <s@x> 1 +0000\nencoding ISO-8859-1\n\nf\xfcr\n`;
  const stored = parseStoredCommit(SHA, Buffer.from(text, 'latin1'));
  assert.deepEqual([stored.parents, stored.authorName], [[SHA, TREE], 'Jö <j@x>']);
  assert.equal(formatCommit({ ...stored, committer: Buffer.from('S <s@x> 1 +0000') }).toString('latin1'), text);
});

test('a message that git would not write is made well-formed', () => {
  const authors = {
    '': 'Unknown <> 0 +0000',
    'x <a@b> 1 +0000': 'x <a@b> 1 +0000',
    '<a@b> 7 +0100': 'a@b <a@b> 7 +0100',
    'x<a@b> 7 +0100': 'x <a@b> 7 +0100',
    'x > y <a@b<c> 7 +0100': 'x y <a@b c> 7 +0100',
    'x <a@b> 99999999999999999999 +0000': 'x <a@b> 0 +0000',
    'x <a@b> 007 +0000': 'x <a@b> 0 +0000',
    'no address 7 +0000': 'no address 7 +0000 <> 7 +0000',
  };
  for (const [author, expected] of Object.entries(authors)) {
    const stored = parseStoredCommit(SHA, Buffer.from(`tree ${TREE}\nauthor ${author}\n\nx\0y`));
    assert.equal(stored.author.toString(), expected);
    assert.ok(
      formatCommit({ ...stored, committer: stored.author })
        .toString()
        .endsWith('\n\nxy'),
    );
  }
});
