// The commands in the README and in docs/getting-started.md work as shown.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { endWithProcess } from '../helpers/children.ts';
import { ROOT, readPage, shellBlocks } from '../helpers/doc-pages.ts';
import { SLUICE_SOURCE } from '../helpers/sluice-command.ts';
import { isGone, makeFolder, until } from './harness.ts';

const PAGE = 'docs/getting-started.md';
const PATIENCE_MS = 300_000;
const [DEMO_COMMAND, START_COMMAND] = shellBlocks('README.md', 'Two commands').split(/ *#.*\n/) as [string, string];

/** Npm takes ten times as long as the command that it starts; `command npx` is npm itself. */
const QUICK_NPX = `npx() { shift; '${process.execPath}' '${SLUICE_SOURCE}' "$@"; }\n`;

async function run(script: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { SLUICE_URL: _url, SLUICE_DATA: _data, NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  const args = ['-euo', 'pipefail', '-c', QUICK_NPX + script];
  return (await promisify(execFile)('bash', args, { cwd: ROOT, env })).stdout;
}

/** The last command stops the server; an earlier one may have failed. */
async function untilStopped(demo: string): Promise<void> {
  const [environment, pid] = await Promise.all([
    readFile(join(demo, 'env'), 'utf8').catch(() => ''),
    readFile(join(demo, 'server.pid'), 'utf8').catch(() => ''),
  ]);
  const url = /SLUICE_URL=(\S+)/.exec(environment)?.[1];
  if (url === undefined) return;
  try {
    process.kill(Number(pid), 'SIGTERM');
  } catch {
    // It has ended already.
  }
  await until('the server of the demo has stopped', 30_000, () => isGone(url));
}

/** A server as the README starts it, on a port and a folder of its own. */
async function start(t: TestContext): Promise<{ SLUICE_URL: string; SLUICE_DATA: string }> {
  const data = await makeFolder();
  const settings = { SLUICE_PORT: '0', SLUICE_DATA: data, SLUICE_RUNNER_TRUST: 'all', SLUICE_LOG_LEVEL: 'warn' };
  const env = { PATH: process.env['PATH'], HOME: data, ...settings };
  const child = spawn('bash', ['-c', `exec ${START_COMMAND}`], { cwd: ROOT, env, stdio: 'ignore' });
  endWithProcess(child);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.after(() => child.kill('SIGTERM') && ended);
  const url = await until('the server listens', 60_000, () =>
    readFile(join(data, 'url'), 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    ),
  );
  return { SLUICE_URL: url, SLUICE_DATA: data };
}

it('the first use, command by command', { timeout: PATIENCE_MS }, async () => {
  const demo = await makeFolder();
  try {
    const script = shellBlocks(PAGE, 'First use').replace(/^DEMO=.*$/m, '');
    assert.ok(script.includes(`\n${DEMO_COMMAND} -- --keep`), 'the demo of the README, kept');
    const text = await run(script.replace('npx sluice', 'command npx sluice'), { DEMO: demo });
    assert.match(text, /^\w+ Count the items of a cart \(#5\)$/m, 'the history');
    assert.match(text, /^#7 Give tourists their tax back +by Donald$/m, 'why #7 left');
    // If it has landed before the watch starts, there is nothing to watch.
    assert.match(text, /^#11 Thank the customer +by Ada\nState +Landed \(MERGED\), /m, 'where it stands');
    assert.match(text, /^Landed +[0-9a-f]{40}$/m);
  } finally {
    await untilStopped(demo);
  }
});

it('a repository of your own on plain git', { timeout: PATIENCE_MS }, async (t) => {
  const server = await start(t);
  const git = await createPlainWorld();
  t.after(() => git.close());
  const files = { 'package.json': '{ "scripts": { "test": "true" } }\n' };
  await git.commit('main', { files, message: 'Begin' });
  const clone = join(await makeFolder(), 'app');
  const ada = { GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada', EMAIL: 'ada@acme.test' };
  const script = shellBlocks(PAGE, 'Your repository on plain git')
    .replaceAll('/srv/git/app.git', `'${git.path}'`)
    .replaceAll(/(?<=-C )app\b|(?<=' )app$/gm, clone);
  const text = await run(script, { ...server, ...ada });
  assert.match(text, /local\/acme\/app is registered\.[\s\S]*Created\.[\s\S]*local\/acme\/app main +RUNNING/);
  assert.match(text, /^State +Landed \(MERGED\), /m);
});

it('a flaky test', { timeout: PATIENCE_MS }, async (t) => {
  const script = `exec 2>&1\n${shellBlocks(PAGE, 'Flaky tests')}`.replace(/^REPORTS=.*$/m, '');
  const text = await run(script, { ...(await start(t)), REPORTS: await makeFolder() });
  assert.match(text, /1 failing test is not quarantined\.\nThe job is red\./);
  assert.match(text, /^Status +FLAKY, since .*\nWhy +Pass on retry: It failed and passed on commit 1+ in unit\.$/m);
  assert.match(text, /every failing test is quarantined\.\nThe job is green\./);
  assert.doesNotMatch(text, /warning/, 'the report is a good one');
});

it('the README is read in two minutes', () => {
  const prose = readPage('README.md').replaceAll(/^```.*?^```/gms, '');
  assert.ok(prose.split(/\s+/).length <= 600);
});

it('links between the pages lead to a file, and to a heading in it', () => {
  const pages = [
    'README.md',
    ...readdirSync(`${ROOT}docs`).flatMap((name) => (/\.md$/.test(name) ? `docs/${name}` : [])),
  ];
  for (const page of pages) {
    for (const [link, path, anchor] of readPage(page).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const file = join(dirname(page), path === '' ? basename(page) : (path as string));
      assert.ok(existsSync(ROOT + file), `${page}: ${link}`);
      const headings =
        anchor === '' ? [''] : [...readPage(file).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => slug(text));
      assert.ok(headings.includes(anchor as string), `${page}: ${link}`);
    }
  }
});

/** As GitHub makes the address of a heading. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
