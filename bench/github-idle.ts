import { setTimeout as sleep } from 'node:timers/promises';
import { printFigure, progress } from './lib/figure.ts';
import { countCalls, createGithubBench, type GithubBench, sumOf, until } from './lib/github-world.ts';

const PULL_REQUESTS = 100;
const MINUTES = 3;
const GOAL = 2;
/** Between two polls, which happen once a minute. */
const QUIET_MS = 20_000;
const DEADLINE_MS = 5 * 60_000;

/** The cost of an idle queue, empty or with entries that are not ready. */
export async function measureIdle(): Promise<void> {
  progress(`github: ${MINUTES} minutes of idle queues with ${PULL_REQUESTS} open pull requests`);
  const [open, waiting] = await Promise.all([idle(false), idle(true)]);
  printFigure({ name: 'github.idle.open', unit: 'calls/minute', value: open, goal: GOAL });
  printFigure({ name: 'github.idle.not-ready', unit: 'calls/minute', value: waiting, goal: GOAL });
}

async function idle(areSubmitted: boolean): Promise<number> {
  const world = await createGithubBench();
  // They lack a review.
  world.github.protect(world.repository, 'main', {
    checks: [],
    reviews: { count: 1, dismissesStale: false, needsCodeOwners: false },
  });
  for (let count = 0; count < PULL_REQUESTS; count += 1) {
    const pr = await world.open();
    if (areSubmitted) await world.api('submitPullRequest', { pr: { number: pr.number } });
  }
  const openedAt = Date.now();
  await until('all is said', DEADLINE_MS, () =>
    isSaid(world, { openedAt, toBeTold: areSubmitted ? PULL_REQUESTS : 0 }),
  );
  const since = Date.now();
  await sleep(MINUTES * 60_000);
  const counts = countCalls(world, since);
  progress(`github: ${areSubmitted ? 'not ready' : 'open'}: ${JSON.stringify([...counts])}`);
  await world.stop();
  return sumOf(counts) / MINUTES;
}

/** The last poll came after all were open and every page was written, and its effects are done. */
function isSaid(
  { github, repository }: GithubBench,
  { openedAt, toBeTold }: { readonly openedAt: number; readonly toBeTold: number },
): boolean {
  const told = [...repository.pulls.values()].filter((pr) => github.listComments(pr).length > 0).length;
  const last = github.world.requests.findLast(({ area }) => area !== 'git');
  if (told < toBeTold || last?.query !== 'PollRepository' || last.at < openedAt) return false;
  return Date.now() - last.at > QUIET_MS;
}
