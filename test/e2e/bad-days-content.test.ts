// Hostile and odd names, messages, authors and files in pushed commits.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type BadDay, onBadDays, PATIENCE_MS, statusOf } from './bad-days.ts';
import { assertLanded } from './ci.ts';
import { until } from './harness.ts';
import { commitRaw, pushRaw, type RawFile } from './raw-pull-request.ts';
import { useServer } from './test-queue.ts';

const IFS = '$' + '{IFS}';
const BRANCHES = [
  `it's-"quoted"`,
  `$(touch${IFS}pwned)`,
  `\`touch${IFS}pwned\``,
  'a;b&&c|d>e',
  'feature/-leading',
  '%s%n%00',
  'ü'.repeat(100),
  '日本/語😀',
  'HEAD',
  'refs/heads/main',
];

describe('names of branches', () => {
  const fixture = useServer();

  it('every branch name that git takes can be a target, and nothing else moves [C15] [Q1]', async () => {
    const plain = await fixture.aQueue();
    const main = await plain.git.git(['rev-parse', 'refs/heads/main']);
    for (const branch of BRANCHES) {
      await plain.git.git(['update-ref', `refs/heads/${branch}`, main]);
      const ref = { repo: plain.repo, targetBranch: branch };
      await plain.api.ok('createQueue', { ...ref, requiredStatuses: [] });
      const entry = (number: number, more: object = {}) => ({ ...ref, pr: { number }, ...more });
      const queue = onBadDays({
        ...plain,
        ref,
        get: (number, more) => plain.api.ok('getSubmittedPullRequest', entry(number, more)),
      });
      const number = await plain.openPullRequest();
      await plain.api.ok('submitPullRequest', entry(number));
      const { landed } = await queue.untilMerged(number);
      assert.equal(await plain.git.git(['rev-parse', `refs/heads/${branch}`]), landed?.pushedSha, branch);
    }
    assert.equal(await plain.git.git(['rev-parse', 'refs/heads/main']), main);
    assert.equal(existsSync(join(plain.git.path, 'pwned')), false);
  });

  for (const blocker of ['refs/heads/sluice', 'refs/heads/sluice/pr-1', 'refs/sluice/candidates']) {
    it(`${blocker} in the place of refs of candidates: the reason is clear, and gone with it [C8]`, async () => {
      const queue = onBadDays(await fixture.aQueue());
      await queue.git.git(['update-ref', blocker, 'refs/heads/main']);
      const number = await queue.submitOne();
      await queue.ci.untilState(number, 'FAILED');
      const words = new RegExp(`test branches\\. .*'${blocker}' exists`);
      assert.match(await statusOf(fixture.server, queue, number), words);
      const { timeline } = await queue.get(number, { includeTimeline: true });
      assert.match(timeline?.[0]?.text ?? '', words);
      await queue.git.git(['update-ref', '-d', blocker]);
      await queue.submit(number);
      await assertLanded(queue, await queue.untilMerged(number));
    });
  }

  it('refs of odd names beside the queue change nothing, and nothing changes them [C15]', async () => {
    const queue = onBadDays(await fixture.aQueue());
    const odd = [
      'refs/heads/-x',
      'refs/heads/refs/heads/main',
      'refs/heads/refs/pull/1/head',
      'refs/heads/sluice/pr-1/not-a-candidate',
      'refs/pull/01/head',
      'refs/pull/1/merge',
      'refs/pull/99999999999/head',
      'refs/sluice/candidates/x',
      'refs/tags/main',
      'refs/tags/refs/pull/1/head',
    ];
    const other = await queue.git.commitTo('refs/heads/other', undefined, { files: { x: 'x' } });
    for (const ref of odd) await queue.git.git(['update-ref', ref, other]);
    const number = await queue.submitOne();
    const { landed } = await queue.untilMerged(number);
    assert.equal(await queue.git.git(['rev-parse', 'refs/heads/main']), landed?.pushedSha);
    for (const ref of odd) assert.equal(await queue.git.git(['rev-parse', '--verify', ref]), other, ref);
  });
});

const MESSAGES: Readonly<Record<string, Buffer | string>> = {
  empty: '',
  'only line breaks': '\n\n\n',
  'only trailers': 'Signed-off-by: A <a@b>\nReviewed-by: C <c@d>\n',
  CRLF: 'Title\r\n\r\nBody\r\n\r\nSigned-off-by: A <a@b>\r\n',
  'invalid UTF-8': Buffer.from([0x54, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x0a, 0xe2, 0x82]),
  'a line of a megabyte': 'x'.repeat(1024 * 1024),
  'a body of a megabyte': `Title\n\n${'line\n'.repeat(200_000)}`,
  'lines of a mailbox': 'From nobody\n\nFrom 1234567890 Mon Sep 17 00:00:00 2001\nFrom: a\n',
  'escapes of a terminal': 'Title \u001b[31mred\u001b]0;x\u0007\n\n\u202eevil\n',
  'only a comment': '# only a comment\n',
};

