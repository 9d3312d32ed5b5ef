import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { chooseCodeOwners } from './upload.ts';

describe('the CODEOWNERS that goes with reports [U39]', () => {
  let root: string;
  const said: string[] = [];
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), 'sluice-owners-'));
    for (const folder of ['.git', '.github', 'docs', 'packages/app'])
      mkdirSync(path.join(root, folder), { recursive: true });
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const write = (name: string, bytes: number) => writeFileSync(path.join(root, name), 'a'.repeat(bytes));
  const choose = (named: string | boolean | undefined, folder = root) =>
    chooseCodeOwners(named, { folder, say: (text) => said.push(text) });

  it('is that of the checkout, where forges look for it, from any folder within', async () => {
    const within = path.join(root, 'packages/app');
    assert.equal(await choose(undefined, within), undefined);
    write('docs/CODEOWNERS', 3);
    assert.equal((await choose(undefined, within))?.name, 'docs/CODEOWNERS');
    write('.github/CODEOWNERS', 5);
    const file = path.join(root, '.github/CODEOWNERS');
    assert.deepEqual(await choose(undefined, within), { name: '.github/CODEOWNERS', path: file, sizeBytes: 5 });
  });

  it('is the one that is named, or none where none is wanted', async () => {
    assert.equal((await choose('docs/CODEOWNERS'))?.sizeBytes, 3);
    assert.equal(await choose(false), undefined);
    await assert.rejects(choose('nowhere'), /There is no file nowhere/);
    await assert.rejects(choose('docs'), /There is no file docs/);
  });

  it('is left out with a word where the server would refuse it', async () => {
    write('large', 3_000_001);
    assert.equal(await choose('large'), undefined);
    assert.match(said.join(), /large is larger than 3 MB and is not sent/);
  });
});
