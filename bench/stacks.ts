import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrNumber } from '../src/engine/model/pull-request.ts';
import { createPlainForge } from '../src/forge/plain/plain-forge.ts';
import type { Sha } from '../src/lib/sha.ts';
import { cpuSecondsOf } from './lib/child.ts';
import { median, printFigure, progress } from './lib/figure.ts';

const REFS = 20_000;
const DEPTH = 50;
const ROUNDS = 7;

/** The commits below a pull request at the top of a stack, in a repository with many pull requests. */
export async function run(): Promise<void> {
  progress(`stacks: ${DEPTH} above each other among ${REFS} pull requests`);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-stacks-'));
  const path = join(folder, 'app.git');
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args], { encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path]);
  const commit = (parent: string, text: string) => {
    const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@x', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@x' };
    const args = ['-C', path, 'commit-tree', '-m', text, ...(parent && ['-p', parent]), tree];
    return execFileSync('git', args, { encoding: 'utf8', env: { ...process.env, ...who } }).trim();
  };
  const tree = execFileSync('git', ['-C', path, 'mktree'], { input: '', encoding: 'utf8' }).trim();
  const base = commit('', 'Begin');
  const stack: string[] = [];
  for (let index = 0; index < DEPTH; index += 1) stack.push(commit(stack.at(-1) ?? base, `Step ${index}`));
  const heads = Array.from({ length: REFS }, (_, index) => stack[index] ?? base);
  const refs = heads
    .map((sha, index) => `${sha} refs/pull/${index + 1}/head`)
    .sort((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1));
  writeFileSync(
    join(path, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${base} refs/heads/main\n${refs.join('\n')}\n`,
  );
  const head = stack.at(-1) as Sha;
  const found: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each time as after a start: nothing is known.
    const forge = createPlainForge({ directory: join(folder, `mirrors-${round}`) });
    const repository = { id: 'app', host: 'local', owner: 'acme', name: 'app', git: path, checks: [] };
    found.push(
      await timed(async () => {
        await forge.findPullRequest({ repository, number: DEPTH as PrNumber, targetBranch: 'main' });
        const own = await forge.listOwnCommits({ repository, head, without: base as Sha });
        if (own.length !== DEPTH) throw new Error(`found ${own.length} commits`);
      }),
    );
    await forge.close();
    plain.push(
      await timed(async () => void [git('rev-parse', `refs/pull/${DEPTH}/head`), git('rev-list', head, '--not', base)]),
    );
  }
  rmSync(folder, { recursive: true, force: true });
  const name = `stacks.found.${DEPTH}_of_${REFS}_refs`;
  printFigure({ name, value: median(found), unit: 'ms', baseline: median(plain), limit: 300 });
}

/** The CPU time of this process and of git, whatever else the machine does. */
async function timed(act: () => Promise<void>): Promise<number> {
  const before = cpuSecondsOf(process.pid);
  await act();
  return (cpuSecondsOf(process.pid) - before) * 1_000;
}
