// A project with real tests in a queue of a real server, and the authors of its pull requests.
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EntryView } from '../../../src/app/queue/entry-view.ts';
import { Prng } from '../../../src/lib/prng.ts';
import { createPlainWorld, runGit } from '../../contract/plain-repository.ts';
import { SLUICE } from '../../helpers/sluice-command.ts';
import { createBoard } from '../board.ts';
import type { Git } from '../check-history.ts';
import { createStormClient, nameOf, queueOf, type StormClient } from '../client.ts';
import { lookUntil, pause } from '../pause.ts';
import type { Line } from '../plan.ts';
import { countStates, countWarnings } from '../report.ts';
import { createPost, type Post } from '../server.ts';
import { Violations } from '../verdict.ts';
import { type Findings, findOut } from './findings.ts';
import { type Mode, makeSuitePlan, type SuiteChange, type SuiteKind, type SuitePlan } from './plan.ts';
import type { Edit, Planted, Project } from './project.ts';

const TOKEN = 'the-administrator-of-the-suites';
const RUNNER_JOBS = '2';
const LOOK_EVERY_MS = 250;
const REPORT_EVERY_MS = 10_000;

export interface SuiteOptions {
  readonly seed: string;
  readonly prs: number;
  readonly project: Project;
  readonly mode: Mode;
  readonly planted: readonly Planted[];
  /** Quarantine is automatic, and the queue honors it. */
  readonly isQuarantining?: boolean;
  /** A wrongly removed pull request is a violation. */
  readonly isStrict: boolean;
  /** Pull requests of these kinds instead of some of all. */
  readonly kinds?: readonly SuiteKind[];
  /** Authors wait at most this long before they open the next pull request. */
  readonly maxGapMs: number;
  /** An administrator resumes the queue when it held for this long. By itself, it tests the branch after ten minutes. */
  readonly resumeAfterMs: number;
  /** After this time, undecided pull requests are violations. */
  readonly limitMs: number;
  onProgress(text: string): void;
}

/** A world while it runs. */
export interface Suite extends SuiteOptions {
  readonly plan: SuitePlan;
  readonly line: Line;
  readonly client: StormClient;
  readonly post: Post;
  readonly git: Git;
  readonly violations: Violations;
}

/** The queue took the target branch for broken, which it never is. */
export interface Suspicion {
  readonly ms: number;
  readonly times: number;
}

export interface SuiteReport extends Findings {
  readonly project: string;
  readonly mode: Mode;
  readonly violations: readonly string[];
  readonly tookMs: number;
  readonly suspicion: Suspicion;
  readonly warnings: Readonly<Record<string, number>>;
}

