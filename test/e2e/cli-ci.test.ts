import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { listen } from '../helpers/listen.ts';
import { makeFolder, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { runSluice } from './run-sluice.ts';
import { type TestQueue, useServer } from './test-queue.ts';

const world = useServer();
const SH = ['--', 'sh', '-c'];
const CLOSED = { SLUICE_URL: 'http://127.0.0.1:9', SLUICE_TOKEN: 'slc_x' };
const isLinux = process.platform === 'linux';

let queue: TestQueue;
before(async () => {
  queue = await world.aQueue();
});

/** A pull request under test, and its run. */
async function aRun(): Promise<{ readonly number: number; readonly run: CandidateView }> {
  const number = await queue.submitOne();
  return { number, run: await queue.ci.runOf(number) };
}

const exec = (args: readonly string[], env: Readonly<Record<string, string>> = CLOSED, cwd?: string) =>
  runSluice(['ci', 'exec', ...args], env, cwd);
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isLinux || !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('sluice ci exec', () => {
  it('passes words, input, output and exit code on, and asks no shell [W72]', async () => {
    const script =
      'process.stdin.pipe(process.stdout); console.error(process.argv.slice(1).join("|")); process.exitCode = 7';
    const running = exec([
      '--sha',
      'a'.repeat(40),
      '-R',
      'local/acme/app',
      '--',
      process.execPath,
      '-e',
      script,
      '--',
      '$HOME *',
      '--json',
      'a,b',
      '--help',
    ]);
    running.type('in\n', { isLast: true });
    const { code, out, err } = await running.ended;
    assert.deepEqual([code, out], [7, 'in\n']);
    assert.match(err, /^\$HOME \*\|--json\|a,b\|--help$/m);
  });

  it('exits as a shell does for a signal, an unknown command and one that may not be run [W72]', async () => {
    const folder = await makeFolder();
    writeFileSync(join(folder, 'plain'), 'text');
    chmodSync(join(folder, 'plain'), 0o644);
    const codeOf = async (...args: string[]) => (await exec(args).ended).code;
    assert.equal(await codeOf(...SH, 'kill -KILL $$'), 137);
    assert.equal(await codeOf('--', 'no-such-command-here'), 127);
    assert.equal(await codeOf('--', join(folder, 'plain')), 126);
    assert.equal(await codeOf('--grace', 'soon', ...SH, 'true'), 2);
    assert.equal(await codeOf(), 2);
  });

  it('ends every process of a command that ignores SIGTERM when its pull request leaves [W72]', async () => {
    const { number, run } = await aRun();
    const folder = await makeFolder();
    const stubborn = 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done';
    writeFileSync(join(folder, 'stubborn.sh'), stubborn);
    const isolated = isLinux ? 'setsid sh stubborn.sh & env -i PATH="$PATH" ' : '';
    const start = `${isolated}sh stubborn.sh & wait`;
    const options = ['--branch', `origin/${run.testBranch}`, '--interval', '1s', '--grace', '1s'];
    const running = exec([...options, ...SH, start], world.server.env, folder);
    const pids = await until('all of them run', 20_000, async () => {
      const found = linesOf(await readFile(join(folder, 'pids'), 'utf8').catch(() => ''));
      return found.length === (isLinux ? 2 : 1) ? found.map(Number) : undefined;
    });
    assert.deepEqual(
      pids.map(isThere),
      pids.map(() => true),
    );
    await queue.api.ok('cancelPullRequest', queue.entry(number));
    const { code, err } = await running.ended;
    assert.equal(code, 75, err);
    assert.match(err, /^sluice: The queue for main needs no result of this run any more \(\w+, #\d+\)\.$/m);
    assert.deepEqual(
      pids.map(isThere),
      pids.map(() => false),
    );
  });

  it('lets a command clean up, and finds the run by its commit in a clone without CI [W71]', async () => {
    const { number, run } = await aRun();
    const folder = join(await makeFolder(), 'clone');
    execFileSync('git', ['clone', '--quiet', queue.git.path, folder]);
    execFileSync('git', ['fetch', '--quiet', 'origin', run.testBranchSha], { cwd: folder });
    execFileSync('git', ['checkout', '--quiet', '--detach', run.testBranchSha], { cwd: folder });
    const info = await sluice(['ci', 'info', '--json', 'isWanted,prNumbers'], { env: world.server.env, cwd: folder });
    assert.deepEqual([info.code, JSON.parse(info.out)], [0, { isWanted: true, prNumbers: [number] }], info.err);
    const script = 'trap "echo cleaned; exit 0" TERM; echo ready; while :; do sleep 0.1; done';
    const running = exec(['--interval', '1s', ...SH, script], world.server.env, folder);
    await until('it runs', 20_000, async () => running.output.out === 'ready\n' || undefined);
    await queue.api.ok('restartTestsOnPullRequest', queue.entry(number));
    assert.deepEqual({ ...(await running.ended), err: '' }, { code: 75, out: 'ready\ncleaned\n', err: '' });
    await queue.api.ok('cancelPullRequest', queue.entry(number));
  });

  it('goes on to its end, with one line, where no server can be asked [W74]', async () => {
    const { run } = await aRun();
    const of = ['--interval', '1s', '--branch', run.testBranch];
    const away = await exec([...of, ...SH, 'sleep 3; exit 5'], CLOSED).ended;
    assert.deepEqual(
      [away.code, linesOf(away.err)],
      [
        5,
        [
          'sluice: No server answers at http://127.0.0.1:9. Start one with `sluice serve`, or set SLUICE_URL. The command goes on.',
        ],
      ],
    );
    for (const [env, args, told] of [
      [{ SLUICE_URL: world.server.url }, of, /There is no token\..* The command goes on\.$/],
      [{ ...world.server.env, SLUICE_TOKEN: 'slc_wrong' }, of, /The command goes on\.$/],
      [
        world.server.env,
        ['--sha', 'b'.repeat(40), '-R', queue.name],
        /No test run here has the commit b{40}\..* goes on\.$/,
      ],
      [world.server.env, [], /Say which commit or branch is tested.* The command goes on\.$/],
    ] as const) {
      const ran = await exec(
        [...args, ...SH, 'sleep 1; exit 5'],
        { ...env, GIT_CEILING_DIRECTORIES: '/' },
        await makeFolder(),
      ).ended;
      assert.equal(ran.code, 5);
      assert.equal(linesOf(ran.err).length, 1, ran.err);
      assert.match(ran.err.trim(), told);
    }
  });

  it('takes no answer of something else for that of a server [W74]', async () => {
    for (const [status, body] of [
      [200, '{}'],
      [200, 'null'],
      [404, '<html>'],
    ] as const) {
      const other = createServer((_, response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      });
      const args = ['--branch', '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', '--interval', '1s', ...SH, 'sleep 2; exit 3'];
      assert.equal((await exec(args, { ...CLOSED, SLUICE_URL: await listen(other) }).ended).code, 3);
      other.close();
    }
  });

  it('does not wait for a server that keeps silent [W74]', async () => {
    let asked = 0;
    const silent = createServer(() => {
      asked += 1;
    });
    const running = exec(['--branch', '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', ...SH, 'read -r _; exit 3'], {
      ...CLOSED,
      SLUICE_URL: await listen(silent),
    });
    await until('the server is asked', 20_000, async () => asked > 0 || undefined);
    running.type('\n', { isLast: true });
    assert.deepEqual(await running.ended, { code: 3, out: '', err: '' });
    silent.closeAllConnections();
    silent.close();
  });

  it('passes signals on, and kills after the grace that follows SIGTERM [W73]', async () => {
    const kind = exec([...SH, 'trap "exit 9" INT; echo ready; while :; do sleep 0.1; done']);
    await until('it runs', 20_000, async () => kind.output.out === 'ready\n' || undefined);
    kind.kill('SIGINT');
    assert.equal((await kind.ended).code, 9);
    const stubborn = exec(['--grace', '1s', ...SH, 'trap "echo no" TERM; echo ready; while :; do sleep 0.1; done']);
    await until('it runs', 20_000, async () => stubborn.output.out === 'ready\n' || undefined);
    stubborn.kill('SIGTERM');
    const { code, out } = await stubborn.ended;
    assert.deepEqual([code, out], [137, 'ready\nno\n']);
  });
});

describe('sluice ci exec with a framework', () => {
  const RUN = ['--branch', '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', '--check', 'unit'];
  const PRINT = ['--', process.execPath, '-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--'];
  const HOSTILE = ['$(touch owned)', '-k', 'a\nb', 'test_a[x-1]', '`touch owned`', '; touch owned', 'L'.repeat(5_000)];
  const tests = HOSTILE.map((name) => ({
    name,
    check: 'unit',
    classname: 'tests.test_io',
    file: null,
    parent: 'pytest',
  }));

  /** Runs the command where the server says this of the run. */
  async function execAbout(info: object, args: readonly string[]) {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ isWanted: true, ...info }));
    });
    const folder = await makeFolder();
    const ran = await exec(args, { ...CLOSED, SLUICE_URL: await listen(server) }, folder).ended;
    server.closeAllConnections();
    server.close();
    assert.deepEqual(await readdir(folder), []);
    return ran;
  }

  it('selects the tests of a probe by arguments, also those with hostile names [W87] [R102]', async () => {
    const { code, out, err } = await execAbout({ scope: 'QUESTION', question: tests.slice(0, 4) }, [
      'pytest',
      ...RUN,
      ...PRINT,
    ]);
    const expression =
      '(test_io and touch and owned) or (test_io and -k) or (test_io and a and b) or (test_io and test_a[x-1])';
    assert.deepEqual([code, JSON.parse(out)], [0, ['--continue-on-collection-errors', '-k', expression]], err);
    assert.match(err, /^sluice: A probe of 4 tests that failed: this runs those tests alone\.$/m);
    const files = await execAbout({ scope: 'QUESTION', question: tests }, ['pytest', ...RUN, ...PRINT]);
    assert.deepEqual(JSON.parse(files.out).slice(2), ['(test_io)']);
  });

  it('runs everything in a full run, without an answer, and for an answer of something else [W88]', async () => {
    for (const info of [
      { scope: 'ALL' },
      { question: 'x' },
      { question: [] },
      { question: [{ name: 1 }] },
      { question: [null] },
      { question: [{ name: 'a', classname: 5 }] },
    ]) {
      const { code, out, err } = await execAbout(info, ['pytest', ...RUN, ...PRINT]);
      assert.deepEqual([code, out], [0, '[]\n'], err);
    }
    const away = await exec(['pytest', ...RUN, ...PRINT]).ended;
    assert.deepEqual([away.code, away.out], [0, '[]\n']);
    assert.match(away.err, /^sluice: No server answers at .* All tests run\.$/m);
  });

  it('runs nothing of a check that is not asked, and takes no test for no failure [W87] [W88]', async () => {
    const asked = { scope: 'QUESTION', question: tests.slice(0, 1) };
    const other = await execAbout(asked, ['pytest', ...RUN, '--check', 'lint', ...PRINT]);
    assert.deepEqual([other.code, other.out], [0, ''], other.err);
    const none = await execAbout(asked, ['pytest', ...RUN, ...SH, 'exit 5']);
    assert.deepEqual([none.code, /None of these tests is there/.test(none.err)], [0, true]);
    assert.equal((await execAbout(asked, ['jest', ...RUN, ...SH, 'exit 5'])).code, 5);
    assert.equal((await execAbout({ scope: 'ALL' }, ['pytest', ...RUN, ...SH, 'exit 5'])).code, 5);
  });

  it('takes one framework before the sign, and a command behind it [W87]', async () => {
    for (const words of [
      ['mocha', '--', 'true'],
      ['pytest', 'jest', '--', 'true'],
      ['pytest', '--'],
    ]) {
      const { code, err } = await exec(words).ended;
      assert.equal(code, 2, err);
    }
    assert.equal((await exec(['true']).ended).code, 0);
  });
});

