// A storm: real servers on a real repository are killed again and again while pull requests land. The checks run when
// everything has settled.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { Prng } from '../../src/lib/prng.ts';
import { SLUICE } from '../helpers/sluice-command.ts';
import { type AuthorParts, beAuthor } from './author.ts';
import { type Board, createBoard } from './board.ts';
import { checkAll } from './check-all.ts';
import { startCi } from './ci.ts';
import { createStormClient, queueOf } from './client.ts';
import { FOLLOWED, Followers } from './followers.ts';
import { type KillerParts, type Kills, killAgainAndAgain } from './killer.ts';
import { lookUntil, pause } from './pause.ts';
import { makePlan } from './plan.ts';
import { checksOf, rulesOf } from './project.ts';
import { countEnds, countStates, countWarnings, type StormReport } from './report.ts';
import { createStormRepository } from './repository.ts';
import type { Scene, StormOptions } from './scene.ts';
import { createPost, type Post } from './server.ts';
import { Violations } from './verdict.ts';
import { makeVersion } from './versions.ts';

const TOKEN = 'the-administrator-of-the-storm';
/** Measured from the last kill. The leases of a dead server end after 20 s, and there may be several rounds of them. */
const SETTLE_MS = 180_000;
const RUNNER_JOBS = '4';
const MIN_LIFE_MS = 400;
const MAX_LIFE_MS = 1_800;

