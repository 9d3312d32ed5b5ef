import { fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntryView } from '../src/app/queue/entry-view.ts';
import { Prng } from '../src/lib/prng.ts';
import { findOut } from '../test/fake/github/mergeability.ts';
import type { PullRequest } from '../test/fake/github/model.ts';
import type { DeliveryRecord } from '../test/fake/github/webhooks.ts';
import { startChild } from './lib/child.ts';
import { printFigure, progress } from './lib/figure.ts';
import { CHECKS, createGithubBench, type GithubBench, SECRET, until, WRITER } from './lib/github-world.ts';
import type { Posted, StormOrder, StormResult } from './lib/storm-child.ts';

/** The number of pull requests of each kind, and of deliveries for each: 1,000 that all change something. */
const COUNTS = { tested: 20, pushed: 100, closed: 120, commanded: 120, edited: 60 };
const EACH = { tested: 3, pushed: 1, closed: 1, commanded: 2, edited: 8 };
const KINDS = Object.keys(COUNTS) as (keyof typeof COUNTS)[];
const DELIVERIES = KINDS.reduce((sum, kind) => sum + COUNTS[kind] * EACH[kind], 0);
const ENTRIES = COUNTS.tested + COUNTS.pushed + COUNTS.closed + COUNTS.edited;
const STORM_MS = 10_000;
const GOAL_MS = 100;
const DEADLINE_MS = 10 * 60_000;
const AT_ONCE = 16;

interface Scene extends Readonly<Record<keyof typeof COUNTS, readonly PullRequest[]>> {
  readonly world: GithubBench;
  /** The commits that will be pushed. */
  readonly pushes: ReadonlyMap<PullRequest, string>;
}

/** Everything about a busy queue is applied within seconds, and GitHub is still read before each change. */
export async function measureStorm(): Promise<void> {
  progress(`github: a queue with ${ENTRIES} entries, for a storm`);
  const world = await createGithubBench({ settings: { concurrency: COUNTS.tested } });
  try {
    await stormOn(world);
  } finally {
    await world.stop();
  }
}

async function stormOn(world: GithubBench): Promise<void> {
  const scene = await setScene(world);
  const file = path.join(world.folder, 'storm.json');
  writeFileSync(file, JSON.stringify(mix(await happen(scene)).map(toPosted)));
  progress(`github: ${DELIVERIES} deliveries in ${STORM_MS / 1_000} s, to bare Fastify and to Sluice`);
  const bare = await startChild(new URL('./lib/bare-webhook-child.ts', import.meta.url), { secret: SECRET });
  const theirs = await storm({ url: `${bare.url}/webhooks/github`, file, durationMs: STORM_MS });
  await bare.stop();
  const waiting = watchWaiting(world);
  const since = Date.now();
  const ours = await storm({ url: `${world.url}/webhooks/github`, file, durationMs: STORM_MS });
  const sentAt = Date.now();
  const missing = await countMissing(scene);
  const settledMs = Date.now() - sentAt;
  const polls = world.github.world.requests.filter(({ query, at }) => query === 'PollRepository' && at > since).length;
  progress(`github: ${polls} polls meanwhile; ${Math.round(ours.durationMs)} ms of storm`);
  printTimes(ours, theirs);
  printFigure({ name: 'github.storm.refused', value: ours.refused, unit: 'deliveries', goal: 0 });
  printFigure({ name: 'github.storm.not-applied', value: missing, unit: 'changes', goal: 0 });
  printFigure({ name: 'github.storm.settled', value: settledMs / 1_000, unit: 's' });
  printFigure({ name: 'github.storm.waiting', value: waiting.stop(), unit: 'hints' });
  printFigure({ name: 'github.storm.memory', value: world.memory().peak / 1e6, unit: 'MB' });
}

function printTimes(ours: StormResult, theirs: StormResult): void {
  for (const share of [0.5, 0.99]) {
    const name = `github.storm.p${share * 100}`;
    const value = percentile(ours.timesMs, share);
    printFigure({ name, value, unit: 'ms', ...(share === 0.99 && { goal: GOAL_MS }) });
    printFigure({ name: `${name}.to-bare`, value, baseline: percentile(theirs.timesMs, share), unit: 'ms' });
  }
}

