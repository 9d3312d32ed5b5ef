// `npm run storm -- --selects`: how many test cases of a real pytest suite run, with and without `selects`.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryView } from '../../../src/app/queue/entry-view.ts';
import { Prng } from '../../../src/lib/prng.ts';
import { createPlainWorld, type PlainWorld } from '../../contract/plain-repository.ts';
import { say } from '../../helpers/command.ts';
import { SLUICE } from '../../helpers/sluice-command.ts';
import { createStormClient, nameOf, queueOf, type StormClient } from '../client.ts';
import { lookUntil } from '../pause.ts';
import type { ChangeRef, Line } from '../plan.ts';
import { createPost } from '../server.ts';
import { Violations } from '../verdict.ts';
import { BROKEN, CASES, changeOf, checkOf, SUITE } from './pytest-suite.ts';

const TOKEN = 'the-administrator-of-the-selects';
const LIMIT_MS = 30 * 60_000;
const MOST = 0.45;

/** ADAPTIVE, and one batch of all that is searched by halves. */
const MODES: Readonly<Record<string, object>> = {
  ADAPTIVE: { optimizationMode: 'ADAPTIVE', runCost: 4 },
  BATCH: { optimizationMode: 'OFF', batch: true, batchingMinSize: 16, batchingMaxWaitTimeMinutes: 1 },
};

interface Played {
  readonly cases: number;
  readonly runs: number;
  readonly probes: number;
}

/** Returns the violations. */
export async function runSelects(of: { readonly seed: string; readonly prs: number }): Promise<readonly string[]> {
  const violations = new Violations();
  for (const [mode, settings] of Object.entries(MODES)) {
    const [all, some] = [await play(of, settings, false, violations), await play(of, settings, true, violations)];
    const share = some.cases / all.cases;
    const tell = ({ cases, runs, probes }: Played) =>
      `${cases} cases in ${runs} runs of all tests and ${probes} probes`;
    say(`${mode}: ${tell(all)}; with selects ${tell(some)}: ${(100 * share).toFixed(1)}% of the cases\n`);
    violations.expect(
      share <= MOST,
      `${mode}: ${(100 * share).toFixed(1)}% of the cases ran, more than ${100 * MOST}%`,
    );
  }
  return violations.found;
}

interface World {
  readonly client: StormClient;
  readonly git: PlainWorld;
  readonly line: Line;
  readonly counter: string;
  readonly violations: Violations;
}

async function play(
  { seed, prs }: { readonly seed: string; readonly prs: number },
  settings: object,
  selects: boolean,
  violations: Violations,
): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-selects-'));
  const git = await createPlainWorld();
  const environment = { SLUICE_ADMIN_TOKEN: TOKEN, SLUICE_RUNNER_TRUST: 'all', SLUICE_RUNNER_PROTECTION: 'none' };
  const post = createPost({
    ...{ name: 'one', dataFolder: join(folder, 'data'), commands: [SLUICE] },
    environment: { ...environment, SLUICE_RUNNER_JOBS: '2' },
  });
  const random = new Prng(seed);
  const client = createStormClient([post], { token: TOKEN, random: random.fork(), violations });
  const line: Line = {
    branch: 'main',
    mergeMethod: 'MERGE_COMMIT',
    settings: { mode: 'SINGLE', concurrency: 3, ...settings },
  };
  const world: World = { client, git, line, counter: join(folder, 'executed'), violations };
  try {
    await git.commit('main', { files: SUITE });
    if ((await post.start().ready) === undefined) throw new Error(`the server did not start:\n${post.log()}`);
    const { repo } = queueOf(line);
    const checks = [checkOf(world.counter, selects)];
    await client.call('registerRepository', { repo, git: git.path, checks, junit: ['report.xml'] });
    await client.call('createQueue', { ...queueOf(line), ...line.settings, batchingMinSize: 1 });
    await decide(world, [0]);
    const before = (await executed(world)).length;
    await client.call('updateQueue', { ...queueOf(line), ...line.settings });
    await decide(world, random.shuffle(Array.from({ length: prs }, (_, index) => index + 1)));
    return count((await executed(world)).slice(before));
  } finally {
    client.close();
    await post.kill();
    await git.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Submits these changes at once, and waits until each is decided. */
async function decide(world: World, changes: readonly number[]): Promise<void> {
  const { client, git, line, violations } = world;
  await client.call('updateQueue', { ...queueOf(line), state: 'PAUSED' });
  const opened: (ChangeRef & { readonly change: number })[] = [];
  for (const change of changes) {
    const { number } = await git.openPullRequest('main', { files: changeOf(change) });
    opened.push({ change, line, number });
    await client.call('submitPullRequest', nameOf({ line, number }));
  }
  await client.call('updateQueue', { ...queueOf(line), state: 'RUNNING' });
  const all = await lookUntil({ withinMs: LIMIT_MS, everyMs: 500 }, async () => {
    const entries = await client.getAll(line, opened);
    return entries.every(({ isCurrentlySubmittedToQueue }) => !isCurrentlySubmittedToQueue) ? entries : undefined;
  });
  if (all === undefined) throw new Error(`undecided: ${JSON.stringify(await client.getQueue(line))}`);
  const runs = Map.groupBy(await executed(world), ({ run }) => run);
  for (const { change, number } of opened) {
    const entry = (await client.get({ line, number })) as EntryView;
    const isBroken = BROKEN.includes(change);
    violations.expect((entry.state === 'MERGED') === !isBroken, `change ${change} is ${entry.state}`);
    const run = entry.landed?.testRunId ?? '';
    const cases = new Set(runs.get(run)?.map(({ test }) => test)).size;
    if (entry.state === 'MERGED')
      violations.expect(cases === CASES, `change ${change} landed by a run of ${cases} cases (${entry.landed?.kind})`);
  }
}

interface Executed {
  readonly run: string;
  readonly branch: string;
  readonly test: string;
}

/** Each call of a test, as pytest counted it. */
async function executed({ counter }: World): Promise<readonly Executed[]> {
  const text = await readFile(counter, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [run = '', branch = '', test = ''] = line.split('\t');
      return { run, branch, test };
    });
}

function count(lines: readonly Executed[]): Played {
  const runs = new Map(lines.map(({ run, branch }) => [run, branch.includes('/probe/')]));
  const probes = [...runs.values()].filter((isProbe) => isProbe).length;
  return { cases: lines.length, runs: runs.size - probes, probes };
}
