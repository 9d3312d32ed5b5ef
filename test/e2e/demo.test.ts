// `sluice demo` as a real process without a terminal. Git alone checks its results.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { collectOutput } from '../helpers/children.ts';
import { SLUICE_SOURCE } from '../helpers/sluice-command.ts';
import { createClient, isGone, makeFolder, until } from './harness.ts';

/** It takes 20 s on an idle machine. */
const PATIENCE_MS = 300_000;
const REF = { repo: { host: 'local', owner: 'demo', name: 'shop' }, targetBranch: 'main' };

interface Demo {
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  readonly output: { out: string; err: string };
}

let folder = '';
const started = new Set<ChildProcess>();
before(async () => {
  folder = await makeFolder();
});
after(() => {
  for (const child of started) if (child.exitCode === null) child.kill('SIGTERM');
});

/** In a process group of its own, as in a shell, with a home in which git is not configured. */
async function startDemo(name: string, args: readonly string[] = [], path = process.env['PATH']): Promise<Demo> {
  const home = join(folder, `${name}-home`);
  await mkdir(home);
  const child = spawn(process.execPath, [SLUICE_SOURCE, 'demo', ...args], {
    // The demo must ignore the configuration of another server.
    env: { PATH: path, HOME: home, TMPDIR: home, SLUICE_PORT: '1', SLUICE_TOKEN: 'somebody-elses' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  started.add(child);
  const output = collectOutput(child);
  const exited = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, ...output })),
  );
  return { child, exited, output };
}

async function untilTesting({ child, output }: Demo): Promise<void> {
  await until('something is under test', 120_000, async () => {
    assert.equal(child.exitCode, null, output.err);
    return /pull_request\.testing/.test(output.out) || undefined;
  });
}

