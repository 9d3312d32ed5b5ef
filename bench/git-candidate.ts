import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PrNumber } from '../src/engine/model/pull-request.ts';
import type { BuildRequest, Forge } from '../src/forge/forge.ts';
import { createPlainForge } from '../src/forge/plain/plain-forge.ts';
import { findUnbufferedWrapper, getGitVersion } from '../src/git/create-git.ts';
import type { Sha } from '../src/lib/sha.ts';
import { median, printFigure, progress } from './lib/figure.ts';
import { createRepository } from './lib/git-repository.ts';

const SIZE = { files: 20_000, filesPerFolder: 100, pullRequests: 140 };
const WARM_UP = 20;
/** Relative to the time of two processes. If no process can be kept, the merge needs one of them anyway. */
const GOALS = { kept: 0.5, each: 0.7 };

/**
 * Builds a candidate of one entry, compared with starting `git merge-tree` and `git commit-tree`. Each has its own
 * repository, so that it does not find objects of the other. They take turns.
 */
export async function measureCandidates(): Promise<void> {
  progress(`git: making a repository of ${SIZE.files} files and ${SIZE.pullRequests} pull requests`);
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-git-'));
  const forge = createPlainForge({ directory: path.join(folder, 'mirrors') });
  try {
    createRepository(path.join(folder, 'source.git'), SIZE);
    for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
      await compare(forge, { folder, mergeMethod });
    }
  } finally {
    await forge.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Case {
  readonly folder: string;
  readonly mergeMethod: BuildRequest['mergeMethod'];
}

async function compare(forge: Forge, { folder, mergeMethod }: Case): Promise<void> {
  const way = (await findUnbufferedWrapper(await getGitVersion())) === undefined ? 'each' : 'kept';
  const name = mergeMethod.toLowerCase();
  progress(`git: ${name}, a merge by ${way === 'kept' ? 'a kept process' : 'a process of its own'}`);
  const [mine, theirs] = [path.join(folder, `${name}.git`), path.join(folder, `${name}-baseline.git`)];
  for (const copy of [mine, theirs]) cpSync(path.join(folder, 'source.git'), copy, { recursive: true });
  const base = git(theirs, ['rev-parse', 'refs/heads/main']);
  const [ours, baseline]: [number[], number[]] = [[], []];
  for (let number = 1; number <= SIZE.pullRequests; number++) {
    const head = git(theirs, ['rev-parse', `refs/pull/${number}/head`]);
    const request = requestOf({ git: mine, base, head, number, mergeMethod });
    const ourMs = await timeOf(async () => {
      const { kind } = await forge.buildCandidate(request);
      if (kind !== 'built') throw new Error(`the candidate is ${kind}`);
    });
    const theirMs = await timeOf(async () => buildByCommands(theirs, { base, head, mergeMethod }));
    if (number <= WARM_UP) continue;
    ours.push(ourMs);
    baseline.push(theirMs);
  }
  const figure = { value: median(ours), unit: 'ms', baseline: median(baseline), goal: GOALS[way] };
  printFigure({ name: `git.candidate.${name}.p50_${way}`, ...figure });
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function requestOf(of: {
  readonly git: string;
  readonly base: string;
  readonly head: string;
  readonly number: number;
  readonly mergeMethod: BuildRequest['mergeMethod'];
}): BuildRequest {
  const id = path.basename(of.git, '.git');
  const entry = {
    prNumber: of.number as PrNumber,
    headSha: of.head as Sha,
    title: `Change ${of.number}`,
    author: 'Ada',
  };
  return {
    repository: { id, host: 'local', owner: 'acme', name: id, git: of.git, checks: [] },
    targetBranch: 'main',
    candidateId: randomUUID(),
    base: of.base as Sha,
    parent: undefined,
    beneath: [],
    members: [entry],
    mergeMethod: of.mergeMethod,
    plannedAt: Date.UTC(2026, 0, 2),
  };
}

/** A pull request of one commit: merging it gives the tree that replaying it would. */
function buildByCommands(
  folder: string,
  of: Pick<Case, 'mergeMethod'> & { readonly base: string; readonly head: string },
) {
  const tree = git(folder, ['merge-tree', '--write-tree', of.base, of.head]);
  const parents = of.mergeMethod === 'MERGE_COMMIT' ? [of.base, of.head] : [of.base];
  git(folder, ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'Change something']);
}

const PERSON = { NAME: 'Sluice', EMAIL: 'sluice@localhost' };
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: PERSON.NAME,
  GIT_AUTHOR_EMAIL: PERSON.EMAIL,
  GIT_COMMITTER_NAME: PERSON.NAME,
  GIT_COMMITTER_EMAIL: PERSON.EMAIL,
};

function git(folder: string, args: readonly string[]): string {
  return execFileSync('git', args, { cwd: folder, env: ENVIRONMENT, encoding: 'utf8' }).trim();
}
