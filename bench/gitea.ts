import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../test/e2e/harness.ts';
import { closePlace, type GiteaPlace, GiteaWorld, type OpenRequest, startPlace } from '../test/gitea/gitea-world.ts';
import { p95, printFigure, progress } from './lib/figure.ts';

interface Case {
  readonly name: string;
  readonly pullRequests: number;
  readonly settings: object;
  readonly goal: number;
}

const CASES: readonly Case[] = [
  { name: 'single', pullRequests: 20, settings: { concurrency: 10 }, goal: 14 },
  {
    name: 'batches-of-4',
    pullRequests: 40,
    settings: { concurrency: 10, batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
    goal: 9,
  },
];

const CHECKS = ['build', 'lint', 'unit'];
/** Far enough apart that updates of the page are not merged only because this CI is fast. */
const CHECKS_MS = [4_000, 8_000, 12_000];
const SUBMIT_EVERY_MS = 1_000;
const OPEN = 100;
const IDLE_MINUTES = 3;
const IDLE_GOAL = 4;
const SHOWN_GOAL_MS = 5_000;
const DEADLINE_MS = 10 * 60_000;

/** Requests to the API of a Gitea: a real one if SLUICE_REAL_GITEA names the program, otherwise the double. */
export async function run(words: readonly string[] = []): Promise<void> {
  const place = await startPlace();
  progress(`gitea: ${'kill' in place.people.gitea ? 'a real one' : 'the double'}`);
  try {
    for (const each of CASES) if (words.length === 0 || words.includes('calls')) await land(place, each);
    if (words.length === 0 || words.includes('idle')) await idle(place);
  } finally {
    await closePlace(place);
  }
}

async function land(place: GiteaPlace, { name, pullRequests, settings, goal }: Case): Promise<void> {
  const requiredStatuses = CHECKS.map((check) => ({ name: check, app: 'ci' }));
  const queue = await GiteaWorld.create(place, name, { settings: { requiredStatuses, ...settings } });
  const prs: OpenRequest[] = [];
  for (let count = 0; count < pullRequests; count += 1) prs.push(await queue.open());
  const ci = runSlowCi(queue);
  const { calls } = place.proxy;
  calls.length = 0;
  const watched: Promise<number>[] = [];
  for (const pr of prs) {
    await queue.say(pr, '/sluice merge');
    watched.push(untilShown(queue, pr));
    await sleep(SUBMIT_EVERY_MS);
  }
  const shown = await Promise.all(watched);
  for (const pr of prs) await queue.untilTold(pr, 'Landed');
  ci.end();
  const own = ofQueue(calls, queue);
  printFigure({
    name: `gitea.${name}.calls`,
    unit: 'calls/landed pull request',
    value: own.length / pullRequests,
    goal,
  });
  printFigure({ name: `gitea.${name}.shown.p95`, unit: 'ms', value: p95(shown), goal: SHOWN_GOAL_MS });
  for (const [kind, count] of kindsOf(own)) progress(`  ${count} ${kind}`);
}

/** The time from the landing until Gitea shows the pull request as merged. */
async function untilShown(queue: GiteaWorld, pr: OpenRequest): Promise<number> {
  const { landed } = await until(`#${pr.number} landed`, DEADLINE_MS, () =>
    queue.untilState(pr, 'MERGED').catch(() => undefined),
  );
  await queue.untilMerged(pr);
  return Date.now() - Date.parse(landed?.at ?? '');
}

function runSlowCi(queue: GiteaWorld): { end(): void } {
  const seen = new Set<string>();
  const timer = setInterval(async () => {
    for (const { sha } of await queue.testBranches().catch(() => [])) {
      if (seen.has(sha)) continue;
      seen.add(sha);
      for (const [index, check] of CHECKS.entries()) {
        setTimeout(() => queue.report(sha, 'success', 'ci', check).catch(() => undefined), CHECKS_MS[index]);
      }
    }
  }, 200);
  return { end: () => clearInterval(timer) };
}

async function idle(place: GiteaPlace): Promise<void> {
  progress(`gitea: ${IDLE_MINUTES} minutes of an idle queue with ${OPEN} open pull requests`);
  const queue = await GiteaWorld.create(place, 'idle');
  for (let count = 0; count < OPEN; count += 1) await queue.open();
  const { calls } = place.proxy;
  // Until the poll that sees them all is over.
  await until('it is quiet', DEADLINE_MS, async () => {
    const before = calls.length;
    await sleep(20_000);
    return calls.length === before ? true : undefined;
  });
  calls.length = 0;
  await sleep(IDLE_MINUTES * 60_000);
  const own = ofQueue(calls, queue);
  printFigure({ name: 'gitea.idle.calls', unit: 'calls/minute', value: own.length / IDLE_MINUTES, goal: IDLE_GOAL });
}

/** Without polls of the queues that were measured before. */
function ofQueue(calls: readonly string[], queue: GiteaWorld): readonly string[] {
  return calls.filter((call) => !call.includes('/repos/') || call.includes(queue.path));
}

function kindsOf(calls: readonly string[]): readonly (readonly [string, number])[] {
  const kinds = Map.groupBy(calls, (call) =>
    call
      .replace(/\?.*/, '')
      .replace(/\/repos\/[^/]+\/[^/]+/, '')
      .replace(/\/[0-9a-f]{40}|\/\d+/g, '/N'),
  );
  return [...kinds].map(([kind, some]) => [kind, some.length] as const).toSorted((a, b) => b[1] - a[1]);
}