export async function runSuite(options: SuiteOptions): Promise<SuiteReport> {
  const { project, seed, isQuarantining } = options;
  const random = new Prng(`${seed} ${project.name}`);
  const plan = makeSuitePlan(random, { ...options, settings: isQuarantining ? { honorQuarantine: 'ON' } : {} });
  const [line] = plan.lines as [Line];
  const folder = await mkdtemp(join(tmpdir(), 'sluice-suites-'));
  const repository = await createPlainWorld();
  const environment = { SLUICE_ADMIN_TOKEN: TOKEN, SLUICE_RUNNER_JOBS: RUNNER_JOBS, SLUICE_RUNNER_TRUST: 'all' };
  const post = createPost({
    name: 'one',
    dataFolder: join(folder, 'data'),
    environment: { ...environment, ...project.environment },
    commands: [SLUICE],
  });
  const violations = new Violations();
  const client = createStormClient([post], { token: TOKEN, random: random.fork(), violations });
  const suite: Suite = { ...options, plan, line, client, post, git: repository.git, violations };
  const startedAt = performance.now();
  try {
    const open = await writeProject(options, { tree: join(folder, 'tree'), repository: repository.path });
    await setUp(suite, repository.path);
    const suspicion = await play(suite, open);
    const tookMs = performance.now() - startedAt;
    const findings = await findOut(suite);
    const warnings = countWarnings([post]);
    return {
      ...findings,
      project: project.name,
      mode: options.mode,
      violations: violations.found,
      tookMs,
      suspicion,
      warnings,
    };
  } finally {
    client.close();
    await post.kill();
    await repository.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Open = (change: SuiteChange) => Promise<void>;

/** Commits and pushes the project. Returns how a pull request is opened on top of that commit. */
async function writeProject(
  { project, planted }: SuiteOptions,
  { tree, repository }: { readonly tree: string; readonly repository: string },
): Promise<Open> {
  await cp(project.folder, tree, { recursive: true });
  await runGit(tree, ['init', '--quiet']);
  const commit = async (edit: Edit, message: string, ref: string) => {
    for (const [file, text] of Object.entries(edit)) await writeOrRemove(join(tree, file), text);
    // Packages are committed too, which projects ignore.
    await runGit(tree, ['add', '--all', '--force']);
    await runGit(tree, ['commit', '--quiet', `--message=${message}`]);
    await runGit(tree, ['push', '--quiet', repository, `HEAD:${ref}`]);
    return runGit(tree, ['rev-parse', 'HEAD']);
  };
  const start = await commit(project.planted(planted), 'Begin', 'refs/heads/main');
  return async ({ number, kind, edit }) => {
    await runGit(tree, ['checkout', '--quiet', '--force', '--detach', start]);
    await commit(edit, `Change ${number}: ${kind}`, `refs/pull/${number}/head`);
  };
}

async function writeOrRemove(file: string, text: string | null): Promise<void> {
  if (text === null) return rm(file);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function setUp({ post, client, line, project, isQuarantining }: Suite, git: string): Promise<void> {
  if ((await post.start().ready) === undefined) throw new Error(`the server did not start:\n${post.log()}`);
  const { repo } = queueOf(line);
  const checks = [{ name: 'test', command: project.check }];
  await client.call('registerRepository', { repo, git, checks, junit: ['report.xml'] });
  if (isQuarantining)
    await client.call('flaky-tests/update-settings', { repo, org_url_slug: 'default', auto_quarantine: true });
  await client.call('createQueue', { ...queueOf(line), ...line.settings });
}

/** Opens and submits all pull requests, and waits until each is decided. */
async function play(suite: Suite, open: Open): Promise<Suspicion> {
  const { client, plan, line, limitMs, violations, onProgress } = suite;
  const board = createBoard(client, plan);
  const watch = watchRed(suite);
  const report = setInterval(() => onProgress(countStates(plan, board)), REPORT_EVERY_MS);
  try {
    for (const change of plan.changes) {
      await pause(change.afterMs);
      await open(change);
      await client.call('submitPullRequest', nameOf(change));
    }
    const isOver = (entry: EntryView | undefined) => entry?.isCurrentlySubmittedToQueue === false;
    const isSettled = () => plan.changes.every(({ number }) => isOver(board.find(number))) || undefined;
    await lookUntil({ withinMs: limitMs, everyMs: LOOK_EVERY_MS }, isSettled);
    for (const change of plan.changes) {
      if (isOver(board.find(change.number))) continue;
      const entry = await client.get(change, { includeExplanation: true });
      violations.add(`#${change.number} is undecided: ${entry?.state}. ${entry?.explanation?.summary}`);
    }
    onProgress(`${countStates(plan, board)} on ${line.branch}`);
    return await watch.stop();
  } finally {
    clearInterval(report);
    await board.stop().catch(() => undefined);
  }
}

/** Adds up how long the queue holds because the branch seems to fail. An administrator who knows better resumes it. */
function watchRed({ client, line, resumeAfterMs }: Suite): { stop(): Promise<Suspicion> } {
  let isOver = false;
  const watching = (async () => {
    const suspicion = { ms: 0, times: 0 };
    let resumesAt = Number.POSITIVE_INFINITY;
    for (let before = performance.now(); !isOver; ) {
      const { held } = await client.getQueue(line);
      const isRed = held?.kind === 'RED_BRANCH';
      if (isRed && resumesAt === Number.POSITIVE_INFINITY) {
        suspicion.times += 1;
        resumesAt = before + resumeAfterMs;
      }
      if (!isRed) resumesAt = Number.POSITIVE_INFINITY;
      if (before > resumesAt) await client.call('updateQueue', { ...queueOf(line), state: 'RUNNING' });
      await pause(LOOK_EVERY_MS);
      const now = performance.now();
      if (isRed) suspicion.ms += now - before;
      before = now;
    }
    return suspicion;
  })();
  watching.catch(() => undefined);
  return {
    stop: () => {
      isOver = true;
      return watching;
    },
  };
}
