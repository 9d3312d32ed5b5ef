// The commands in the README work as shown.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { isGone, makeFolder, until } from './harness.ts';
import { openProcess } from './test-queue.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 300_000;

/** The shell blocks of one section, in order. */
function shellBlocks(section: string): string[] {
  const readme = readFileSync(`${ROOT}/README.md`, 'utf8');
  const text = readme.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] as string);
}

async function run(script: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { SLUICE_URL: _url, SLUICE_DATA: _data, NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, env })).stdout;
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

const [DEMO, OWN_PULL_REQUEST] = shellBlocks('First use') as [string, string];
const OWN_REPOSITORY = shellBlocks('Your repository on plain git').join('');

it('the first use in the README, command by command', { timeout: PATIENCE_MS }, async () => {
  const demo = await makeFolder();
  try {
    const script = `${DEMO}${OWN_PULL_REQUEST}`.replace(/^DEMO=.*$/m, '');
    const text = await run(script, { DEMO: demo });
    assert.match(text, /^\w+ Count the items of a cart \(#5\)$/m, 'the history');
    assert.match(text, /^#7 Give tourists their tax back +by Donald$/m, 'why #7 left');
    // If it has landed before the watch starts, there is nothing to watch.
    assert.match(text, /^#11 Thank the customer +by Ada\nState +Landed \(MERGED\), /m, 'where it stands');
    assert.match(text, /^Landed +[0-9a-f]{40}$/m);
  } finally {
    await untilStopped(demo);
  }
});

it('a repository of your own, as the README has it', { timeout: PATIENCE_MS }, async (t) => {
  const { server } = await openProcess(t);
  const git = await createPlainWorld();
  t.after(() => git.close());
  const files = { 'package.json': '{ "scripts": { "test": "true" } }\n' };
  await git.commit('main', { files, message: 'Begin' });
  const clone = join(await makeFolder(), 'app');
  const ada = { GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada', EMAIL: 'ada@acme.test' };
  const script = OWN_REPOSITORY.replaceAll('/srv/git/app.git', `'${git.path}'`).replaceAll(
    /(?<=-C )app\b|(?<=' )app$/gm,
    clone,
  );
  const text = await run(script, { SLUICE_URL: server.url, SLUICE_DATA: server.dataFolder, ...ada });
  assert.match(text, /local\/acme\/app is registered\.[\s\S]*Created\.[\s\S]*local\/acme\/app main +RUNNING/);
  assert.match(text, /^State +Landed \(MERGED\), /m);
});

it('a flaky test, as the README has it', { timeout: PATIENCE_MS }, async (t) => {
  const { server } = await openProcess(t);
  const script = `exec 2>&1\n${shellBlocks('Flaky tests').join('')}`.replace(/^REPORTS=.*$/m, '');
  const text = await run(script, {
    SLUICE_URL: server.url,
    SLUICE_DATA: server.dataFolder,
    REPORTS: await makeFolder(),
  });
  assert.match(text, /1 failing test is not quarantined\.\nThe job is red\./);
  assert.match(text, /^Status +FLAKY, since .*\nWhy +Pass on retry: It failed and passed on commit 1+ in unit\.$/m);
  assert.match(text, /every failing test is quarantined\.\nThe job is green\./);
  assert.doesNotMatch(text, /warning/, 'the report is a good one');
});
