// The repository and the branch of a command, found in the folder where it runs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { makeFolder, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

describe('sluice in a clone', () => {
  const world = useServer();
  let folder: string;
  let env: Readonly<Record<string, string>>;

  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.dev', '-c', 'init.defaultBranch=main'];
    const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } };
    execFileSync('git', [...identity, ...args], { ...options, stdio: 'ignore' });
  };
  const ok = async (args: readonly string[], clone = 'clone'): Promise<string> => {
    const { code, out, err } = await sluice(args, { env, cwd: join(folder, clone) });
    assert.equal(code, 0, `sluice ${args.join(' ')}: ${err}`);
    return out;
  };
  const refused = async (args: readonly string[], clone = 'clone'): Promise<string> => {
    const { code, err } = await sluice(args, { env, cwd: join(folder, clone) });
    assert.equal(code, 2, err);
    return err;
  };

  before(async () => {
    folder = await makeFolder();
    env = { SLUICE_URL: world.server.url, SLUICE_DATA: world.server.dataFolder };
    git('init', '--quiet', '--bare', 'app.git');
    git('init', '--quiet', 'work');
    git('-C', 'work', 'commit', '--quiet', '--allow-empty', '-m', 'First');
    git('-C', 'work', 'push', '--quiet', '../app.git', 'HEAD:refs/heads/main', 'HEAD:refs/heads/release/1');
    git('-C', 'work', 'commit', '--quiet', '--allow-empty', '-m', 'Seventh');
    git('-C', 'work', 'push', '--quiet', '../app.git', 'HEAD:refs/pull/7/head');
    git('clone', '--quiet', 'app.git', 'clone');
    const add = ['repo', 'add', 'local/acme/app', '--git', join(folder, 'app.git')];
    const { code, err } = await sluice(add, { env });
    assert.equal(code, 0, err);
    // The branch of a new queue is the default branch of the remote.
    assert.match(await ok(['queue', 'create']), /local\/acme\/app main {2}RUNNING/);
  });

  it('needs neither repository nor branch, and takes them where they are named [W22] [W23]', async () => {
    assert.match(await ok(['queue', 'show']), /^local\/acme\/app main {2}RUNNING/);
    assert.match(await ok(['pr', 'submit', '7']), /^#7 Seventh: /);
    for (const words of [
      ['7'],
      ['#7'],
      ['local/acme/app', '7'],
      ['local/acme/app', 'main', '7'],
      ['-R', 'local/acme/app', '-B', 'main', '7'],
      ['--repo', 'local/acme/app', 'main', '7'],
      ['--branch', 'main', '7'],
    ]) {
      assert.match(await ok(['pr', 'status', ...words]), /^#7 Seventh {2}by Ada/, words.join(' '));
    }
    assert.match(await ok(['pr', 'list']), /^#7\t/);
  });

  it('knows the repository by any address of it, and prefers origin to upstream to others [W22]', async () => {
    await symlink(join(folder, 'app.git'), join(folder, 'link.git'));
    for (const [name, url] of [
      ['origin', '../app.git'],
      ['origin', `file://${folder}/app.git`],
      ['origin', `${folder}/app/`],
      ['upstream', `${folder}/link.git`],
      ['other', `${folder}/app.git`],
    ] as const) {
      git('init', '--quiet', name + url.length);
      git('-C', name + url.length, 'remote', 'add', name, url);
      if (name !== 'origin') git('-C', name + url.length, 'remote', 'add', 'origin', 'git@github.com:ada/fork.git');
      assert.match(await ok(['queue', 'show'], name + url.length), /^local\/acme\/app main/, url);
    }
  });

  it('names the remotes of the clone, without passwords, where it finds no repository [W22]', async () => {
    git('init', '--quiet', 'foreign');
    assert.match(await refused(['queue', 'show'], 'foreign'), /-R host\/owner\/name\. .* has no remote/);
    git('-C', 'foreign', 'remote', 'add', 'origin', 'https://ada:secret@github.com/ada/fork.git');
    const text = await refused(['pr', 'status', '7'], 'foreign');
    assert.match(text, /origin: https:\/\/github\.com\/ada\/fork\.git\)\. It knows: local\/acme\/app\./);
    assert.match(await refused(['queue', 'show'], '.'), /in no git work tree/);
    assert.match(await refused(['queue', 'create'], 'origin10'), /Say which branch/);
  });

  it('uploads results of it and reads its tests, as far as the token may read [W22] [W41]', async () => {
    const report = "<testsuite name='s'><testcase name='adds' classname='c' time='0.1'/></testsuite>";
    await writeFile(join(folder, 'clone', 'junit.xml'), report);
    await ok(['upload', 'junit.xml', '--job', 'unit', '--wait']);
    assert.match(await ok(['tests', 'list', '--name', 'adds']), /\tc > adds\t|adds/);
    const only = { ...env, SLUICE_TOKEN: (await world.server.api.withScopes('upload')).token ?? '' };
    const upload = (clone: string) =>
      sluice(['upload', join(folder, 'clone', 'junit.xml'), '--dry-run'], { env: only, cwd: join(folder, clone) });
    assert.match((await upload('clone')).err, /-R host\/owner\/name\. The remote "origin" here is no address/);
    git('-C', 'clone', 'remote', 'set-url', 'origin', 'git@github.com:ada/fork.git');
    assert.equal((await upload('clone')).code, 0, 'the name in origin is enough');
    git('-C', 'clone', 'remote', 'set-url', 'origin', join(folder, 'app.git'));
  });

  it('proposes names that nearly match, and prints the fields that are asked for [W34] [W35]', async () => {
    for (const [args, expected] of [
      [['queue', 'show', 'local/acme/ap', 'main'], /Did you mean local\/acme\/app\?\n$/],
      [['queue', 'show', '-B', 'mian'], /Did you mean main\?\n$/],
      [['queue', 'show', '-B', 'elsewhere'], /first\.\n$/],
    ] as const) {
      const { code, err } = await sluice(args, { env, cwd: join(folder, 'clone') });
      assert.equal(code, 1);
      assert.match(err, expected);
    }
    const fields = await ok(['queue', 'list', '--json', 'branch,repo']);
    assert.deepEqual(JSON.parse(fields), [{ branch: 'main', repo: { host: 'local', owner: 'acme', name: 'app' } }]);
  });

  it('says in a list why each pull request waits [W37]', async () => {
    await ok(['queue', 'pause']);
    await ok(['pr', 'submit', '7']);
    assert.match(await ok(['queue', 'show']), /^#7\tNOT_READY\t.*\tSeventh\tThe queue has been paused [^.]*\.$/m);
    await ok(['pr', 'cancel', '7']);
    await ok(['queue', 'resume']);
  });

  it('opens the page of a forge, and prints its address [W36]', async () => {
    const opened = join(folder, 'opened');
    const browser = join(folder, 'browser');
    await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`, {
      mode: 0o700,
    });
    const args = ['pr', 'status', '-R', 'github.com/acme/app', '-B', 'main', '7', '--web'];
    const { code, out } = await sluice(args, { env: { ...env, BROWSER: browser } });
    assert.deepEqual([code, out], [0, 'https://github.com/acme/app/pull/7\n']);
    const read = () => readFile(opened, 'utf8').catch(() => undefined);
    assert.equal(await until('the browser was started', 10_000, read), 'https://github.com/acme/app/pull/7');
    const missing = await sluice(args, { env: { ...env, BROWSER: join(folder, 'nothing') } });
    assert.equal(missing.code, 0);
  });

  it('opens the page of the dashboard for plain git [W52]', async () => {
    const { SLUICE_URL } = env;
    const queue = `${SLUICE_URL}/default/local/acme/app/main`;
    assert.equal(await ok(['queue', 'show', '--web']), `${queue}\n`);
    assert.equal(await ok(['pr', 'status', '7', '--web']), `${queue}/pr/7\n`);
    const at = '2026-09-17T10:22:00Z';
    const past = await ok(['pr', 'status', '7', '--web', '--at', at]);
    assert.match(past, /\/pr\/7\?at=2026-09-17T10%3A22%3A00(\.000)?Z\n$/);
  });

  it('takes the default branch among several queues, and lists them where that has none [W23]', async () => {
    await ok(['queue', 'create', '-B', 'release/1']);
    assert.match(await ok(['queue', 'show']), /^local\/acme\/app main/);
    assert.match(await ok(['queue', 'show', '-B', 'release/1']), /^local\/acme\/app release\/1/);
    // This clone has not asked for the default branch.
    assert.match(await refused(['queue', 'show'], 'origin10'), /several queues.*-B main, -B release\/1\./);
    await ok(['queue', 'delete', '-B', 'release/1']);
  });
});
