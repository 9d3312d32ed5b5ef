import assert from 'node:assert/strict';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isUnavailable } from '../../../test/contract/forge.ts';
import { createPlainWorld, runGit } from '../../../test/contract/plain-repository.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';

const isRoot = process.getuid?.() === 0;
const MISSING = '1234567890123456789012345678901234567890';

describe('plain git', () => {
  const world = madeForEach(() => createPlainWorld());
  let main: Sha;

  beforeEach(async () => {
    main = await world.commit('main', { files: { 'a.txt': 'a\n' } });
  });

  function find(number: number, options: { targetBranch?: string; repository?: ForgeRepository } = {}) {
    const { targetBranch = 'main', repository = world.repository } = options;
    return world.forge.findPullRequest({ repository, number: number as PrNumber, targetBranch });
  }

  function at(git: string, id = 'other'): ForgeRepository {
    return { ...world.repository, id, git };
  }

  test('a pull request links to its ref and has the branch asked about as base', async () => {
    await world.commitTo('refs/pull/7/head', main, { files: { b: 'b\n' } });
    await world.createBranch('release/1', main);
    const facts = await find(7, { targetBranch: 'release/1' });
    assert.equal(facts?.url, 'refs/pull/7/head');
    assert.equal(facts?.baseBranch, 'release/1');
  });

  test('a real push is seen at once, loose or packed, before and after gc', async () => {
    const clone = join(world.folder, 'clone');
    await runGit(world.folder, ['clone', '--quiet', world.path, clone]);
    for (let round = 0; round < 4; round += 1) {
      await runGit(clone, ['commit', '--quiet', '--allow-empty', '--message', `Round ${round}`]);
      await runGit(clone, ['push', '--quiet', 'origin', 'HEAD:refs/pull/1/head', 'HEAD:main']);
      const sha = await runGit(clone, ['rev-parse', 'HEAD']);
      const facts = await find(1);
      assert.deepEqual([facts?.headSha, facts?.title, facts?.status], [sha, `Round ${round}`, 'merged']);
      const tidy = [
        ['pack-refs', '--all'],
        ['gc', '--quiet', '--prune=now'],
        ['repack', '-adq'],
        ['update-ref', '-d', 'refs/heads/none'],
      ];
      await world.git(tidy[round] ?? []);
      assert.equal((await find(1))?.headSha, sha);
    }
    await runGit(clone, ['push', '--quiet', 'origin', ':refs/pull/1/head']);
    assert.equal(await find(1), undefined);
  });

  test('gc between two test merges does no harm', async () => {
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
    await world.git(['gc', '--quiet', '--prune=now']);
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'c\n' } });
    await world.commit('main', { files: { d: 'd\n' } });
    await world.git(['gc', '--quiet', '--prune=now']);
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
  });

  test('a merged pull request is an ancestor of the target, and not merely empty', async () => {
    await world.commitTo('refs/pull/1/head', main, { message: 'Empty' });
    assert.deepEqual([(await find(1))?.status, (await find(1))?.mergeability], ['open', 'MERGEABLE']);
    await world.git(['update-ref', 'refs/pull/2/head', main]);
    assert.equal((await find(2))?.status, 'merged');
    await world.commit('main', { files: { b: 'b\n' } });
    assert.equal((await find(2))?.status, 'merged');
    assert.equal((await find(1))?.status, 'open');
  });

  test('a pull request without a target is not mergeable', async () => {
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    for (const targetBranch of ['none', '--help', 'a b', '', 'main^{commit}']) {
      const facts = await find(1, { targetBranch });
      assert.deepEqual([facts?.status, facts?.mergeability, facts?.blockReasons], ['open', 'NOT_MERGEABLE', ['other']]);
    }
  });

  test('unrelated histories are not mergeable, and do not disturb others', async () => {
    await world.commitTo('refs/pull/1/head', undefined, { files: { b: 'b\n' } });
    await world.commitTo('refs/pull/2/head', main, { files: { b: 'b\n' } });
    const [unrelated, fine] = await Promise.all([find(1), find(2)]);
    assert.deepEqual([unrelated?.mergeability, unrelated?.blockReasons], ['NOT_MERGEABLE', ['other']]);
    assert.equal(fine?.mergeability, 'MERGEABLE');
  });

  test('tags are followed to their commit; what leads to none is no pull request', async () => {
    const head = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    const tag = (object: string, type: string) =>
      world.git(['mktag'], `object ${object}\ntype ${type}\ntag t\ntagger A <a@b> 1 +0000\n\nt\n`);
    const once = await tag(head, 'commit');
    const blob = await world.git(['hash-object', '-w', '--stdin'], 'hello');
    const refs = { 2: once, 3: await tag(once, 'tag'), 4: blob, 5: `${head}^{tree}`, 6: await tag(blob, 'blob') };
    for (const [number, object] of Object.entries(refs))
      await world.git(['update-ref', `refs/pull/${number}/head`, object]);
    for (const number of [1, 2, 3]) assert.equal((await find(number))?.headSha, head);
    for (const number of [4, 5, 6]) assert.equal(await find(number), undefined);
    assert.deepEqual(
      [...(await world.forge.listPullRequestHeads(world.repository))],
      [1, 2, 3].map((number) => [number, head]),
    );
  });

  test('only numbers are pull requests', async () => {
    const names = ['1', '01', '0', '-1', '4294967295', '4294967296', '99999999999', 'x', '1e3', '1/2'];
    for (const name of names) await world.git(['update-ref', `refs/pull/${name}/head`, main]).catch(() => undefined);
    await world.git(['update-ref', 'refs/pull/8/merge', main]);
    assert.deepEqual([...(await world.forge.listPullRequestHeads(world.repository)).keys()], [1, 4294967295]);
    for (const number of [0, -1, 1.5, Number.NaN, 4294967296, 1e21]) assert.equal(await find(number), undefined);
    assert.equal((await find(4294967295))?.headSha, main);
  });

  test('a ref is only itself, even if others end with its name', async () => {
    const other = await world.commitTo('refs/heads/other', main, { files: { b: 'b\n' } });
    const shadows = ['refs/heads/refs/', 'refs/tags/refs/', 'refs/remotes/refs/', 'refs/refs/'];
    for (const shadow of shadows) {
      await world.git(['update-ref', `${shadow}heads/gone`, other]);
      assert.equal(await world.forge.findBranchHead(world.repository, 'gone'), undefined, shadow);
      await world.git(['update-ref', `${shadow}pull/9/head`, other]);
      assert.equal(await find(9), undefined, shadow);
      await world.git(['update-ref', `${shadow}heads/main`, other]);
      assert.equal(await world.forge.findBranchHead(world.repository, 'main'), main, shadow);
      for (const name of ['heads/gone', 'pull/9/head', 'heads/main'])
        await world.git(['update-ref', '-d', `${shadow}${name}`]);
    }
    await world.git(['update-ref', `refs/heads/${main}`, other]);
    assert.equal(await world.forge.findBranchHead(world.repository, main), other);
    assert.equal(await world.forge.findBranchHead(world.repository, 'feature'), undefined);
    await world.createBranch('feature/x', main);
    assert.equal(await world.forge.findBranchHead(world.repository, 'feature'), undefined);
  });

  test('titles and authors of any kind are told', async () => {
    const titles: [string | Buffer, string][] = [
      ['', ''],
      ['\n\n  Late title \nmore', 'Late title'],
      ['Tab\there \x1b[31mred', 'Tab here  [31mred'],
      [Buffer.from([0x41, 0xff, 0xfe, 0x42]), 'A\ufffd\ufffdB'],
      ['x'.repeat(3_000_000), 'x'.repeat(1000)],
      ['日本語 🚢', '日本語 🚢'],
      [`deadbeef missing\n${'0'.repeat(40)} commit 10\n`, 'deadbeef missing'],
    ];
    for (const [message, title] of titles) {
      await world.commitTo('refs/pull/1/head', main, { message, author: 'Grace "Amazing" Höpper' });
      const facts = await find(1);
      assert.deepEqual([facts?.title, facts?.author], [title, 'Grace "Amazing" Höpper']);
    }
  });

  test('paths that cannot be used are told by a sentence', async () => {
    const file = join(world.folder, 'file');
    await writeFile(file, '');
    await mkdir(join(world.folder, 'empty'));
    await mkdir(join(world.path, 'inside'));
    const cases: [string, RegExp][] = [
      [join(world.folder, 'none'), /none: .*does not exist/],
      [file, /not a folder/],
      [join(world.folder, 'empty'), /not a git repository/],
      [join(world.path, 'inside'), /not a git repository/],
      ['ext::sh -c "touch pwned"', /Only a path/],
      ['https://user:hunter2@example.test/x', /password/],
    ];
    for (const [git, sentence] of cases) {
      assert.match((await world.forge.checkAccess(at(git))) ?? '', sentence);
      await assert.rejects(find(1, { repository: at(git) }), isUnavailable);
    }
  });

  test('a folder that cannot be read is told', { skip: isRoot && 'root reads everything' }, async () => {
    await find(1);
    await chmod(join(world.path, 'refs'), 0);
    await assert.rejects(find(1), isUnavailable);
    assert.match((await world.forge.checkAccess(world.repository)) ?? '', /may not read/);
    await chmod(join(world.path, 'refs'), 0o755);
    assert.equal(await find(1), undefined);
  });

  test('a repository of another user is read', { skip: !isRoot && 'only root can give a folder away' }, async () => {
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    for (const name of ['', ...(await readdir(world.path, { recursive: true }))])
      await chown(join(world.path, name), 65534, 65534);
    assert.equal(await world.forge.checkAccess(world.repository), undefined);
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
    assert.equal((await world.forge.listPullRequestHeads(world.repository)).size, 1);
  });

  test('symbolic links, work trees and odd folder names are read', async () => {
    const odd = join(world.folder, '#odd "name": ~é\\');
    await cp(world.path, odd, { recursive: true });
    await symlink(odd, join(world.folder, 'link'));
    const clone = join(world.folder, 'clone');
    await runGit(world.folder, ['clone', '--quiet', world.path, clone]);
    await runGit(clone, ['worktree', 'add', '--quiet', join(world.folder, 'tree'), '-b', 'side']);
    for (const [id, git] of Object.entries({
      a: odd,
      b: join(world.folder, 'link'),
      c: clone,
      d: join(world.folder, 'tree'),
      e: join(clone, '.git'),
    })) {
      const repository = at(git, id);
      assert.equal(await world.forge.checkAccess(repository), undefined);
      assert.equal(await world.forge.findBranchHead(repository, 'main'), main);
      await runGit(git, ['update-ref', 'refs/pull/1/head', main]);
      const head = await runGit(git, ['commit-tree', '-p', main, '-m', id, `${main}^{tree}`]);
      await runGit(git, ['update-ref', 'refs/pull/2/head', head]);
      assert.deepEqual(
        [(await find(2, { repository }))?.title, (await find(2, { repository }))?.mergeability],
        [id, 'MERGEABLE'],
      );
    }
  });

  test('a repository registered again elsewhere is read there', async () => {
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    const copy = join(world.folder, 'copy.git');
    await cp(world.path, copy, { recursive: true });
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
    const head = await runGit(copy, ['commit-tree', '-p', main, '-m', 'Copy', `${main}^{tree}`]);
    await runGit(copy, ['update-ref', 'refs/pull/1/head', head]);
    const facts = await find(1, { repository: at(copy, world.repository.id) });
    assert.deepEqual([facts?.headSha, facts?.mergeability], [head, 'MERGEABLE']);
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
  });

  test('a repository without its early history is read', async () => {
    await world.commit('main', { files: { 'a.txt': 'b\n' } });
    const shallow = join(world.folder, 'shallow.git');
    await runGit(world.folder, ['clone', '--quiet', '--bare', '--depth=1', `file://${world.path}`, shallow]);
    const tip = await runGit(shallow, ['rev-parse', 'main']);
    const head = await runGit(shallow, ['commit-tree', '-p', tip, '-m', 'On top', `${tip}^{tree}`]);
    await runGit(shallow, ['update-ref', 'refs/pull/1/head', head]);
    assert.equal((await find(1, { repository: at(shallow) }))?.mergeability, 'MERGEABLE');
  });

  test('a ref whose file is damaged is a fault that names it, one that leads to a branch that is gone is gone [C46]', async () => {
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    await world.createBranch('other', main);
    for (const content of ['', 'garbage\n', `${'0'.repeat(40)}\n`, main.slice(0, 20), '\0'.repeat(41)]) {
      await writeFile(join(world.path, 'refs/heads/main'), content);
      const isNamed = (error: Error) => isUnavailable(error) && /refs\/heads\/main is damaged/.test(error.message);
      await assert.rejects(world.forge.findBranchHead(world.repository, 'main'), isNamed, content);
      await assert.rejects(find(1), isNamed, content);
      assert.equal(await world.forge.findBranchHead(world.repository, 'other'), main);
    }
    await writeFile(join(world.path, 'refs/heads/main'), 'ref: refs/heads/gone\n');
    assert.equal(await world.forge.findBranchHead(world.repository, 'main'), undefined);
    await rm(join(world.path, 'refs/heads/main'));
    assert.equal(await world.forge.findBranchHead(world.repository, 'main'), undefined);
  });

  test('a damaged pull request is a fault, and no matter to the others [C16]', async () => {
    await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    await mkdir(join(world.path, 'refs/pull/2'), { recursive: true });
    await writeFile(join(world.path, 'refs/pull/2/head'), 'garbage\n');
    await assert.rejects(find(2), isUnavailable);
    await writeFile(join(world.path, 'refs/pull/2/head'), `${MISSING}\n`);
    await assert.rejects(find(2), isUnavailable);
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
    await rm(join(world.path, 'refs/pull/2'), { recursive: true });
    const head = await world.commitTo('refs/pull/3/head', main, { files: { c: 'c\n' } });
    await world.commit('main', { files: { d: 'd\n' } });
    const lost = await world.git(['rev-parse', `${head}^{tree}`]);
    await rm(join(world.path, 'objects', lost.slice(0, 2), lost.slice(2)));
    await assert.rejects(find(3), isUnavailable);
    assert.equal((await find(1))?.mergeability, 'MERGEABLE');
  });

  test('settings and hooks of the repository run nothing', async () => {
    const trap = join(world.folder, 'trap');
    await writeFile(trap, `#!/bin/sh\ntouch ${join(world.folder, 'sprung')}\n`, { mode: 0o755 });
    for (const key of [
      'core.fsmonitor',
      'core.sshCommand',
      'core.pager',
      'core.alternateRefsCommand',
      'remote.origin.uploadpack',
      'merge.trap.driver',
    ]) {
      await world.git(['config', key, trap]);
    }
    await world.git(['config', 'remote.origin.url', world.folder]);
    await world.git(['config', 'remote.origin.promisor', 'true']);
    await world.git(['config', 'core.repositoryFormatVersion', '1']);
    await world.git(['config', 'extensions.partialClone', 'origin']);
    await writeFile(join(world.path, 'info', 'attributes'), '* merge=trap\n');
    await world.commitTo('refs/pull/1/head', main, { files: { 'a.txt': 'b\n' } });
    await world.commit('main', { files: { 'a.txt': 'c\n' } });
    assert.deepEqual((await find(1))?.blockReasons, ['conflict']);
    await writeFile(join(world.path, 'refs/heads/lost'), `${MISSING}\n`);
    await assert.rejects(world.forge.findBranchHead(world.repository, 'lost'), isUnavailable);
    await world.forge.listPullRequestHeads(world.repository);
    assert.ok(!(await readdir(world.folder)).includes('sprung'));
  });

  describe('over ssh', () => {
    let sshCommand: string | undefined;

    beforeEach(async () => {
      // This script replaces ssh: it runs the remote command locally and counts the calls.
      const script = join(world.folder, 'ssh');
      await writeFile(
        script,
        `#!/bin/sh\necho "$@" >> ${join(world.folder, 'calls')}\nfor last; do :; done\neval "$last"\n`,
        { mode: 0o755 },
      );
      sshCommand = process.env['GIT_SSH_COMMAND'];
      process.env['GIT_SSH_COMMAND'] = script;
    });
    afterEach(() => {
      if (sshCommand === undefined) delete process.env['GIT_SSH_COMMAND'];
      else process.env['GIT_SSH_COMMAND'] = sshCommand;
    });

    async function countCalls() {
      return (await readFile(join(world.folder, 'calls'), 'utf8')).trim().split('\n').length;
    }

    test('a remote is mirrored, and what it deletes is gone', async () => {
      const forge = world.createForge({ clock: { now: () => 0 } });
      const repository = at(`git@example.test:${world.path}`);
      const ask = (number: number) =>
        forge.findPullRequest({ repository, number: number as PrNumber, targetBranch: 'main' });
      try {
        assert.equal(await forge.checkAccess(repository), undefined);
        const head = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
        assert.deepEqual([(await ask(1))?.headSha, (await ask(1))?.mergeability], [head, 'MERGEABLE']);
        await world.git(['update-ref', '-d', 'refs/pull/1/head']);
        await world.createBranch('new', main);
        assert.equal(await ask(1), undefined);
        assert.equal(await forge.findBranchHead(repository, 'new'), main);
        assert.equal((await forge.listPullRequestHeads(repository)).size, 0);
      } finally {
        await forge.close();
      }
    });

    test('a push before the question is in the answer; only the list may be a second old', async () => {
      let time = 0;
      const forge = world.createForge({ clock: { now: () => time } });
      const repository = at(`git@example.test:${world.path}`);
      const number = 1 as PrNumber;
      try {
        for (const content of ['1', '2', '3']) {
          const head = await world.commitTo('refs/pull/1/head', main, { files: { b: content } });
          const target = await world.commit('main', { files: { c: content } });
          assert.equal((await forge.findPullRequest({ repository, number, targetBranch: 'main' }))?.headSha, head);
          assert.equal(await forge.findBranchHead(repository, 'main'), target);
        }
        const calls = await countCalls();
        assert.equal((await forge.listPullRequestHeads(repository)).size, 1);
        assert.equal(await countCalls(), calls);
        await world.closePullRequest(number);
        time += 1_000;
        assert.equal((await forge.listPullRequestHeads(repository)).size, 0);
      } finally {
        await forge.close();
      }
    });

    test('many questions share few fetches', async () => {
      const repository = at(`ssh://git@example.test${world.path}`);
      await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
      const answers = await Promise.all(Array.from({ length: 100 }, () => find(1, { repository })));
      assert.ok(answers.every((facts) => facts?.mergeability === 'MERGEABLE'));
      assert.ok((await countCalls()) <= 2);
    });

    test('a remote that fails is a fault that keeps its secrets', async () => {
      const repository = at(`ssh://s3cret@example.test${join(world.folder, 'none')}`);
      assert.match((await world.forge.checkAccess(repository)) ?? '', /could not reach the remote/);
      await assert.rejects(
        find(1, { repository }),
        (error) => isUnavailable(error) && !String(error).includes('s3cret'),
      );
      await writeFile(
        join(world.folder, 'ssh'),
        '#!/bin/sh\necho "fatal: no https://tok3n:x@example.test/ for you" >&2\nexit 1\n',
      );
      await assert.rejects(
        find(1, { repository }),
        (error) => isUnavailable(error) && !String(error).includes('tok3n'),
      );
    });
  });
});
