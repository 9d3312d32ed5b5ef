import type { PullRequest } from '../test/fake/github/model.ts';
import { median, printFigure, progress } from './lib/figure.ts';
import { createGithubBench, type GithubBench, until, WRITER } from './lib/github-world.ts';

const TOGETHER = 40;
const ALONE = 5;
const DEADLINE_MS = 10 * 60_000;
const SILENT = { commentsEnabled: false, statusCheckEnabled: false };

/** How fast pull requests land if CI takes no time, and whether page updates slow them down. */
export async function measurePace(): Promise<void> {
  const told = await land({});
  const silent = await land(SILENT);
  printFigure({
    name: 'github.pace.landed',
    unit: 'pull requests/minute',
    value: (TOGETHER * 60_000) / told.together,
    baseline: (TOGETHER * 60_000) / silent.together,
  });
  printFigure({
    name: 'github.pace.alone',
    unit: 'ms from the comment to the landing',
    value: told.alone,
    baseline: silent.alone,
  });
}

async function land(settings: object): Promise<{ readonly alone: number; readonly together: number }> {
  progress(`github: ${ALONE} pull requests land one by one, ${TOGETHER} together, ${JSON.stringify(settings)}`);
  const world = await createGithubBench({ settings: { concurrency: 10, ...settings }, checksMs: [0, 0, 0] });
  const times: number[] = [];
  for (let count = 0; count < ALONE; count += 1) times.push(await timeLanding(world, [await world.open()]));
  const prs: PullRequest[] = [];
  for (let count = 0; count < TOGETHER; count += 1) prs.push(await world.open());
  const together = await timeLanding(world, prs);
  await world.stop();
  return { alone: median(times), together };
}

async function timeLanding({ github }: GithubBench, prs: readonly PullRequest[]): Promise<number> {
  const begun = performance.now();
  for (const pr of prs) github.comment(pr, WRITER, '/sluice merge');
  await until('all have landed', DEADLINE_MS, () => prs.every((pr) => pr.merged !== undefined));
  return performance.now() - begun;
}