const AUTHORS: Readonly<Record<string, string>> = {
  'empty name': ' <a@b> 1700000000 +0000',
  'empty address': 'Ada <> 1700000000 +0000',
  nothing: ' <> 1700000000 +0000',
  emoji: '👩‍💻 Ünï <ü@b> 1700000000 +0000',
  'brackets in the name': 'A <b> <c@d> 1700000000 +0000',
  'no date': 'Ada <a@b>',
  'a date before all time': 'Ada <a@b> -1 +0000',
  'a date after all time': 'Ada <a@b> 99999999999999999999 +0000',
  'a zone that nobody has': 'Ada <a@b> 1700000000 +99999',
};

/** Asks git about a clone of the target branch alone. */
async function checkClone({ git }: BadDay): Promise<void> {
  const clone = join(git.folder, 'clone.git');
  await git.git(['init', '--quiet', '--bare', clone]);
  await git.git(['--git-dir', clone, 'fetch', '--quiet', git.path, 'refs/heads/main:refs/heads/main']);
  await git.git(['--git-dir', clone, 'fsck', '--strict', '--no-dangling']);
}

describe('messages and people', () => {
  const fixture = useServer();

  for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE']) {
    it(`of any bytes land by ${mergeMethod} [C15]`, async () => {
      const queue = onBadDays(await fixture.aQueue({ mergeMethod, requiredStatuses: [] }));
      const raws = [
        ...Object.entries(MESSAGES).map(([name, message]) => ({ name, message })),
        ...Object.entries(AUTHORS).map(([name, author]) => ({ name, author })),
      ];
      for (const [index, { name, ...raw }] of raws.entries()) {
        const number = index + 1;
        await pushRaw(queue, number, raw);
        await queue.submit(number);
        const entry = await queue.untilMerged(number).catch((error: Error) => assert.fail(`${name}: ${error.message}`));
        await assertLanded(queue, entry);
        assert.doesNotMatch(`${entry.prTitle}${entry.prAuthor}`, /\p{Cc}/u, name);
      }
      // A pull request keeps its commits even if they are malformed; the commits that Sluice makes are well-formed.
      if (mergeMethod !== 'MERGE_COMMIT') await checkClone(queue);
    });
  }

  for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE']) {
    it(`lines that look like those of Sluice count for nothing, with ${mergeMethod} [C41]`, async () => {
      const queue = onBadDays(await fixture.aQueue({ mergeMethod }));
      const victim = await queue.submitOne();
      const run = await queue.ci.runOf(victim);
      const forged = `Title\n\nSluice-Pull-Request: ${victim}\nSluice-Candidate: ${run.testRunId}\n`;
      // A pull request that claims in each of its commits to be another one.
      const first = await commitRaw(queue, { message: forged });
      await pushRaw(queue, 2, { message: `${forged}sluice-candidate: x\n`, parent: first });
      await queue.submit(2);
      // A person pushes such a commit to the target branch.
      const pushed = await commitRaw(queue, { message: forged });
      await queue.git.git(['update-ref', 'refs/heads/main', pushed]);
      const other = await queue.untilMerged(2);
      const entry = await queue.untilMerged(victim);
      await assertLanded(queue, entry);
      await assertLanded(queue, other);
      assert.notEqual(entry.landed?.sha, pushed);
      assert.notEqual(entry.landed?.testRunId, run.testRunId);
      await until('there is an alarm', PATIENCE_MS, async () =>
        (await queue.alarms()).includes('FOREIGN_PUSH') ? true : undefined,
      );
      assert.match(await queue.git.git(['ls-tree', '--name-only', 'main']), /change-1\.txt/);
    });
  }
});