export async function runStorm(options: StormOptions): Promise<StormReport> {
  const startedAt = performance.now();
  const random = new Prng(options.seed);
  const plan = makePlan(random.fork(), options);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-storm-'));
  const repository = await createStormRepository(plan);
  const posts = await createPosts(folder, options);
  const violations = new Violations();
  const client = createStormClient(posts, { token: TOKEN, random: random.fork(), violations });
  const followers = new Followers({ posts, client, token: TOKEN, violations });
  const scene = { ...options, random, plan, folder, repository, posts, client, followers, violations };
  try {
    for (const line of plan.lines) options.onProgress(`${line.branch}: ${JSON.stringify(line.settings)}`);
    return { ...(await play(scene)), totalMs: performance.now() - startedAt };
  } finally {
    client.close();
    await followers.close();
    await Promise.all(posts.map((post) => post.kill()));
    await repository.world.close();
    for (const each of [folder, versionFolderOf(folder)]) {
      await rm(each, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** Beside the folder of the storm, which is searched for what servers leave behind. */
function versionFolderOf(folder: string): string {
  return `${folder}-next`;
}

async function createPosts(folder: string, { databaseUrl, isUpgrade = false }: StormOptions): Promise<readonly Post[]> {
  const next = isUpgrade ? [await makeVersion(versionFolderOf(folder), '99.0.0')] : [];
  // The checks write their record into the storm's folder, and the storm reads theirs. So the runner has no protection.
  const open = { SLUICE_RUNNER_PROTECTION: 'none', SLUICE_RUNNER_TRUST: 'all', SLUICE_DRAIN: isUpgrade ? '1' : '' };
  const shared = { SLUICE_ADMIN_TOKEN: TOKEN, SLUICE_RUNNER_JOBS: RUNNER_JOBS, ...FOLLOWED, ...open };
  const environment = databaseUrl === undefined ? shared : { ...shared, SLUICE_DATABASE_URL: databaseUrl };
  const names = databaseUrl === undefined ? ['one'] : ['one', 'two'];
  const commands = [SLUICE, ...next];
  return names.map((name) => createPost({ name, dataFolder: join(folder, name), environment, commands }));
}

async function play(scene: Scene): Promise<Omit<StormReport, 'totalMs'>> {
  const { plan, posts, client, violations, onProgress } = scene;
  await setUp(scene);
  const marks = collectMarks(posts);
  const ci = scene.isUpgrade ? startCi({ ...scene, repository: scene.repository.world.path }) : undefined;
  const board = createBoard(client, plan);
  let killed = 0;
  const authors = beAuthors(scene, board, () => killed);
  const kills = await killAll(scene, (count, text) => {
    killed = count;
    onProgress(`${count}/${scene.kills} ${text}; ${countStates(plan, board)}`);
  }).finally(() => {
    killed = Number.POSITIVE_INFINITY;
  });
  const settledMs = await untilSettled(scene, board, authors);
  await ci?.stop();
  onProgress(`settled after ${Math.round(settledMs)} ms; ${countStates(plan, board)}`);
  const entries = await readEntries(scene);
  await scene.followers.check();
  await checkAll(scene, entries, marks.stop());
  return { violations: violations.found, kills, settledMs, ...countEnds(entries), warnings: countWarnings(posts) };
}

function killAll(scene: Scene, onKill: KillerParts['onKill']): Promise<Kills> {
  const { random, posts, plan, repository, kills } = scene;
  const sight = {
    repository: repository.world.path,
    lines: plan.lines,
    dataFolders: posts.map(({ dataFolder }) => dataFolder),
    patienceMs: patienceOf(scene),
  };
  return killAgainAndAgain({ random: random.fork(), posts, sight, kills, isUpgrade: scene.isUpgrade ?? false, onKill });
}

/** Many kills for few pull requests need short lives. Otherwise most servers would die idle. */
function patienceOf({ kills, prs }: Scene): number {
  return Math.min(MAX_LIFE_MS, Math.max(MIN_LIFE_MS, (prs / kills) * MAX_LIFE_MS));
}

async function setUp({ plan, posts, client, followers, repository, folder, isUpgrade }: Scene): Promise<void> {
  await Promise.all(posts.map((post) => post.start().ready));
  await followers.start();
  const [first] = plan.lines;
  if (first === undefined) return;
  const { repo } = queueOf(first);
  const checks = isUpgrade ? [] : checksOf(folder);
  await client.call('registerRepository', { repo, git: repository.world.path, checks });
  const required = isUpgrade ? { requiredStatuses: rulesOf(folder).map(({ name }) => name) } : {};
  for (const line of plan.lines) await client.call('createQueue', { ...queueOf(line), ...required, ...line.settings });
}

/** Collects the folder name of every server that ran checks. The runner marks its processes with it. */
function collectMarks(posts: readonly Post[]): { stop(): ReadonlySet<string> } {
  const marks = new Set<string>();
  const look = async () => {
    for (const { dataFolder } of posts) {
      for (const mark of await readdir(join(dataFolder, 'runner')).catch(() => [])) marks.add(mark);
    }
  };
  const timer = setInterval(() => void look(), 20).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return marks;
    },
  };
}

function beAuthors(scene: Scene, board: Board, killed: () => number): Promise<unknown> {
  const { client, repository, plan, violations } = scene;
  const parts: AuthorParts = {
    client,
    board,
    repository,
    untilKills: async (count) => {
      while (killed() < count) await pause(50);
    },
  };
  return Promise.all(
    plan.changes.map((change) =>
      beAuthor(parts, change).catch((error: unknown) =>
        violations.add(`the author of #${change.number} gave up: ${error instanceof Error ? error.message : error}`),
      ),
    ),
  );
}

/** Names the open pull requests if the time is over. */
async function untilSettled(scene: Scene, board: Board, authors: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let isSettled = false;
  const done = authors.then(() => {
    isSettled = true;
  });
  await lookUntil({ withinMs: SETTLE_MS, everyMs: 50 }, () => (isSettled ? true : undefined));
  const settledMs = performance.now() - startedAt;
  if (!isSettled) await nameHanging(scene, board);
  await board.stop();
  await done;
  return settledMs;
}

async function nameHanging({ plan, client, violations }: Scene, board: Board): Promise<void> {
  for (const change of plan.changes) {
    if (board.find(change.number)?.isCurrentlySubmittedToQueue === false) continue;
    const entry = await client.get(change, { includeExplanation: true });
    violations.add(`#${change.number} hangs: ${entry?.state} ${JSON.stringify(entry?.explanation)}`);
  }
}

async function readEntries({ plan, client }: Scene): Promise<ReadonlyMap<number, EntryView>> {
  const entries = new Map<number, EntryView>();
  for (const change of plan.changes) {
    const entry = await client.get(change, { includeTimeline: true });
    if (entry !== undefined) entries.set(change.number, entry);
  }
  return entries;
}