/** Some are under test, some wait behind them, some are only open. */
async function setScene(world: GithubBench): Promise<Scene> {
  const { github } = world;
  github.app.hook = { ...github.app.hook, isActive: false };
  const open = async (count: number): Promise<readonly PullRequest[]> => {
    const opened: PullRequest[] = [];
    for (let index = 0; index < count; index += 1) opened.push(await view(world, await world.open()));
    return opened;
  };
  const tested = await open(COUNTS.tested);
  const [pushed, closed] = [await open(COUNTS.pushed), await open(COUNTS.closed)];
  const [commanded, edited] = [await open(COUNTS.commanded), await open(COUNTS.edited)];
  const pushes = new Map<PullRequest, string>();
  for (const pr of pushed) {
    const { headSha: parent, headRef } = pr;
    const files = { [`${headRef}.txt`]: 'more\n' };
    pushes.set(pr, await github.commit(world.repository, { branch: `${headRef}-next`, parent, files }));
  }
  progress('github: they are submitted');
  const submit = ({ number }: PullRequest) => world.api('submitPullRequest', { pr: { number } });
  await eachOf(tested, submit);
  await until('the first are under test', DEADLINE_MS, async () => (await readRuns(world)).length === COUNTS.tested);
  await eachOf([...pushed, ...closed, ...edited], submit);
  await until('all are admitted, and those ahead are under test', DEADLINE_MS, async () => {
    const runs = await readRuns(world);
    const isBuilt = runs.filter(({ testBranchSha }) => testBranchSha !== '').length === COUNTS.tested;
    return isBuilt && (await readEntry(world, edited.at(-1) as PullRequest))?.state === 'PENDING';
  });
  github.app.hook = { ...github.app.hook, isActive: true };
  return { world, tested, pushed, closed, commanded, edited, pushes };
}

/** Like opening its page, which makes GitHub compute mergeability. All at once would overload this machine. */
async function view({ github }: GithubBench, pr: PullRequest): Promise<PullRequest> {
  await findOut(github.world, pr, pr.baseSha);
  return pr;
}

/** Everything has happened before the first delivery: GitHub had an outage and now delivers everything at once. */
async function happen({ world, tested, closed, commanded, edited, pushes }: Scene): Promise<readonly DeliveryRecord[]> {
  const { github, repository } = world;
  // The periodic poll must not find it, so the storm waits for the end of a poll.
  const now = Date.now();
  const isPoll = ({ query, at }: { query: string | undefined; at: number }) => query === 'PollRepository' && at > now;
  await until('the repository was polled', DEADLINE_MS, () => github.world.requests.some(isPoll));
  github.webhooks.configure({ lost: 1 });
  const first = github.webhooks.deliveries.length;
  for (const [{ headRef }, sha] of pushes) await github.moveBranch(repository, headRef, sha, WRITER);
  for (const pr of closed) github.closePullRequest(pr);
  for (const pr of commanded) {
    github.comment(pr, WRITER, '/sluice merge');
    github.comment(pr, WRITER, '/sluice merge -p low');
  }
  const runs = await readRuns(world);
  for (const pr of tested) {
    const sha = runs.find((run) => run.testedPullRequests[0]?.prNumber === pr.number)?.testBranchSha as string;
    for (const name of REPORTED) github.reportCheck(repository, { sha, name, conclusion: 'success' });
    github.edit(pr, { title: `${pr.title}${RETITLED}` });
  }
  for (const pr of edited) {
    for (let edits = 1; edits < EACH.edited; edits += 1) github.edit(pr, { title: `Draft ${edits}` });
    github.edit(pr, { title: RETITLED });
  }
  await github.webhooks.settle();
  const told = github.webhooks.deliveries.slice(first).filter(isOfStorm);
  github.webhooks.configure({});
  if (told.length !== DELIVERIES) throw new Error(`${told.length} deliveries instead of ${DELIVERIES}`);
  return told;
}

const RETITLED = ', better';
/** The last check never ends, so nothing lands meanwhile. */
const REPORTED = CHECKS.slice(1);
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  check_run: ['completed'],
  issue_comment: ['created'],
  pull_request: ['synchronize', 'closed', 'edited'],
};

