// The commands in the README and in docs/getting-started.md work as shown.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { endWithProcess } from '../helpers/children.ts';
import { listPages, ROOT, readPage, shellBlocks } from '../helpers/doc-pages.ts';
import { SLUICE_SOURCE } from '../helpers/sluice-command.ts';
import { isGone, makeFolder, until } from './harness.ts';

const PAGE = 'docs/getting-started.md';
const PATIENCE_MS = 300_000;
const BETWEEN = '-- the next part --';
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

it('getting-started.md works from the first command to the last, in one shell', { timeout: PATIENCE_MS }, async (t) => {
  const [demo, server, git] = await Promise.all([makeFolder(), start(t), createPlainWorld()]);
  t.after(() => git.close());
  await git.commit('main', { files: { 'package.json': '{ "scripts": { "test": "true" } }\n' }, message: 'Begin' });
  const clone = join(await makeFolder(), 'app');
  const shown = ['First use', 'Your repository on plain git', 'Flaky tests'].map((heading) =>
    shellBlocks(PAGE, heading),
  );
  const script = shown
    .join(`echo '${BETWEEN}'\n`)
    .replace('npx sluice', 'command npx sluice')
    .replace(/^DEMO=.*$/m, `DEMO=${demo}`)
    // The demo has a server of its own. The reader goes on in the folder of another one.
    .replace(
      /^unset (?=SLUICE_URL SLUICE_DATA$)/m,
      `SLUICE_URL=${server.SLUICE_URL} SLUICE_DATA=${server.SLUICE_DATA}\nexport `,
    )
    .replaceAll('/srv/git/app.git', `'${git.path}'`)
    .replaceAll(/(?<=-C )app\b|(?<=' )app$/gm, clone);
  assert.ok(script.includes(`\n${DEMO_COMMAND} -- --keep`), 'the demo of the README, kept');
  try {
    const ada = { GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada', EMAIL: 'ada@acme.test' };
    const text = await run(`exec 2>&1\n${script}`, ada);
    const [first = '', plain = '', flaky = ''] = text.split(BETWEEN);
    assert.match(first, /^\w+ Count the items of a cart \(#5\)$/m, 'the history');
    assert.match(first, /^#7 Give tourists their tax back +by Donald$/m, 'why #7 left');
    // If it has landed before the watch starts, there is nothing to watch.
    assert.match(first, /^#11 Thank the customer +by Ada\nState +Landed \(MERGED\), /m, 'where it stands');
    assert.match(plain, /Created\.[\s\S]*local\/acme\/app main +RUNNING[\s\S]*^State +Landed \(MERGED\), /m);
    assert.match(flaky, /1 failing test is not quarantined\.\nThe job is red\./);
    assert.match(
      flaky,
      /^Status +FLAKY, since .*\nWhy +Pass on retry: It failed and passed on commit [0-9a-f]{12} in unit\.$/m,
    );
    assert.match(flaky, /every failing test is quarantined\.\nThe job is green\./);
    assert.doesNotMatch(flaky, /warning/, 'the report is a good one');
  } finally {
    await untilStopped(demo);
  }
});

it('the README is read in two minutes', () => {
  const prose = readPage('README.md').replaceAll(/^```.*?^```/gms, '');
  assert.ok(prose.split(/\s+/).length <= 600);
});

it('links between the pages lead to a file, and to a heading in it', () => {
  for (const page of listPages()) {
    for (const [link, path, anchor] of readPage(page).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const file = join(dirname(page), path === '' ? basename(page) : (path as string));
      assert.ok(existsSync(ROOT + file), `${page}: ${link}`);
      const headings =
        anchor === ''
          ? ['']
          : [...readPage(file).matchAll(/^#+ (.*)$|<a id="(\w[\w-]*)">/gm)].map(
              ([, text, id]) => id ?? slug(text as string),
            );
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
