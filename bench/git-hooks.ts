import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PrNumber } from '../src/engine/model/pull-request.ts';
import type { BuildRequest, Forge } from '../src/forge/forge.ts';
import { createPlainForge } from '../src/forge/plain/plain-forge.ts';
import type { Sha } from '../src/lib/sha.ts';
import { median, printFigure, progress } from './lib/figure.ts';
import { createRepository } from './lib/git-repository.ts';

const SIZE = { files: 2_000, filesPerFolder: 100, pullRequests: 60, isAdding: true };
const WARM_UP = 10;
/** Additional milliseconds per landing. */
const GOAL_MS = 75;
const HOOKS = ['pre-receive', 'update', 'post-receive'];

/** Landings in a repository with hooks that do nothing, compared with one without hooks. They take turns. */
export async function measureHooks(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-hooks-'));
  const forge = createPlainForge({ directory: path.join(folder, 'mirrors') });
  try {
    const [hooked, plain] = [path.join(folder, 'hooked.git'), path.join(folder, 'plain.git')];
    createRepository(plain, SIZE);
    cpSync(plain, hooked, { recursive: true });
    for (const name of HOOKS) writeFileSync(path.join(hooked, 'hooks', name), '#!/bin/sh\n:\n', { mode: 0o755 });
    progress(`git: ${SIZE.pullRequests} landings with hooks and without`);
    const [ours, baseline]: [number[], number[]] = [[], []];
    for (let number = 1; number <= SIZE.pullRequests; number++) {
      const times = [await land(forge, hooked, number), await land(forge, plain, number)] as const;
      if (number <= WARM_UP) continue;
      ours.push(times[0]);
      baseline.push(times[1]);
    }
    const [value, without] = [median(ours), median(baseline)];
    printFigure({ name: 'git.landing.hooks.p50', value, unit: 'ms', baseline: without });
    printFigure({ name: 'git.landing.hooks_cost.p50', value: value - without, unit: 'ms', goal: GOAL_MS });
  } finally {
    await forge.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function land(forge: Forge, git: string, number: number): Promise<number> {
  const base = rev(git, 'refs/heads/main');
  const entry = {
    prNumber: number as PrNumber,
    headSha: rev(git, `refs/pull/${number}/head`),
    title: 'x',
    author: 'Ada',
  };
  const id = path.basename(git, '.git');
  const request: BuildRequest = {
    repository: { id, host: 'local', owner: 'acme', name: id, git, checks: [], runHooks: true },
    targetBranch: 'main',
    candidateId: randomUUID(),
    base,
    parent: undefined,
    beneath: [],
    members: [entry],
    mergeMethod: 'SQUASH',
    plannedAt: 1_700_000_000_000,
  };
  const built = await forge.buildCandidate(request);
  if (built.kind !== 'built') throw new Error(`the candidate is ${built.kind}`);
  const how = { entries: [entry], composedWith: [], isCalledOff: false, landingMode: 'PUSH' } as const;
  const startedAt = performance.now();
  const { kind } = await forge.landCandidate({ ...request, ...built, ...how, expectedHead: base });
  const ms = performance.now() - startedAt;
  if (kind !== 'landed') throw new Error(`the landing is ${kind}`);
  return ms;
}

function rev(git: string, name: string): Sha {
  return execFileSync('git', ['-C', git, 'rev-parse', name]).toString().trim() as Sha;
}
