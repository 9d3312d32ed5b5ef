// Failures of the GitHub demo.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it, type TestContext } from 'node:test';
import { until } from '../../examples/demo/commands.ts';
import { startCi } from '../../examples/demo/github/ci.ts';
import { connect } from '../../examples/demo/github/connect.ts';
import { createFakeGithub } from '../fake/github/fake-github.ts';

async function aPlace(context: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-demo-'));
  const github = await createFakeGithub();
  context.after(async () => {
    await github.close();
    await rm(folder, { recursive: true, force: true });
  });
  const repository = await github.createRepository('acme/shop', {
    files: { 'a.test.js': '' },
    roles: { ann: 'write' },
  });
  return { folder, github, repository };
}

it('a setup that fails half way leaves no command behind', async (context) => {
  const { folder, github, repository } = await aPlace(context);
  github.world.manifests.set = () => {
    throw new Error('nobody presses the button');
  };
  const server = {
    url: 'http://127.0.0.1:1',
    tokenFile: '',
    hasEndedNow: async () => false,
    stop: async () => undefined,
    leaveRunning: async () => undefined,
  };
  const { signal } = new AbortController();
  await assert.rejects(connect({ github, repository, server, dataFolder: folder, signal }), /presses the button/);
  await until(signal, () => !process.getActiveResourcesInfo().includes('ProcessWrap') || undefined);
});

it('CI that cannot look at one commit looks at the next', async (context) => {
  const { folder, github, repository } = await aPlace(context);
  const first = await github.openPullRequest(repository, { author: 'ann', branch: 'a', title: 'a', files: { a: '1' } });
  const second = await github.openPullRequest(repository, {
    author: 'ann',
    branch: 'b',
    title: 'b',
    files: { b: '1' },
  });
  const told: string[] = [];
  const report = github.reportCheck.bind(github);
  github.reportCheck = (of, draft) => {
    if (draft.sha === first.headSha) throw new Error('no');
    told.push(`${draft.sha} ${draft.conclusion ?? ''}`);
    return report(of, draft);
  };
  // A file in the place of the folder makes the checkout fail.
  await writeFile(path.join(folder, 'ci'), '');
  const ci = startCi(github, repository, folder);
  try {
    const { signal } = new AbortController();
    await until(signal, () => told.includes(`${second.headSha} failure`) || undefined);
  } finally {
    await ci.stop();
  }
});
