import { setTimeout as sleep } from 'node:timers/promises';
import type { PullRequest } from '../test/fake/github/model.ts';
import { printFigure, progress } from './lib/figure.ts';
import { countCalls, createGithubBench, type GithubBench, sumOf, until, WRITER } from './lib/github-world.ts';

interface Case {
  readonly name: string;
  readonly pullRequests: number;
  readonly settings: object;
  readonly goal: number;
}

const CASES: readonly Case[] = [
  { name: 'single', pullRequests: 20, settings: { concurrency: 10 }, goal: 12 },
  {
    name: 'batches-of-4',
    pullRequests: 40,
    settings: { concurrency: 10, batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
    goal: 8,
  },
];

/** Far enough apart that page updates and polls are not merged only because this CI is fast. */
const CHECKS_MS = [4_000, 8_000, 12_000];
const SUBMIT_EVERY_MS = 1_000;
const DEADLINE_MS = 10 * 60_000;
/** After this long without a request, nothing more follows. */
const SILENT_MS = 6_000;

/** The requests to GitHub per landing, with webhooks and with polling alone. */
export async function measureCalls(): Promise<void> {
  progress('github: pull requests land, one by one and in batches, with and without webhooks');
  // Calls are counted and not timed, so all cases run at once.
  await Promise.all(CASES.map(compare));
}

async function compare(each: Case): Promise<void> {
  const [value, baseline] = await Promise.all([land(each, true), land(each, false)]);
  const figure = {
    name: `github.${each.name}.calls`,
    unit: 'calls/landed pull request',
    value: value / each.pullRequests,
  };
  printFigure({ ...figure, goal: each.goal });
  printFigure({ ...figure, name: `${figure.name}.to-looking`, baseline: baseline / each.pullRequests });
}

async function land({ name, pullRequests, settings }: Case, hasWebhooks: boolean): Promise<number> {
  const world = await createGithubBench({ hasWebhooks, settings, checksMs: CHECKS_MS });
  const prs: PullRequest[] = [];
  for (let count = 0; count < pullRequests; count += 1) prs.push(await world.open());
  await sleep(1_000);
  const since = Date.now();
  for (const pr of prs) {
    world.github.comment(pr, WRITER, '/sluice merge');
    await sleep(SUBMIT_EVERY_MS);
  }
  await until('all have landed and it is told', DEADLINE_MS, () => prs.every((pr) => isToldToHaveLanded(world, pr)));
  await until('all is said', DEADLINE_MS, () => isSilent(world));
  const counts = countCalls(world, since);
  const seconds = Math.round((Date.now() - since) / 1_000);
  progress(`github: ${name}, webhooks ${hasWebhooks ? 'on' : 'off'}: ${sumOf(counts)} calls in ${seconds} s`);
  for (const [route, count] of [...counts].toSorted((a, b) => b[1] - a[1])) progress(`  ${count} ${route}`);
  await world.stop();
  return sumOf(counts);
}

function isToldToHaveLanded({ github, repository }: GithubBench, pr: PullRequest): boolean {
  const own = github.listChecks(repository, pr.headSha).find(({ suite }) => suite.app === github.app);
  return (
    pr.merged !== undefined &&
    own?.status === 'completed' &&
    github.listComments(pr).some(({ body }) => body.includes('<!-- sluice:queue') && body.includes('Landed'))
  );
}

function isSilent({ github }: GithubBench): boolean {
  const last = github.world.requests.findLast(({ area, query }) => area !== 'git' && query !== 'PollRepository');
  return last === undefined || Date.now() - last.at > SILENT_MS;
}
