import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, type TestContext, test } from 'node:test';
import { createPlainWorld, type PlainWorld } from '../../test/contract/plain-repository.ts';
import { type GitServer, startGitServer } from '../../test/helpers/git-server.ts';
import { pluck } from '../../test/helpers/pluck.ts';
import { Fault } from '../lib/fault.ts';
import type { Sha } from '../lib/sha.ts';
import { createGit } from './create-git.ts';
import type { RemoteLocation } from './git.ts';
import { parseRefs } from './remote-refs.ts';

const LIMIT = { timeout: 30_000 };
const TOKEN = 'ghs_0123456789abcdefSECRET';

function basic(token: string): string {
  return `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
}

describe('a remote over http with a token', () => {
  let world: PlainWorld;
  let server: GitServer;
  let main: Sha;

  beforeEach(async () => {
    world = await createPlainWorld();
    main = await world.commit('main', { files: { a: 'a\n' } });
    server = await startGitServer(world.folder);
    server.accept(basic(TOKEN));
  });
  afterEach(async () => {
    await server.close();
    await world.close();
  });

  function locationOf(more: Partial<RemoteLocation> = {}): RemoteLocation {
    return {
      kind: 'url',
      url: `${server.url}/app.git`,
      authorize: async () => basic(TOKEN),
      scope: ['refs/sluice/*'],
      isHttpAllowed: true,
      ...more,
    };
  }

  function createTested(context: TestContext, remoteWaitMs?: number) {
    const directory = join(world.folder, 'kept');
    const git = createGit({ directory, ...(remoteWaitMs === undefined ? {} : { remoteWaitMs }) });
    context.after(() => git.close());
    return git;
  }

  async function open(context: TestContext, more: Partial<RemoteLocation> = {}) {
    return createTested(context).open({ id: 'app', location: locationOf(more) });
  }

  test('a fetch copies only the refs that it names [G1]', LIMIT, async (context) => {
    const repository = await open(context);
    const other = await world.commit('other', { files: { o: 'o\n' } });
    const pull = await world.openPullRequest('main', { files: { b: 'b\n' } });
    const second = await world.openPullRequest('main', { files: { c: 'c\n' } });
    await world.git(['update-ref', 'refs/sluice/candidates/x', main]);
    await repository.refresh();
    assert.deepEqual(await namesOf(repository), ['refs/sluice/candidates/x']);
    await repository.fetch(['refs/heads/main', 'refs/pull/1/head', 'refs/pull/77/head', 'refs/heads/nobody']);
    assert.deepEqual(await namesOf(repository), ['refs/heads/main', 'refs/pull/1/head', 'refs/sluice/candidates/x']);
    assert.equal((await repository.findCommit('refs/pull/1/head'))?.sha, pull.headSha);
    for (const sha of [other, second.headSha]) assert.equal(await repository.findStoredCommit(sha), undefined);
  });

  test(
    'a commit is copied by its name, and one that the remote lacks is not there afterwards [G107]',
    LIMIT,
    async (context) => {
      const repository = await open(context);
      const { headSha, number } = await world.openPullRequest('main', { files: { b: 'b\n' } });
      await world.pushToPullRequest(number, { files: { b: 'forced\n' } });
      await world.git(['update-ref', `refs/pull/${number}/head`, main]);
      const gone = 'd'.repeat(40) as Sha;
      await repository.fetch(['refs/heads/main', headSha, gone]);
      assert.equal((await repository.findStoredCommit(headSha))?.sha, headSha);
      assert.equal(await repository.findStoredCommit(gone), undefined);
      assert.deepEqual(await namesOf(repository), ['refs/heads/main']);
    },
  );

  test('a ref that is gone is gone from the copy, also where it stood in the way [G107]', LIMIT, async (context) => {
    const repository = await open(context);
    await world.createBranch('release', main);
    await repository.fetch(['refs/heads/release']);
    await world.deleteBranch('release');
    await world.createBranch('release/1.0', main);
    await repository.fetch(['refs/heads/release/1.0']);
    assert.deepEqual(await namesOf(repository), ['refs/heads/release/1.0']);
    await world.deleteBranch('release/1.0');
    await repository.fetch(['refs/heads/release/1.0', 'refs/heads/main']);
    assert.deepEqual(await namesOf(repository), ['refs/heads/main']);
  });

  test(
    'refs that the mirror has already are asked for in one request, and not fetched [G158]',
    LIMIT,
    async (context) => {
      const repository = await open(context);
      const names = ['refs/heads/main', 'refs/heads/nobody'];
      await repository.fetch(names);
      const requestsOf = async (work: () => Promise<unknown>) => {
        const before = server.requests.length;
        await work();
        return server.requests.slice(before).map(({ path }) => path.replace(/^.*app\.git/, ''));
      };
      assert.deepEqual(await requestsOf(() => repository.fetch(names)), ['/git-upload-pack']);
      // Packed refs count too.
      const [mirror = ''] = await readdir(join(world.folder, 'kept'));
      await world.git(['--git-dir', join(world.folder, 'kept', mirror), 'pack-refs', '--all']);
      assert.deepEqual(await requestsOf(() => repository.fetch(names)), ['/git-upload-pack']);
      const sha = await world.commit('main', { files: { a: 'b\n' } });
      assert.ok((await requestsOf(() => repository.fetch(names))).length > 1);
      assert.equal((await repository.findCommit('refs/heads/main'))?.sha, sha);
      await world.createBranch('nobody', sha);
      await repository.fetch(names);
      assert.equal((await repository.findCommit('refs/heads/nobody'))?.sha, sha);
      await world.deleteBranch('nobody');
      await repository.fetch(names);
      assert.deepEqual(await namesOf(repository), ['refs/heads/main']);
    },
  );

  test('an answer about refs that is cut off, or none, proves nothing [G158]', () => {
    const sha = 'a'.repeat(40);
    const line = `003d${sha} refs/heads/main\n`;
    assert.deepEqual(parseRefs(`${line}0000`), new Map([['refs/heads/main', sha]]));
    assert.deepEqual(parseRefs('0000'), new Map());
    for (const text of ['', line, `${line}00`, 'no such thing', `${line}0004`, '000dERR no\n0000', `zz${line}`])
      assert.equal(parseRefs(text), undefined, text);
  });

  test('a focused repository refreshes its own refs [G1]', LIMIT, async (context) => {
    const repository = await open(context);
    const focused = repository.focus(['refs/heads/main']);
    for (const content of ['1\n', '2\n']) {
      const sha = await world.commit('main', { files: { a: content } });
      await focused.refresh();
      assert.equal((await focused.findCommit('refs/heads/main'))?.sha, sha);
      assert.equal((await repository.findCommit('refs/heads/main'))?.sha, sha);
    }
  });

  test('refs of the remote are listed without copying them [G1]', LIMIT, async (context) => {
    const repository = await open(context);
    await world.createBranch('a/refs/heads/main', main);
    await world.createBranch('sluice/x', main);
    assert.deepEqual(await repository.listRemoteRefs(['refs/heads/main']), [{ name: 'refs/heads/main', sha: main }]);
    assert.deepEqual(pluck(await repository.listRemoteRefs(['refs/heads/sluice/*', 'refs/pull/*']), 'name'), [
      'refs/heads/sluice/x',
    ]);
    assert.deepEqual(await namesOf(repository), []);
  });

  test('a push arrives, and a refusal is passed on [G1]', LIMIT, async (context) => {
    const repository = await open(context);
    await repository.fetch(['refs/heads/main']);
    const set = { kind: 'set', ref: 'refs/heads/sluice/pr-1/x', sha: main } as const;
    assert.deepEqual(await repository.changeRefs([set]), { kind: 'done' });
    assert.equal(await world.git(['rev-parse', set.ref]), main);
    await server.refusePushes('GH013: Repository rule violations found for refs/heads/sluice/pr-1/y.');
    const answer = await repository.changeRefs([{ ...set, ref: 'refs/heads/sluice/pr-1/y' }]);
    assert.match(answer.kind === 'refused' ? answer.detail : '', /hook declined.*GH013: Repository rule violations/);
  });

  test('the token is in no command line, file or fault [G2]', LIMIT, async (context) => {
    const repository = await open(context);
    const commandLines = await server.whileHeld(async () => {
      const work = Promise.all([repository.fetch(['refs/heads/main']), repository.listRemoteRefs(['refs/heads/*'])]);
      await server.untilHeld(2);
      const lines = await listCommandLines();
      return { lines, work };
    });
    await commandLines.work;
    assert.ok(
      commandLines.lines.some((line) => line.includes('remote-http')),
      'git was not seen',
    );
    await repository.changeRefs([{ kind: 'set', ref: 'refs/heads/x', sha: main }]);
    server.accept(undefined);
    const faults = await Promise.all(
      [repository.fetch(['refs/heads/main']), repository.listRemoteRefs(['refs/heads/*'])].map((work) =>
        work.then(
          () => assert.fail('it was accepted'),
          (error: unknown) => `${error} ${error instanceof Error ? error.stack : ''}`,
        ),
      ),
    );
    const texts = [...commandLines.lines, ...faults, ...(await readFiles(join(world.folder, 'kept')))];
    for (const text of texts)
      for (const secret of [TOKEN, basic(TOKEN).slice(6)]) assert.ok(!text.includes(secret), text.slice(0, 200));
  });

  test('a token that the server or git repeats is not told [G2]', LIMIT, async (context) => {
    const repository = await open(context);
    server.answer(403, `No, ${TOKEN}, and not ${basic(TOKEN)} either.`);
    await assert.rejects(repository.fetch(['refs/heads/main']), (error) => {
      assert.ok(error instanceof Fault);
      assert.match(error.detail, /lacks the permission for this \(No, \*\*\*/);
      return !error.message.includes(TOKEN) && !error.message.includes(basic(TOKEN).slice(6));
    });
  });

  test('each command has a token of its own [G2]', LIMIT, async (context) => {
    let token = 'first-token';
    const repository = await open(context, { authorize: async () => basic(token) });
    server.accept(basic('first-token'));
    await repository.fetch(['refs/heads/main']);
    server.accept(basic('second-token'));
    await assert.rejects(repository.fetch(['refs/heads/main']), isUnavailable(/does not accept the token/));
    token = 'second-token';
    await repository.fetch(['refs/heads/main']);
    assert.deepEqual(await repository.changeRefs([{ kind: 'set', ref: 'refs/heads/y', sha: main }]), { kind: 'done' });
  });

  test('a remote without a token says why [G2]', LIMIT, async (context) => {
    const sentence = 'The app is not installed.';
    const repository = await open(context, {
      authorize: () => Promise.reject(new Fault('FORGE_UNAVAILABLE', sentence)),
    });
    await assert.rejects(repository.refresh(), isUnavailable(/not installed/));
    assert.equal(server.requests.length, 0);
  });

  test('opening again with another source of tokens is the same repository [G2]', LIMIT, async (context) => {
    const git = createTested(context);
    const first = await git.open({ id: 'app', location: locationOf() });
    assert.equal(await git.open({ id: 'app', location: locationOf({ authorize: async () => basic('x') }) }), first);
  });

  for (const [status, sentence] of [
    [401, /does not accept the token/],
    [403, /lacks the permission/],
    [404, /no such repository, or the token/],
    [301, /has moved to another address/],
  ] as const) {
    test(`${status} is told in words [G3]`, LIMIT, async (context) => {
      const git = createTested(context);
      server.answer(status, 'Nothing to see here.');
      const source = { id: 'app', location: locationOf() };
      const repository = await git.open(source);
      await assert.rejects(repository.fetch(['refs/heads/main']), isUnavailable(sentence));
      await assert.rejects(repository.listRemoteRefs(['refs/heads/main']), isUnavailable(sentence));
      await assert.rejects(
        repository.changeRefs([{ kind: 'set', ref: 'refs/heads/x', sha: main }]),
        (error) => error instanceof Fault,
      );
      assert.match((await git.findProblem(source)) ?? '', sentence);
    });
  }

  test('no redirect is followed [G101]', LIMIT, async (context) => {
    const elsewhere = await startGitServer(world.folder);
    context.after(() => elsewhere.close());
    elsewhere.accept(basic(TOKEN));
    server.redirectTo(elsewhere.url);
    const repository = await open(context);
    await assert.rejects(repository.fetch(['refs/heads/main']), isUnavailable(/moved/));
    assert.deepEqual(elsewhere.requests, []);
  });

  test('credentials of the operator are left out [G101]', LIMIT, async (context) => {
    const home = join(world.folder, 'home');
    await writeHome(home, server.url);
    for (const [name, value] of Object.entries({ HOME: home, GIT_ASKPASS: join(home, 'ask'), XDG_CONFIG_HOME: home })) {
      const before = process.env[name];
      process.env[name] = value;
      context.after(() => {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      });
    }
    server.accept(basic('of-the-operator'));
    for (const authorize of [async () => basic(TOKEN), async () => undefined]) {
      const git = createTested(context);
      const repository = await git.open({ id: 'app', location: locationOf({ authorize }) });
      await assert.rejects(repository.fetch(['refs/heads/main']), isUnavailable(/does not accept/));
    }
    assert.deepEqual(
      server.requests.map(({ authorization }) => authorization).filter((value) => value !== basic(TOKEN)),
      server.requests.map(({ authorization }) => authorization).filter((value) => value === undefined),
    );
  });

  test('plain http is refused unless it was allowed [G101]', LIMIT, async (context) => {
    const { isHttpAllowed: _, ...strict } = locationOf();
    const repository = await createTested(context).open({ id: 'app', location: strict });
    await assert.rejects(repository.fetch(['refs/heads/main']), isUnavailable(/transport 'http' not allowed/));
    assert.deepEqual(server.requests, []);
  });

  test('a silent server is not waited for forever [G102]', LIMIT, async (context) => {
    const git = createTested(context, 300);
    const repository = await git.open({ id: 'app', location: locationOf() });
    await server.whileHeld(async () => {
      await assert.rejects(repository.fetch(['refs/heads/main']), isUnavailable(/still being copied/));
      await assert.rejects(repository.listRemoteRefs(['refs/heads/main']), isUnavailable(/did not answer within 1 /));
      await git.close();
    });
  });

  test('fetched pull requests that were not used for an hour leave the copy [G107]', LIMIT, async (context) => {
    let now = Date.UTC(2025, 0, 1);
    const git = createGit({ directory: join(world.folder, 'kept'), clock: { now: () => now } });
    context.after(() => git.close());
    const repository = await git.open({ id: 'app', location: locationOf() });
    const old = await world.openPullRequest('main', { files: { b: 'b\n' } });
    const recent = await world.openPullRequest('main', { files: { c: 'c\n' } });
    await repository.fetch([`refs/pull/${old.number}/head`, 'refs/heads/main']);
    now += 2 * 60 * 60_000;
    await repository.fetch([`refs/pull/${recent.number}/head`]);
    for (let count = 2; count < 100; count += 1) await repository.fetch([main]);
    assert.deepEqual(await namesOf(repository), ['refs/heads/main', `refs/pull/${recent.number}/head`]);
  });
});

async function namesOf(repository: { listRefs(pattern: string): Promise<readonly { readonly name: string }[]> }) {
  return (await repository.listRefs('refs/')).map(({ name }) => name);
}

function isUnavailable(sentence: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, 'FORGE_UNAVAILABLE');
    assert.match(error.detail, sentence);
    return true;
  };
}

async function listCommandLines(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes('git'));
}

async function readFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')),
  );
}

/** Writes every kind of configuration that would make git send a stored password. */
async function writeHome(home: string, url: string): Promise<void> {
  const { host, hostname } = new URL(url);
  await mkdir(join(home, 'git'), { recursive: true });
  const secret = 'of-the-operator';
  const config = [
    `[credential]\n\thelper = "!f() { echo username=x-access-token; echo password=${secret}; }; f"\n`,
    `[http]\n\textraHeader = "Authorization: ${basic(secret)}"\n`,
    `[url "http://x-access-token:${secret}@${host}/"]\n\tinsteadOf = ${url}/\n`,
  ].join('');
  await writeFile(join(home, '.gitconfig'), config);
  await writeFile(join(home, 'git', 'config'), config);
  await writeFile(join(home, '.netrc'), `machine ${hostname} login x-access-token password ${secret}\n`, {
    mode: 0o600,
  });
  await writeFile(join(home, 'ask'), `#!/bin/sh\necho ${secret}\n`, { mode: 0o755 });
}