function isOfStorm({ event, action, payload }: DeliveryRecord): boolean {
  const isOwn = event === 'issue_comment' && (payload['sender'] as { type?: string }).type === 'Bot';
  return !isOwn && action !== undefined && ACTIONS[event]?.includes(action) === true;
}

/** Shuffles the deliveries. Only the comments on one pull request stay in order. */
function mix(deliveries: readonly DeliveryRecord[]): readonly DeliveryRecord[] {
  const prng = new Prng(1);
  const mixed = deliveries
    .map((delivery) => ({ delivery, at: prng.integer(1_000_000) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ delivery }) => delivery);
  const comments = mixed.filter(({ event }) => event === 'issue_comment');
  const inOrder = comments.toSorted((a, b) => deliveries.indexOf(a) - deliveries.indexOf(b)).values();
  return mixed.map((delivery) => (delivery.event === 'issue_comment' ? (inOrder.next().value ?? delivery) : delivery));
}

function toPosted({ event, body }: DeliveryRecord): Posted {
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  return { event, signature, body: body.toString() };
}

async function storm(order: StormOrder): Promise<StormResult> {
  const child = fork(new URL('./lib/storm-child.ts', import.meta.url), [JSON.stringify(order)], { execArgv: [] });
  const [result] = (await once(child, 'message')) as [StormResult];
  return result;
}

/** Counts the changes that the queue does not show after a while. */
async function countMissing({ world, tested, pushed, closed, commanded, edited }: Scene): Promise<number> {
  let open: readonly { readonly pr: PullRequest; readonly isSo: (entry: EntryView) => boolean }[] = [
    ...[...tested, ...edited].map((pr) => ({ pr, isSo: ({ prTitle }: EntryView) => prTitle.endsWith(RETITLED) })),
    ...[...pushed, ...closed].map((pr) => ({ pr, isSo: ({ state }: EntryView) => state === 'CANCELLED' })),
    ...commanded.map((pr) => ({ pr, isSo: ({ priorityName }: EntryView) => priorityName === 'low' })),
  ];
  let checks = DELIVERIES;
  const deadline = Date.now() + DEADLINE_MS;
  while (open.length + checks > 0 && Date.now() < deadline) {
    const entries = new Map<PullRequest, EntryView | undefined>();
    await eachOf(open, async ({ pr }) => entries.set(pr, await readEntry(world, pr)));
    open = open.filter(({ pr, isSo }) => {
      const entry = entries.get(pr);
      return entry === undefined || !isSo(entry);
    });
    const seen = (await readRuns(world)).flatMap(({ checkSuites }) => checkSuites.flatMap((suite) => suite.checkRuns));
    checks = COUNTS.tested * REPORTED.length - seen.filter(({ conclusion }) => conclusion === 'SUCCESS').length;
    await sleep(200);
  }
  return open.length + checks;
}

interface RunView {
  readonly testBranchSha: string;
  readonly testedPullRequests: readonly { readonly prNumber: number }[];
  readonly checkSuites: readonly { readonly checkRuns: readonly { readonly conclusion?: string }[] }[];
}

async function readRuns({ api }: GithubBench): Promise<readonly RunView[]> {
  return ((await api('getMergeQueueTestingDetails')) as { readonly testRuns: readonly RunView[] }).testRuns;
}

async function readEntry({ api }: GithubBench, { number }: PullRequest): Promise<EntryView | undefined> {
  return api('getSubmittedPullRequest', { pr: { number } }).catch(() => undefined) as Promise<EntryView | undefined>;
}

/** The highest number of waiting hints. */
function watchWaiting({ folder }: GithubBench): { stop(): number } {
  const database = new DatabaseSync(path.join(folder, 'sluice.db'), { readOnly: true });
  const count = database.prepare('select count(*) as count from hints where remembered_until is null');
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, Number(count.get()?.['count']));
  }, 200);
  return {
    stop() {
      clearInterval(timer);
      database.close();
      return most;
    },
  };
}

async function eachOf<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  const rest = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await act(next);
    }),
  );
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