describe('sluice ci info', () => {
  const info = (args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string) =>
    sluice(['ci', 'info', ...args], { env: { ...world.server.env, ...env }, ...(cwd === undefined ? {} : { cwd }) });

  it('tells what the branch of a CI tests, with the id of the branch alone [W71] [W75] [C64] [C71]', async () => {
    const { number, run } = await aRun();
    const { testRunId, testBranch, testBranchSha } = run;
    for (const env of [
      { GITHUB_ACTIONS: 'true', GITHUB_REF: `refs/heads/${testBranch}`, GITHUB_SHA: testBranchSha },
      { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/pull/9/merge', GITHUB_HEAD_REF: testBranch },
      { GITLAB_CI: 'true', CI_COMMIT_REF_NAME: testBranch, CI_COMMIT_SHA: testBranchSha },
      { BUILD_ID: '1', BRANCH_NAME: testBranch, GIT_COMMIT: testBranchSha },
    ]) {
      const { code, out, err } = await info(['--json'], env, await makeFolder());
      assert.equal(code, 0, err);
      const { createdAt: _, baseSha, dependentPrs, ...rest } = JSON.parse(out);
      assert.match(baseSha, /^[\da-f]{40}$/);
      assert.ok(Array.isArray(dependentPrs));
      const shown = { testRunId, repo: queue.repo, targetBranch: 'main', purpose: 'LINE', status: 'IN_PROGRESS' };
      assert.deepEqual(rest, {
        ...shown,
        scope: 'ALL',
        isWanted: true,
        attempt: 1,
        testBranch,
        testBranchSha,
        prNumbers: [number],
      });
    }
    const words = await info(['--sha', testBranchSha, '-R', queue.name]);
    assert.match(words.out, new RegExp(`^Queue +${queue.name} main\\nTests +#${number}`));
    assert.match(words.out, /^Wanted +yes$/m);
    await queue.api.ok('cancelPullRequest', queue.entry(number));
    assert.match((await info(['--branch', testBranch])).out, /^Wanted +no: \w+, #\d+$/m);
  });

  it('still wants the rest of a run that passed and landed [C64]', async () => {
    const own = await world.aQueue();
    const number = await own.submitOne();
    const { testBranch } = await own.ci.pass(number);
    await own.ci.untilState(number, 'MERGED');
    const { isWanted, status, endedAt } = JSON.parse((await info(['--branch', testBranch, '--json'])).out);
    assert.deepEqual([isWanted, status, typeof endedAt], [true, 'SUCCEEDED', 'string']);
  });

  it('explains an unknown commit, a wrong token and a folder without git [W71]', async () => {
    const unknown = await info(['--sha', 'c'.repeat(40), '-R', queue.name]);
    assert.deepEqual([unknown.code, /No test run here has the commit/.test(unknown.err)], [1, true], unknown.err);
    const short = await info(['--sha', 'c0ffee', '-R', queue.name]);
    assert.deepEqual([short.code, /whole commit id/.test(short.err)], [1, true], short.err);
    assert.equal((await info(['--branch', 'x/0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55'])).code, 1);
    assert.equal((await info(['--sha', 'c'.repeat(40)], { SLUICE_TOKEN: 'slc_wrong' })).code, 4);
    const nowhere = await info([], { GIT_CEILING_DIRECTORIES: '/' }, await makeFolder());
    assert.deepEqual([nowhere.code, /Say which commit or branch is tested/.test(nowhere.err)], [2, true]);
  });

  it('is a read, of the repositories of the token alone [C64]', async () => {
    const { number, run } = await aRun();
    const ask = async (scopes: readonly string[], body: object, repositories?: readonly object[]) => {
      const { token } = await queue.api.ok<{ token: string }>('createApiToken', {
        name: 'ci',
        scopes,
        ...(repositories && { repositories }),
      });
      const headers = { 'x-api-token': token, 'content-type': 'application/json' };
      const answer = await fetch(`${world.server.url}/v1/getTestRunInfo`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return answer.status;
    };
    const { testRunId, testBranchSha: sha } = run;
    const other = (await world.aQueue()).repo;
    assert.equal(await ask(['read'], { testRunId }, [queue.repo]), 200);
    assert.equal(await ask(['read'], { sha, repo: queue.repo }, [queue.repo]), 200);
    assert.equal(await ask(['read'], { testRunId }, [other]), 404);
    assert.equal(await ask(['read'], { testRunId, repo: other }), 404);
    assert.equal(await ask(['read'], { sha, repo: other }), 404);
    assert.equal(await ask(['read'], { sha }), 400);
    assert.equal(await ask(['read'], { sha, testRunId, repo: queue.repo }), 400);
    assert.equal(await ask(['upload', 'report'], { testRunId }), 403);
    await queue.api.ok('cancelPullRequest', queue.entry(number));
  });
});
