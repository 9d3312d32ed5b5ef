import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Child, startChild } from './lib/child.ts';
import { printFigure, progress } from './lib/figure.ts';
import { createRepository } from './lib/git-repository.ts';

const TOKEN = 'bench-bench-bench-bench';
const REF = { repo: { host: 'local', owner: 'acme', name: 'app' }, targetBranch: 'main' };
const SIZE = { files: 1_000, filesPerFolder: 100, pullRequests: 200, isAdding: true };
/** Relative to the time of the same work in a shell. */
const TIME_GOAL = 2;
const LANDINGS = 2_000;
const BATCH = 200;
/** The memory after the last landings, relative to the memory after the first tenth. */
const MEMORY_GOAL = 1.15;

/** Pull requests with a check that does nothing, from submission to landing. */
export async function measureLandings(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-landing-'));
  try {
    const source = path.join(folder, 'source.git');
    createRepository(source, SIZE);
    cpSync(source, path.join(folder, 'shell.git'), { recursive: true });
    progress(`git: landing ${SIZE.pullRequests} pull requests in a shell`);
    const baseline = landInShell(folder, path.join(folder, 'shell.git'));
    progress(`git: landing ${SIZE.pullRequests} pull requests through a queue`);
    const value = await withServer(folder, source, (child) => landAll(child, 1, SIZE.pullRequests));
    printFigure({
      name: `git.landing.${SIZE.pullRequests}_pull_requests`,
      value,
      unit: 's',
      baseline,
      goal: TIME_GOAL,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether memory stays constant with the number of landings. */
export async function measureMemory(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-memory-'));
  try {
    const source = path.join(folder, 'source.git');
    createRepository(source, { ...SIZE, files: 20, pullRequests: LANDINGS });
    await withServer(folder, source, async (child) => {
      let [baseline, value] = [0, 0];
      for (let first = 1; first <= LANDINGS; first += BATCH) {
        await landAll(child, first, first + BATCH - 1);
        value = await child.usedBytes();
        if (first === 1) baseline = value;
        const resident = Math.round(child.memory().now / 1e6);
        progress(`git: ${first + BATCH - 1} landed, ${Math.round(value / 1e6)} MB in use, ${resident} MB resident`);
      }
      printFigure({ name: `git.memory.${LANDINGS}_landings`, value, unit: 'bytes', baseline, goal: MEMORY_GOAL });
      return 0;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withServer(folder: string, git: string, measure: (child: Child) => Promise<number>): Promise<number> {
  const environment = {
    SLUICE_PORT: '0',
    SLUICE_DATA: path.join(folder, 'data'),
    SLUICE_ADMIN_TOKEN: TOKEN,
    SLUICE_LOG_LEVEL: 'error',
  };
  const child = await startChild(new URL('./lib/sluice-child.ts', import.meta.url), { environment });
  try {
    await call(child, 'registerRepository', { repo: REF.repo, git, checks: [{ name: 'test', command: 'true' }] });
    await call(child, 'createQueue', { ...REF, concurrency: 5, batch: false });
    return await measure(child);
  } finally {
    await child.stop();
  }
}

/** Seconds from the first submission to the last landing. */
async function landAll(child: Child, first: number, last: number): Promise<number> {
  const startedAt = performance.now();
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  await Promise.all(numbers.map((number) => call(child, 'submitPullRequest', { ...REF, pr: { number } })));
  for (;;) {
    const { enqueuedPullRequests } = await call<{ enqueuedPullRequests: unknown[] }>(child, 'getQueue', REF);
    if (enqueuedPullRequests.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const record = await call<{ state: string }>(child, 'getSubmittedPullRequest', { ...REF, pr: { number: last } });
  if (record.state !== 'MERGED') throw new Error(`pull request ${last} is ${record.state}`);
  return seconds;
}

async function call<T>(child: Child, operation: string, body: unknown): Promise<T> {
  const response = await fetch(`${child.url}/v1/${operation}`, {
    method: 'POST',
    headers: { 'x-api-token': TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** The same merges, work trees, checks and ref updates, one after the other. */
const LOOP = `
set -e
for n in $(seq 1 "$COUNT"); do
  base=$(git rev-parse refs/heads/main)
  tree=$(git merge-tree --write-tree "$base" "refs/pull/$n/head")
  commit=$(git commit-tree "$tree" -p "$base" -m "Change $n (#$n)")
  git update-ref "refs/sluice/candidates/$n" "$commit"
  git update-ref "refs/heads/sluice/pr-$n" "$commit"
  git worktree add --quiet --detach "$WORK/$n" "$commit"
  (cd "$WORK/$n" && sh -c true)
  git worktree remove --force "$WORK/$n"
  git update-ref refs/heads/main "$commit" "$base"
  git update-ref -d "refs/sluice/candidates/$n"
  git update-ref -d "refs/heads/sluice/pr-$n"
done`;

function landInShell(folder: string, git: string): number {
  const script = path.join(folder, 'loop.sh');
  writeFileSync(script, LOOP);
  const person = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' };
  const environment = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_DIR: git,
    WORK: path.join(folder, 'work'),
    COUNT: String(SIZE.pullRequests),
    ...person,
    GIT_COMMITTER_NAME: person.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: person.GIT_AUTHOR_EMAIL,
  };
  const startedAt = performance.now();
  execFileSync('sh', [script], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - startedAt) / 1_000;
}
