import { once } from 'node:events';
import { paint, write } from '../../../src/cli/core/terminal.ts';
import { SLUICE } from '../../../src/lib/sluice-command.ts';
import { createFakeGithub, type FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { Repository } from '../../../test/fake/github/model.ts';
import { runGit } from '../../../test/fake/hosted/git.ts';
import { formatSurprises, makeLink, type Scene, type Stage } from '../scene.ts';
import { SHOP } from '../story.ts';
import { startCi } from './ci.ts';
import { connect, HOST } from './connect.ts';
import { play } from './play.ts';

/** All of them may write; one more person may not. */
const ROLES = { radia: 'write', edsger: 'write', ken: 'write', donald: 'write', grace: 'write' } as const;

const WORKFLOW = `on:
  pull_request:
  push:
    branches: ['sluice/**']
jobs:
  unit:
    runs-on: ubuntu-latest
    steps:
      - run: node --test
`;

/** The fake GitHub of the tests, connected with the commands of docs/github.md, with its own people and CI. */
export const githubStage: Stage = {
  prepare: async () =>
    write(paint('bold', 'A merge queue on GitHub: four pull requests, and what people read on them.')),
  play: async (scene) => {
    const github = await createFakeGithub();
    try {
      write(`A GitHub that is made for tests runs at ${github.url}, with the repository acme/shop.\n`);
      return await show(github, scene);
    } finally {
      await github.close();
    }
  },
};

async function show(github: FakeGithub, scene: Scene): Promise<readonly string[]> {
  const { server, folder, signal } = scene;
  const repository = await makeRepository(github);
  await connect({ github, repository, server, dataFolder: folder.data, signal });
  const ci = startCi(github, repository, folder.path);
  try {
    const surprises = await play(github, repository, signal);
    await describeEnd(repository, surprises);
    if (scene.isKept) await keep(github, scene);
    return surprises;
  } finally {
    await ci.stop();
  }
}

/** With the rules of docs/github.md: reviews and checks. The gate is closed once there is an App that may pass it. */
async function makeRepository(github: FakeGithub): Promise<Repository> {
  const files = { ...SHOP, '.github/workflows/ci.yml': WORKFLOW };
  const repository = await github.createRepository('acme/shop', { files, roles: ROLES });
  github.addRuleset(repository, {
    name: 'The demands',
    rules: [
      { type: 'pull_request', approvals: 1 },
      { type: 'required_status_checks', checks: [{ context: 'unit', appId: github.ci.id }], isStrict: false },
    ],
  });
  return repository;
}

async function describeEnd({ gitDir }: Repository, surprises: readonly string[]): Promise<void> {
  const { stdout } = await runGit(gitDir, ['log', '--first-parent', '--format=  %h %s', 'main']);
  write(`\n${paint('bold', 'main of acme/shop, the newest first:')}\n${stdout.toString()}`);
  write(
    surprises.length > 0
      ? formatSurprises(surprises)
      : `Three landed, each as it was tested. #4 was green alone, and would have broken main together with #3. Sluice removed
it, and the comment on the pull request says why.`,
  );
}

/** Runs until the user stops it. */
async function keep(github: FakeGithub, scene: Scene): Promise<void> {
  const { server, folder, signal } = scene;
  const token = github.createToken('radia');
  write(`
Look at it: ${await makeLink(scene)}

Everything goes on until Ctrl-C. In another terminal, in this folder:

    export SLUICE_URL=${server.url} SLUICE_DATA=${folder.data}
    ${SLUICE} queue show ${HOST}/acme/shop main
    ${SLUICE} forge check
    git clone ${github.url.replace('://', `://radia:${token}@`)}/acme/shop.git

Mend #4 in the clone (taxFor is called salesTax now), push its branch donald/7, and comment as Radia, who may write:

    curl -s ${github.url}/repos/acme/shop/issues/4/comments -H 'authorization: Bearer ${token}' -d '{"body":"/sluice merge"}'
    curl -s ${github.url}/repos/acme/shop/issues/4/comments -H 'authorization: Bearer ${token}'
`);
  if (!signal.aborted) await once(signal, 'abort');
}
