import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pluck } from '../../test/helpers/pluck.ts';
import { CatFileReader } from './cat-file-batch.ts';

const SHA = 'a'.repeat(40);

function readInPieces(bytes: Buffer, size: number) {
  const reader = new CatFileReader();
  const answers = [];
  for (let at = 0; at < bytes.length; at += size) answers.push(...reader.read(bytes.subarray(at, at + size)));
  return answers;
}

test('answers are the same however they are cut into chunks', () => {
  const bytes = Buffer.from(
    `${SHA} commit 7\nab\ncd\n\n\nrefs/héads/x^{commit} missing\n${SHA} blob 0\n\nabc ambiguous\n`,
  );
  for (let size = 1; size <= bytes.length; size += 1) {
    const answers = readInPieces(bytes, size);
    assert.deepEqual(pluck(answers, 'kind'), ['object', 'none', 'object', 'none'], `pieces of ${size}`);
    const [commit, , blob] = answers;
    assert.ok(commit?.kind === 'object' && commit.bytes.toString() === 'ab\ncd\n\n');
    assert.ok(blob?.kind === 'object' && blob.bytes.length === 0);
  }
});

test('a huge object is kept only up to its first 256 KiB', () => {
  const size = 3_000_000;
  const bytes = Buffer.concat([
    Buffer.from(`${SHA} commit ${size}\n`),
    Buffer.alloc(size, 'x'),
    Buffer.from('\nx missing\n'),
  ]);
  const [huge, next] = readInPieces(bytes, 65_536);
  assert.ok(huge?.kind === 'object' && huge.bytes.length === 256 * 1024);
  assert.equal(next?.kind, 'none');
});

test('an unknown answer is an error', () => {
  assert.throws(() => new CatFileReader().read(Buffer.from('hello\n')));
  assert.throws(() => new CatFileReader().read(Buffer.alloc(10_000, 'x')));
});
