import { once } from 'node:events';
import { CliError, EXIT } from '../../src/cli/core/exit.ts';
import { paint, write } from '../../src/cli/core/terminal.ts';
import type { DemoFolder } from '../../src/cli/demo/demo-folder.ts';
import { type DemoServer, startDemoServer } from '../../src/cli/demo/demo-server.ts';
import { SHOP } from '../../src/cli/demo/shop.ts';
import { createFakeGithub, type FakeGithub } from '../fake/github/fake-github.ts';
import { runGit } from '../fake/github/git.ts';
import type { Repository } from '../fake/github/model.ts';
import { startCi } from './ci.ts';
import { connect, HOST } from './connect.ts';
import { describeSurprises, play } from './play.ts';

/** Everybody on it may write, but for one. */
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

export interface DemoRun {
  readonly isKept: boolean;
  readonly signal: AbortSignal;
}

/** Answers the exit code. */
export async function runGithubDemo(folder: DemoFolder, { isKept, signal }: DemoRun): Promise<number> {
  const github = await createFakeGithub();
  try {
    const repository = await makeRepository(github);
    write(paint('bold', 'A merge queue on GitHub: four pull requests, and what people read on them.'));
    write(`A GitHub that is made for tests runs at ${github.url}, with the repository acme/shop.\n`);
    const server = await startDemoServer(folder, signal);
    try {
      return await show({ github, repository, server, folder, isKept, signal });
    } finally {
      await server.stop();
    }
  } finally {
    await github.close();
  }
}

interface Scene extends DemoRun {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly server: DemoServer;
  readonly folder: DemoFolder;
}

async function show(scene: Scene): Promise<number> {
  const { github, repository, server, folder, signal } = scene;
  await connect({ github, repository, server, dataFolder: folder.data, signal });
  const ci = startCi(github, repository, folder.path);
  try {
    const surprises = await play(github, repository, signal);
    await describeEnd(repository, surprises);
    if (scene.isKept) await keep(scene);
    return surprises.length === 0 ? EXIT.ok : EXIT.refused;
  } catch (error) {
    if (signal.aborted || !(await server.hasEndedNow())) throw error;
    throw new CliError(EXIT.unavailable, 'The server of the demo ended before the demo did.');
  } finally {
    await ci.stop();
  }
}

/** With the rules that docs/github.md asks for: reviews and checks; the gate is closed once there is an App to pass it. */
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
      ? describeSurprises(surprises)
      : `Three landed, each as it was tested. #4 was green by itself, and would have broken main together with #3: it left, and
its author reads why where authors look first.`,
  );
}

/** Until somebody has seen enough. */
async function keep({ github, server, folder, signal }: Scene): Promise<void> {
  const token = github.createToken('radia');
  write(`
Everything goes on until Ctrl-C. In another terminal, in this folder:

    export SLUICE_URL=${server.url} SLUICE_DATA=${folder.data}
    npx sluice queue show ${HOST}/acme/shop main
    npx sluice github check
    git clone ${github.url.replace('://', `://radia:${token}@`)}/acme/shop.git

Mend #4 in the clone (taxFor is called salesTax now), push its branch donald/7, and comment as Radia, who may write:

    curl -s ${github.url}/repos/acme/shop/issues/4/comments -H 'authorization: Bearer ${token}' -d '{"body":"/sluice merge"}'
    curl -s ${github.url}/repos/acme/shop/issues/4/comments -H 'authorization: Bearer ${token}'
`);
  if (!signal.aborted) await once(signal, 'abort');
}