describe('sluice demo', () => {
  it('ends as its story says, and main holds exactly the tested and landed commits [W4] [W13] [L1] [L3]', {
    timeout: PATIENCE_MS,
  }, async () => {
    const place = join(folder, "it's kept");
    const demo = await startDemo('kept', ['--keep', '--folder', place]);
    const { code, out, err } = await demo.exited;
    const url = /^The server goes on at (\S+)\. /m.exec(out)?.[1] ?? '';
    try {
      assert.equal(code, 0, `${out}\n${err}`);
      assert.equal(err, '');
      const token = (await readFile(join(place, 'data', 'admin-token'), 'utf8')).trim();
      const api = createClient({ url: `${url}/v1`, token });
      const prs = Array.from({ length: 10 }, (_, index) => ({ number: index + 1 }));
      const { pullRequests } = await api.ok<{ pullRequests: readonly EntryView[] }>('getSubmittedPullRequests', {
        ...REF,
        prs,
        includeTimeline: true,
      });
      checkHistory(join(place, 'shop.git'), pullRequests);
      await untilTidy(join(place, 'shop.git'));
      const flaky = pullRequests.find(({ prNumber }) => prNumber === 10);
      const failed = flaky?.timeline?.find(({ state }) => state === 'PENDING_FAILURE');
      assert.match(out, new RegExp(`sluice logs ${failed?.testRunId}\n`), 'the log of a failure can be looked at');
      assert.match(out, /^Everything is in .*it's kept$/m);
      const reach = `. '${place.replaceAll("'", "'\\''")}/env' && '${process.execPath}' '${SLUICE_SOURCE}' status`;
      assert.match(execFileSync('sh', ['-c', reach], { encoding: 'utf8' }), /local\/demo\/shop\tmain\tRUNNING/);
    } finally {
      process.kill(Number(await readFile(join(place, 'server.pid'), 'utf8')), 'SIGTERM');
    }
    await until('the server that was left running has stopped', 30_000, () => isGone(url));
  });

  it('leaves nothing running and nothing behind when it is interrupted [W14] [W13]', {
    timeout: PATIENCE_MS,
  }, async () => {
    const demo = await startDemo('interrupted');
    const home = join(folder, 'interrupted-home');
    await untilTesting(demo);
    const [made = ''] = (await readdir(home)).filter((name) => name.startsWith('sluice-demo-'));
    const log = await readFile(join(home, made, 'server.log'), 'utf8');
    const url = /^Sluice listens on (\S+)$/m.exec(log)?.[1] ?? '';
    assert.equal(await isGone(url), undefined, 'it runs');
    // As a terminal does it: every process in the foreground gets Ctrl-C.
    process.kill(-(demo.child.pid as number), 'SIGINT');
    const { code, out, err } = await demo.exited;
    assert.equal(code, 130, err);
    assert.match(out, /Stopped\. Nothing of it is left running\.\n.* is removed\./);
    assert.equal(await isGone(url), true);
    assert.deepEqual(await readdir(home), [], 'neither the folder nor a configuration of git is there');
  });

  it('keeps everything for a look when its server dies [W4]', { timeout: PATIENCE_MS }, async () => {
    const demo = await startDemo('died');
    const home = join(folder, 'died-home');
    await untilTesting(demo);
    const made = join(home, (await readdir(home)).find((name) => name.startsWith('sluice-demo-')) ?? '');
    process.kill(Number(await readFile(join(made, 'server.pid'), 'utf8')), 'SIGKILL');
    const { code, out, err } = await demo.exited;
    assert.equal(code, 3, out);
    assert.match(err, /^sluice: The server of the demo ended before the demo did\.$/m);
    assert.ok(out.includes(`Everything is kept in ${made}; what the server said is in ${made}/server.log`), out);
    assert.ok((await readdir(made)).includes('shop.git'));
  });

  it('exits with 3 where git is not installed, and says so', async () => {
    const { code, err } = await (await startDemo('no-git', [], folder)).exited;
    assert.equal(code, 3);
    assert.match(err, /^sluice: Git is not installed/);
  });

  it('does not touch a folder that has something in it', async () => {
    const place = join(folder, 'full');
    await mkdir(place);
    await writeFile(join(place, 'precious'), 'mine');
    const { code, err } = await (await startDemo('full', ['--folder', place])).exited;
    assert.equal(code, 2);
    assert.match(err, /is not empty/);
    assert.deepEqual(await readdir(place), ['precious']);
  });
});

/** The running server removes test branches after their pull requests have landed or left. */
async function untilTidy(gitDir: string): Promise<void> {
  await until('no test branch is left', 30_000, async () => {
    const args = ['--git-dir', gitDir, 'for-each-ref', 'refs/heads/sluice'];
    return execFileSync('git', args, { encoding: 'utf8' }) === '' ? true : undefined;
  });
}

/** Each step of main is a landing that proves itself; the three removed pull requests are not in it. */
function checkHistory(gitDir: string, records: readonly EntryView[]): void {
  const git = (...args: string[]): string =>
    execFileSync('git', ['--git-dir', gitDir, ...args], { encoding: 'utf8' }).trim();
  const line = git('log', '--first-parent', '--reverse', '--format=%H', 'main').split('\n');
  const landed = records.flatMap((record) => (record.landed === undefined ? [] : [{ ...record.landed, record }]));
  const byLanding = landed.toSorted((a, b) => line.indexOf(a.pushedSha) - line.indexOf(b.pushedSha));
  assert.deepEqual(
    line.slice(1),
    byLanding.map(({ pushedSha }) => pushedSha),
  );
  for (const [index, { base, pushedSha, pushedTree, testedTree, composedWith, record }] of byLanding.entries()) {
    assert.equal(base, line[index]);
    assert.equal(git('rev-parse', `${pushedSha}^{tree}`), pushedTree);
    assert.equal(pushedTree === testedTree, composedWith.length === 0);
    const changeOf = (sha: string): string => git('show', '--format=%an', sha);
    assert.equal(changeOf(pushedSha), changeOf(record.prSha), 'what the author changed, and nothing else');
  }
  assert.deepEqual(
    landed.map(({ record }) => record.prNumber).toSorted((a, b) => a - b),
    [1, 3, 5, 6, 8, 9, 10],
  );
  assert.doesNotMatch(git('log', '--format=%s', 'main'), /\(#(?:2|4|7)\)/);
  assert.match(git('show', 'main:tax/rates.js'), /FI: 25\.5/);
}
