import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Child } from './lib/child.ts';
import { printFigure, progress } from './lib/figure.ts';
import { call, createRepository, QUEUE, REPO, startSluice } from './lib/world.ts';

const FILES = 1_000;
const PULL_REQUESTS = 200;
/** Relative to the time of the same work in a shell. */
const TIME_GOAL = 2;
const LANDINGS = 2_000;
const BATCH = 200;
/** The memory after the last landings, relative to the memory after the first tenth. */
const MEMORY_GOAL = 1.15;

/** Landings through a queue, compared with git's own commands, and what they leave in memory. */
export async function run(): Promise<void> {
  await inFolder(measureLandings);
  await inFolder(measureMemory);
}

async function inFolder(measure: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-git-'));
  try {
    await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pull requests with a check that does nothing, from submission to landing. */
async function measureLandings(folder: string): Promise<void> {
  const source = createRepository(path.join(folder, 'source.git'), PULL_REQUESTS, FILES);
  cpSync(source, path.join(folder, 'shell.git'), { recursive: true });
  progress(`git: landing ${PULL_REQUESTS} pull requests in a shell`);
  const baseline = landInShell(folder, path.join(folder, 'shell.git'));
  progress(`git: landing ${PULL_REQUESTS} pull requests through a queue`);
  const child = await startQueue(folder, source);
  const value = await landAll(child, { first: 1, last: PULL_REQUESTS });
  await child.stop();
  printFigure({ name: `git.landing.${PULL_REQUESTS}_pull_requests`, value, unit: 's', baseline, goal: TIME_GOAL });
}

/** Whether memory stays constant with the number of landings. */
async function measureMemory(folder: string): Promise<void> {
  const child = await startQueue(folder, createRepository(path.join(folder, 'source.git'), LANDINGS));
  let [baseline, value] = [0, 0];
  for (let first = 1; first <= LANDINGS; first += BATCH) {
    await landAll(child, { first, last: first + BATCH - 1 });
    value = await child.usedBytes();
    if (first === 1) baseline = value;
    const resident = Math.round(child.memory().now / 1e6);
    progress(`git: ${first + BATCH - 1} landed, ${Math.round(value / 1e6)} MB in use, ${resident} MB resident`);
  }
  await child.stop();
  printFigure({ name: `git.memory.${LANDINGS}_landings`, value, unit: 'bytes', baseline, goal: MEMORY_GOAL });
}

async function startQueue(folder: string, git: string): Promise<Child> {
  const child = await startSluice(path.join(folder, 'data'));
  await call(child.url, '/registerRepository', { repo: REPO, git, checks: [{ name: 'test', command: 'true' }] });
  await call(child.url, '/createQueue', { ...QUEUE, concurrency: 5, batch: false });
  return child;
}

/** Seconds from the first submission to the last landing. */
async function landAll(
  { url }: Child,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<number> {
  const startedAt = performance.now();
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  await Promise.all(numbers.map((number) => call(url, '/submitPullRequest', { ...QUEUE, pr: { number } })));
  for (;;) {
    const { enqueuedPullRequests } = await call<{ enqueuedPullRequests: unknown[] }>(url, '/getQueue', QUEUE);
    if (enqueuedPullRequests.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const record = { ...QUEUE, pr: { number: last } };
  const { state } = await call<{ state: string }>(url, '/getSubmittedPullRequest', record);
  if (state !== 'MERGED') throw new Error(`pull request ${last} is ${state}`);
  return seconds;
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
    COUNT: String(PULL_REQUESTS),
    ...person,
    GIT_COMMITTER_NAME: person.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: person.GIT_AUTHOR_EMAIL,
  };
  const startedAt = performance.now();
  execFileSync('sh', [script], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - startedAt) / 1_000;
}
