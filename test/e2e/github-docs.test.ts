// The commands on the GitHub pages work as shown: with a personal access token, and without webhooks.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createFakeGithub, type FakeGithub } from '../fake/github/fake-github.ts';
import type { Repository } from '../fake/github/model.ts';
import { ROOT, readPage, shellBlocks } from '../helpers/doc-pages.ts';
import { startHere, type TestServer, until } from './harness.ts';

const WORKFLOW = readPage('docs/workflows/test-branches.yml');
const PATIENCE_MS = 120_000;

/** Another test runs the setup, which needs a browser. */
function withoutSetup(script: string): string {
  return script.replace(/^.*sluice forge setup github .*$/gm, '');
}

let github: FakeGithub;
let repository: Repository;
let server: TestServer;

async function run(script: string): Promise<string> {
  const sluice = `sluice() { '${process.execPath}' bin/sluice.mjs "$@"; }\n`;
  const env = { PATH: process.env['PATH'], SLUICE_URL: server.url, SLUICE_DATA: server.dataFolder };
  const given = `exec 2>&1\n${sluice}${script.replaceAll('npx sluice', 'sluice')}`;
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', given], { cwd: ROOT, env });
  return stdout;
}

before(async () => {
  github = await createFakeGithub();
  const files = { 'README.md': 'hello\n', '.github/workflows/ci.yml': WORKFLOW };
  repository = await github.createRepository('acme/app', { files, roles: { ada: 'admin' } });
  server = await startHere({
    SLUICE_GITHUB_TOKEN: github.createToken('ada'),
    SLUICE_GITHUB_API_URL: github.url,
    SLUICE_GITHUB_WEB_URL: github.url,
  });
});

after(async () => {
  await server?.stop();
  await github?.close();
});

describe('the pages for GitHub', () => {
  it('show how a queue is made: docs/getting-started.md [G68] [G97]', { timeout: PATIENCE_MS }, async () => {
    const text = await run(withoutSetup(shellBlocks('docs/getting-started.md', 'Your repository on GitHub')));
    assert.match(text, /github\.com\/acme\/app is registered\./);
    assert.match(text, /Created\.[\s\S]*requiredStatuses +unit\n/);
    assert.match(text, /The check "unit" runs on test branches[\s\S]*Nothing keeps a queue from working\./);
    await run('sluice queue delete github.com/acme/app main');
  });

  it('show how a queue is made, and kept: docs/github.md [G65] [G97]', { timeout: PATIENCE_MS }, async () => {
    const page = 'docs/github.md';
    const text = await run(withoutSetup(shellBlocks(page, 'Set up')));
    assert.match(text, /Sluice acts as ada, by a personal access token[\s\S]*Nothing keeps a queue from working\./);
    const checks = shellBlocks(page, 'Which checks must pass');
    assert.match(await run(checks), /unit@github-actions, lint@github-actions/);
    await run('sluice queue update github.com/acme/app main --required-statuses unit');
    assert.match(await run(shellBlocks(page, 'Workflows to copy')), /slc_[\w-]+\n[\s\S]*slc_[\w-]+/);
  });

  it('lead to a pull request that lands, by a person and by looking [G67]', { timeout: PATIENCE_MS }, async () => {
    const pr = await github.openPullRequest(repository, { author: 'ada', title: 'Add a feature' });
    await run(`sluice pr submit github.com/acme/app main ${pr.number}`);
    const prefix = `refs/heads/sluice/pr-${pr.number}/`;
    const sha = await until('it is tested', 60_000, async () =>
      [...github.refs(repository)].find(([name]) => name.startsWith(prefix))?.at(1),
    );
    github.reportCheck(repository, { sha: sha ?? '', name: 'unit', status: 'completed', conclusion: 'success' });
    await until('it has landed', 90_000, async () => pr.merged);
    const status = await run(`sluice pr status github.com/acme/app main ${pr.number}`);
    assert.match(status, /State +.*\((?:MERGED|TESTS_PASSED)\), /);
  });
});
