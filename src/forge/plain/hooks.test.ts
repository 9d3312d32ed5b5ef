import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isUnavailable } from '../../../test/contract/forge.ts';
import { CandidateBench } from '../../../test/contract/forge-bench.ts';
import {
  createPlainWorld,
  hasEnded,
  type PlainWorld,
  runGit,
  writeHook,
} from '../../../test/contract/plain-repository.ts';
import { until as untilWithin } from '../../../test/e2e/harness.ts';
import type { HookNews } from '../../lib/hooks.ts';
import type { BuildAnswer, BuildRequest, Forge, ForgeRepository, LandRequest } from '../forge.ts';

const PATIENCE_MS = 30_000;
const until = <T>(what: string, ask: () => Promise<T | undefined>) => untilWithin(what, PATIENCE_MS, ask);

type Built = BuildRequest & Extract<BuildAnswer, { kind: 'built' }>;

function landRequest(built: Built): LandRequest {
  const how = { composedWith: [], isCalledOff: false, landingMode: 'PUSH' } as const;
  return { ...built, ...how, expectedHead: built.base, entries: built.members };
}

describe('hooks of a repository on this machine', () => {
  let world: PlainWorld;
  let bench: CandidateBench;
  let forge: Forge;
  let news: HookNews[];
  let repository: ForgeRepository;

  beforeEach(async () => {
    world = await createPlainWorld();
    repository = { ...world.repository, runHooks: true };
    bench = await CandidateBench.create(async () => ({ ...world, repository }));
    useForge({});
  });
  afterEach(async () => {
    await forge.close();
    await world.close();
  });

  function useForge(options: { hookLimitMs?: number }): void {
    forge = world.createForge(options);
    news = [];
    forge.onHooks?.((each) => news.push(each));
  }

  const hook = (name: string, script: string) => writeHook(world, name, script);
  const head = () => world.git(['rev-parse', 'refs/heads/main']);
  const seenFile = () => join(world.folder, 'seen');
  const seen = async () => (await readFile(seenFile(), 'utf8').catch(() => '')).trim().split('\n');
  const land = async (built: Built) => forge.landCandidate(landRequest(built));

  async function aCandidate(): Promise<Built> {
    return bench.build([await bench.open('x', { files: { x: 'x\n' } })]);
  }

  function publish(built: Built) {
    const { candidateId, sha, targetBranch, members } = built;
    return forge.publishCandidate({
      repository,
      targetBranch,
      candidateId,
      sha,
      prNumber: members[0]?.prNumber,
      isBisection: false,
    });
  }

  function discard({ candidateId, members }: Built) {
    return forge.discardCandidate({ repository, candidateId, prNumber: members[0]?.prNumber, isBisection: false });
  }

  test('a test branch, its end and a landing are pushes to the hooks [L10] [L31]', async () => {
    const built = await aCandidate();
    for (const name of ['pre-receive', 'post-receive']) await hook(name, `sed "s/^/${name} /" >> ${seenFile()}`);
    await hook('update', `echo update "$@" >> ${seenFile()}`);
    await hook('post-update', `echo post-update "$@" >> ${seenFile()}`);
    const none = '0'.repeat(40);
    const steps = async (old: string, sha: string, ref: string) => {
      const change = `${old} ${sha} ${ref}`;
      const expected = [
        `pre-receive ${change}`,
        `update ${ref} ${old} ${sha}`,
        `post-receive ${change}`,
        `post-update ${ref}`,
      ];
      await until('the hooks ran', async () => (await seen()).length === expected.length || undefined);
      assert.deepEqual(await seen(), expected);
      await rm(seenFile());
    };
    const branch = `refs/heads/sluice/pr-${built.members[0]?.prNumber}/${built.candidateId}`;
    assert.equal((await publish(built)).kind, 'published');
    await steps(none, built.sha, branch);
    assert.equal((await publish(built)).kind, 'published');
    assert.deepEqual(await seen(), ['']);
    assert.equal((await land(built)).kind, 'landed');
    await steps(built.base, built.sha, 'refs/heads/main');
    await discard(built);
    await steps(built.sha, none, branch);
    await discard(built);
    assert.deepEqual(await seen(), ['']);
  });

  test('hooks see PATH, HOME and the mark of the queue, and nothing else of the server [L11]', async () => {
    process.env['SLUICE_ADMIN_TOKEN'] = 'hunter2-hunter2-hunter2';
    process.env['SLUICE_DATABASE_URL'] = 'postgres://sluice:hunter2@db/sluice';
    try {
      await hook('pre-receive', `env > ${seenFile()}`);
      assert.equal((await land(await aCandidate())).kind, 'landed');
    } finally {
      delete process.env['SLUICE_ADMIN_TOKEN'];
      delete process.env['SLUICE_DATABASE_URL'];
    }
    const text = (await seen()).join('\n');
    assert.ok(!text.includes('hunter2'), text);
    const names = (await seen()).map((line) => line.split('=', 1)[0] ?? '').filter((name) => !name.startsWith('GIT_'));
    const allowed = ['PATH', 'HOME', 'PWD', 'OLDPWD', 'SHLVL', '_', 'TMPDIR', 'LANG', 'LC_CTYPE', 'LC_MESSAGES', 'TZ'];
    const known = new Set([...allowed, 'USER', 'LOGNAME', 'SLUICE_PUSH']);
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
    assert.ok(names.includes('SLUICE_PUSH'));
  });

  for (const name of ['pre-receive', 'update', 'reference-transaction']) {
    test(`a ${name} hook that refuses is told in its own words, and nothing moves [L12] [L32]`, async () => {
      const built = await aCandidate();
      await hook(name, `printf 'first\\n\\033[31mNo ticket\\a in %s\\n' "$PWD" >&2; exit 1`);
      const answer = await land(built);
      assert.equal(answer.kind, 'refused');
      const detail = answer.kind === 'refused' ? answer.detail : '';
      assert.match(
        detail,
        new RegExp(`^The ${name} hook of the repository refused it\\. It says: first No ticket in the repo`),
      );
      const shown = await publish(built);
      assert.equal(shown.kind, 'refused');
      assert.match(shown.kind === 'refused' ? shown.detail : '', /No ticket/);
      assert.equal(await head(), built.base);
      await rm(join(world.path, 'hooks', name));
      assert.equal((await land(built)).kind, 'landed');
    });
  }

  test('a hook that prints without end is read to its end and kept to its last lines [L32]', async () => {
    const built = await aCandidate();
    await hook('pre-receive', 'head -c 300000000 /dev/zero; echo; echo No.; exit 1');
    const before = process.memoryUsage.rss();
    const answer = await land(built);
    assert.match(answer.kind === 'refused' ? answer.detail : '', /No\.$/);
    assert.ok((answer.kind === 'refused' ? answer.detail : '').length < 700);
    assert.ok(process.memoryUsage.rss() - before < 200e6);
  });

  test('a hook that hangs is ended with all it started, and counts as an outage that says so [L13]', async () => {
    await forge.close();
    useForge({ hookLimitMs: 1_500 });
    const built = await aCandidate();
    const pids = join(world.folder, 'pids');
    await hook(
      'pre-receive',
      `trap '' TERM; echo $$ >> ${pids}; echo waiting; sh -c 'echo $$ >> ${pids}; sleep 600; :'`,
    );
    const isSaid = (error: Error) => isUnavailable(error) && /did not end within 2 s .* waiting/.test(error.message);
    await assert.rejects(land(built), isSaid);
    for (const pid of (await readFile(pids, 'utf8')).trim().split('\n')) {
      await until('it has ended', async () => hasEnded(Number(pid)) || undefined);
    }
    assert.equal(await head(), built.base);
    await rm(join(world.path, 'hooks', 'pre-receive'));
    assert.equal((await land(built)).kind, 'landed');
  });

  test('a landing does not wait for hooks after it, which end in time or are ended [L33]', async () => {
    await forge.close();
    useForge({ hookLimitMs: 1_500 });
    const built = await aCandidate();
    const gate = join(world.folder, 'gate');
    await hook('post-receive', `echo deploying; while ! test -e ${gate}; do sleep 0.05; done; echo done`);
    assert.equal((await land(built)).kind, 'landed');
    assert.deepEqual(news, []);
    await writeFile(gate, '');
    const [printed] = await until('it printed', async () => (news.length > 0 ? news : undefined));
    assert.deepEqual(printed, { kind: 'printed', source: 'app', ref: 'refs/heads/main', words: 'deploying done' });
    await rm(gate);
    bench.base = built.sha;
    assert.equal((await land(await aCandidate())).kind, 'landed');
    const stopped = await until('it was stopped', async () => news[1]);
    assert.deepEqual(stopped, { kind: 'stopped', source: 'app', ref: 'refs/heads/main', words: 'deploying' });
  });

  test('a hook that is not executable is passed over, as git does [L10]', async () => {
    await hook('pre-receive', 'exit 1');
    await chmod(join(world.path, 'hooks', 'pre-receive'), 0o644);
    const found = await forge.findHooks?.(repository);
    assert.deepEqual(found, { names: [], notExecutable: ['pre-receive'], problem: undefined });
    assert.equal((await land(await aCandidate())).kind, 'landed');
  });

  test('core.hooksPath leads to the hooks that run, also through an included file [L10] [L14]', async () => {
    const folder = join(world.folder, 'elsewhere');
    await mkdir(folder, { mode: 0o755 });
    await hook('pre-receive', 'echo wrong one; exit 1');
    await writeFile(join(folder, 'pre-receive'), `#!/bin/sh\necho elsewhere >> ${seenFile()}\n`, { mode: 0o755 });
    const included = join(world.folder, 'included');
    await writeFile(included, `[core]\n\thooksPath = ${folder}\n`, { mode: 0o644 });
    await world.git(['config', 'include.path', '../included']);
    assert.equal((await land(await aCandidate())).kind, 'landed');
    assert.deepEqual(await seen(), ['elsewhere']);
    for (const path of [included, folder, join(folder, 'pre-receive')]) {
      const { mode } = await stat(path);
      await chmod(path, mode | 0o002);
      assert.match(
        (await forge.findHooks?.(repository))?.problem ?? '',
        new RegExp(`^${path} can be written by other`),
      );
      await chmod(path, mode);
    }
    assert.equal((await forge.findHooks?.(repository))?.problem, undefined);
  });

  test('hooks that somebody else may write, or lead somewhere he may, do not run, and that is told [L34]', async () => {
    const open = join(world.folder, 'open');
    await mkdir(open);
    await chmod(open, 0o777);
    await writeFile(join(open, 'script'), `#!/bin/sh\necho ran >> ${seenFile()}\n`, { mode: 0o755 });
    await symlink(join(open, 'script'), join(world.path, 'hooks', 'pre-receive'));
    const built = await aCandidate();
    assert.equal((await land(built)).kind, 'landed');
    const isOpen = (path: string) => `${path} can be written by other users (chmod go-w ${path})`;
    assert.deepEqual(news, [{ kind: 'off', source: 'app', problem: isOpen(open) }]);
    await chmod(open, 0o755);
    assert.equal((await forge.findHooks?.(repository))?.problem, undefined);
    const hooks = join(world.path, 'hooks');
    for (const path of [world.folder, world.path, hooks, join(world.path, 'config'), join(hooks, 'pre-receive')]) {
      const real = path.endsWith('pre-receive') ? join(open, 'script') : path;
      const { mode } = await stat(real);
      await chmod(real, mode | 0o020);
      assert.equal((await forge.findHooks?.(repository))?.problem, isOpen(real));
      await chmod(real, mode);
    }
    assert.deepEqual(await seen(), ['']);
    bench.base = built.sha;
    assert.equal((await land(await aCandidate())).kind, 'landed');
    assert.deepEqual(await seen(), ['ran']);
  });

  test('a hooks folder that is not there and that anybody could make is not trusted [L14]', async () => {
    await rm(join(world.path, 'hooks'), { recursive: true });
    await world.git(['config', 'core.hooksPath', '/tmp/sluice-no-such-folder/hooks']);
    assert.match(
      (await forge.findHooks?.(repository))?.problem ?? '',
      /^\/tmp\/sluice-no-such-folder does not exist, and other users can create it/,
    );
  });

  test('the branch of a work tree is not pushed to, unless its repository says what becomes of the files [L14]', async () => {
    const clone = join(world.folder, 'clone');
    await runGit(world.folder, ['clone', '--quiet', world.path, clone]);
    const ofClone = { ...repository, id: 'clone', git: clone };
    assert.match((await forge.findHooks?.(ofClone))?.problem ?? '', /not bare/);
    await runGit(clone, ['config', 'receive.denyCurrentBranch', 'updateInstead']);
    assert.equal((await forge.findHooks?.(ofClone))?.problem, undefined);
  });

  test('a target that a hook moves first is somebody else\u2019s push, one that it moves on has landed [L1]', async () => {
    const built = await aCandidate();
    const other = await world.commitTo('refs/heads/other', built.base, { files: { other: 'x\n' } });
    await hook('update', `env -u GIT_QUARANTINE_PATH git update-ref refs/heads/main ${other}`);
    assert.deepEqual(await land(built), { kind: 'target_moved', head: other, isDescendant: true });
    await rm(join(world.path, 'hooks', 'update'));
    bench.base = other;
    const next = await aCandidate();
    const on = await world.commitTo('refs/heads/on', next.sha, { files: { version: '2\n' } });
    await hook('post-receive', `git update-ref refs/heads/main ${on}`);
    assert.equal((await land(next)).kind, 'landed');
    await until('the hook moved it on', async () => (await head()) === on || undefined);
    assert.equal((await forge.landCandidate(landRequest(next))).kind, 'landed');
  });

  test('a test branch that a hook deletes, or that leads the hook to push the target, is published all the same [L10]', async () => {
    const built = await aCandidate();
    await hook('post-receive', 'while read old new ref; do git update-ref -d "$ref"; done');
    assert.equal((await publish(built)).kind, 'published');
    const branch = 'refs/heads/sluice/';
    await until('it is deleted', async () => (await world.git(['for-each-ref', branch])) === '' || undefined);
    await discard(built);
    await hook(
      'post-receive',
      'while read old new ref; do case $ref in */sluice/*) git push -q . $new:refs/heads/main;; esac; done',
    );
    assert.equal((await publish(built)).kind, 'published');
    await until('it pushed', async () => (await head()) === built.sha || undefined);
    assert.equal((await land(built)).kind, 'landed');
  });

  test('a hook cannot keep a test branch, nor can settings about deletions [L15]', async () => {
    const built = await aCandidate();
    await publish(built);
    await hook('update', 'test $3 != 0000000000000000000000000000000000000000');
    await discard(built);
    assert.equal(await world.git(['for-each-ref', 'refs/heads/sluice/', 'refs/sluice/']), '');
    const next = await aCandidate();
    await publish(next);
    await world.git(['config', 'receive.denyDeletes', 'true']);
    await discard(next);
    assert.equal(await world.git(['for-each-ref', 'refs/heads/sluice/', 'refs/sluice/']), '');
  });

  test('a test branch that only names another branch moves by itself [L1]', async () => {
    await hook('post-receive', 'true');
    const built = await aCandidate();
    const branch = `refs/heads/sluice/pr-${built.members[0]?.prNumber}/${built.candidateId}`;
    await world.git(['symbolic-ref', branch, 'refs/heads/main']);
    assert.equal((await publish(built)).kind, 'published');
    assert.equal(await head(), built.base);
    assert.equal(await world.git(['rev-parse', branch]), built.sha);
  });

  test('a pull request cannot be pushed to while hooks look at its landing; after that it can [L16] [L6]', async () => {
    const built = await aCandidate();
    const [entry] = built.members;
    const ref = `refs/pull/${entry?.prNumber}/head`;
    const [asked, gate] = [join(world.folder, 'asked'), join(world.folder, 'gate')];
    await hook('pre-receive', `: > ${asked}; while ! test -e ${gate}; do sleep 0.05; done`);
    const landing = land(built);
    await until('the hook looks', async () => (await readdir(world.folder)).includes('asked') || undefined);
    await assert.rejects(world.git(['update-ref', ref, built.base]), /cannot lock ref/);
    await writeFile(gate, '');
    assert.equal((await landing).kind, 'landed');
    await world.git(['update-ref', ref, built.base]);
  });

  test('a pull request that was pushed to before the hooks ran does not land [L6]', async () => {
    const built = await aCandidate();
    await hook('pre-receive', `echo ran >> ${seenFile()}`);
    const prNumber = built.members[0]?.prNumber;
    await world.git(['update-ref', `refs/pull/${prNumber}/head`, built.base]);
    assert.deepEqual(await land(built), { kind: 'pull_request_moved', prNumber });
    assert.deepEqual(await seen(), ['']);
  });

  test('no file of a push is left in the repository [L13]', async () => {
    const built = await aCandidate();
    await hook('pre-receive', 'exit 1');
    await land(built);
    const objects = await readdir(join(world.path, 'objects'));
    assert.deepEqual(
      objects.filter((name) => name.startsWith('tmp_')),
      [],
    );
  });
});