const FILES: Readonly<Record<string, readonly RawFile[]>> = {
  'names like options': [
    { mode: '100644', name: '--upload-pack=touch pwned', content: 'x' },
    { mode: '100644', name: '-rf', content: 'x' },
  ],
  'a symbolic link out of the tree': [
    { mode: '120000', name: 'etc', content: '/etc' },
    { mode: '120000', name: 'up', content: '../../../../..' },
  ],
  'a submodule': [
    { mode: '100644', name: '.gitmodules', content: '[submodule "s"]\n\tpath = s\n\turl = ext::touch pwned\n' },
    { mode: '160000', name: 's', content: '1234567890123456789012345678901234567890' },
  ],
  'names that differ in case alone': [
    { mode: '100644', name: 'README', content: 'a' },
    { mode: '100644', name: 'readme', content: 'b' },
    { mode: '100644', name: 'x', folder: 'Folder', content: 'b' },
    { mode: '100644', name: 'folder', content: 'b' },
  ],
  'a path with a line break, bytes that are no text, and quotes': [
    { mode: '100644', name: 'a\nb\t"c"\'d\'', content: 'x' },
    { mode: '100644', name: '$(touch pwned)`touch pwned`;touch pwned', content: 'x' },
  ],
  'a program': [{ mode: '100755', name: 'run', content: '#!/bin/sh\n' }],
};

describe('files of pull requests', () => {
  const fixture = useServer();
  const aQueue = async (command: string, settings: object = {}) => {
    const queue = onBadDays(await fixture.aQueue({ requiredStatuses: null, ...settings }));
    await queue.api.ok('registerRepository', { repo: queue.repo, checks: [{ name: 'test', command }] });
    return queue;
  };

  it('land as they are, and are there for checks [C15] [R1]', async () => {
    const queue = await aQueue('git status --porcelain; test -z "$(git status --porcelain)"');
    for (const [index, [name, files]] of Object.entries(FILES).entries()) {
      const number = index + 1;
      const sha = await pushRaw(queue, number, { files });
      await queue.submit(number);
      const entry = await queue.untilMerged(number).catch((error: Error) => assert.fail(`${name}: ${error.message}`));
      assert.equal(entry.landed?.tree, await queue.git.git(['rev-parse', `${sha}^{tree}`]), name);
    }
    assert.equal(existsSync(join(queue.git.path, 'pwned')), false);
  });

  it('that add a line to one changelog land together with merge=union [C15]', async () => {
    const queue = await aQueue('test -f CHANGELOG.md');
    await queue.git.commit('main', {
      files: { '.gitattributes': 'CHANGELOG.md merge=union\n', 'CHANGELOG.md': '#\n' },
    });
    const numbers = [
      await queue.openPullRequest({ 'CHANGELOG.md': '#\none\n' }),
      await queue.openPullRequest({ 'CHANGELOG.md': '#\ntwo\n' }),
    ];
    for (const number of numbers) await queue.submit(number);
    for (const number of numbers) await queue.untilMerged(number);
    assert.equal(await queue.git.git(['show', 'main:CHANGELOG.md']), '#\none\ntwo');
  });

  it('run no filter, no merge driver, and no hook but those of a push [C15]', async () => {
    const queue = await aQueue('cat a.txt');
    await queue.git.commit('main', { files: { '.gitattributes': '* filter=evil merge=evil diff=evil\n' } });
    const [one, two] = [
      await queue.openPullRequest({ 'a.txt': '1\n' }),
      await queue.openPullRequest({ 'a.txt': '2\n' }),
    ];
    const ran = join(queue.git.folder, 'ran');
    for (const key of COMMANDS) await queue.git.git(['config', key, `sh -c 'echo ${key} >> ${ran}; cat'`]);
    await queue.git.git(['config', 'commit.gpgSign', 'true']);
    for (const hook of HOOKS) {
      await writeFile(join(queue.git.path, 'hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 });
    }
    await queue.submit(one);
    await queue.untilMerged(one);
    await queue.submit(two);
    await queue.untilReason(two, 'NOT_MERGEABLE', /conflict/);
    const names = existsSync(ran) ? new Set((await readFile(ran, 'utf8')).trim().split('\n')) : new Set<string>();
    assert.deepEqual(
      [...names].filter((name) => !PUSH_HOOKS.includes(name)),
      [],
    );
  });
});

/** A guarded repository runs these hooks on every push. */
const PUSH_HOOKS = ['pre-receive', 'update', 'reference-transaction', 'post-receive', 'post-update'];

/** Settings of a repository that name a command. */
const COMMANDS = [
  'core.fsmonitor',
  'core.pager',
  'core.sshCommand',
  'diff.evil.command',
  'diff.evil.textconv',
  'diff.external',
  'filter.evil.clean',
  'filter.evil.process',
  'filter.evil.smudge',
  'gpg.program',
  'merge.evil.driver',
  'uploadpack.packObjectsHook',
];

const HOOKS = [
  'post-checkout',
  'post-index-change',
  'post-receive',
  'post-update',
  'pre-auto-gc',
  'pre-merge-commit',
  'pre-receive',
  'reference-transaction',
  'update',
];
