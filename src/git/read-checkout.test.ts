import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readCheckout } from './read-checkout.ts';

describe('reading a checkout [W6]', () => {
  let root: string;
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    }).trim();

  before(() => {
    root = mkdtempSync(path.join(tmpdir(), 'sluice-checkout-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('finds commit, branch and origin from a folder within', async () => {
    const tree = path.join(root, 'tree');
    mkdirSync(path.join(tree, 'deep'), { recursive: true });
    git(tree, 'init', '-q', '-b', 'main');
    assert.deepEqual(await readCheckout(tree), { sha: null, parents: [], branch: 'main', originUrl: null });
    git(tree, 'commit', '-q', '--allow-empty', '-m', 'parent 0123\n\nparent 4567');
    git(tree, 'remote', 'add', 'origin', 'https://github.com/acme/widgets.git');
    const sha = git(tree, 'rev-parse', 'HEAD');
    const found = await readCheckout(path.join(tree, 'deep'));
    assert.deepEqual(found, { sha, parents: [], branch: 'main', originUrl: 'https://github.com/acme/widgets.git' });
  });

  it('finds the parents of a merge in a shallow clone with a detached head', async () => {
    const tree = path.join(root, 'merge');
    mkdirSync(tree);
    git(tree, 'init', '-q', '-b', 'main');
    git(tree, 'commit', '-q', '--allow-empty', '-m', 'one');
    git(tree, 'checkout', '-q', '-b', 'topic');
    git(tree, 'commit', '-q', '--allow-empty', '-m', 'two');
    git(tree, 'checkout', '-q', 'main');
    git(tree, 'merge', '-q', '--no-ff', '-m', 'merge', 'topic');
    const parents = git(tree, 'log', '-1', '--format=%P').split(' ');
    const clone = path.join(root, 'clone');
    git(root, 'clone', '-q', '--depth', '1', `file://${tree}`, clone);
    git(clone, 'checkout', '-q', '--detach');
    const found = await readCheckout(clone);
    assert.deepEqual([found?.parents, found?.branch], [parents, null]);
  });

  it('finds nothing in a folder outside of any', async () => {
    const folder = path.join(root, 'plain');
    mkdirSync(folder);
    assert.equal(await readCheckout(folder), undefined);
  });
});
