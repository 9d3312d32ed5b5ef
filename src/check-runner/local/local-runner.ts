import { hash, randomUUID } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { CheckCaches, CheckRunner, Job, JobEnd, ProtectionKind, RunnerSafety } from '../runner.ts';
import { CacheFolder } from './cache-folder.ts';
import { type Choice, chooseProtection, type ProtectionOptions } from './choose-protection.ts';
import { type ControlGroup, type ControlGroups, type Limits, openControlGroups } from './control-groups.ts';
import { beginCache, type UsedCache } from './job-cache.ts';
import { findLeftFiles, markTime } from './left-files.ts';
import { innerMarkOf, ProcessTree, type TreeExit } from './process-tree.ts';
import type { Protection, Wrapped } from './protection.ts';
import { createToolFinder, type ToolFinder } from './tools.ts';
import type { User } from './user.ts';
import {
  createJobFolder,
  createWorkFolder,
  giveTo,
  type JobFolder,
  removeFolder,
  removeLeftovers,
  removeWorkFolder,
  type WorkFolder,
} from './work-folder.ts';

export interface LocalRunnerOptions extends ProtectionOptions {
  /** Parent of the job folders. The users of the commands must be able to reach it. */
  readonly folder: string;
  readonly jobs: number;
  /** True when commands run without any protection of the server. */
  readonly trustsAll: boolean;
  /** The folder of the caches of checks, and how much they may take. */
  readonly kept: { readonly folder: string; readonly limitBytes: number };
  readonly limits: Limits;
  /** The control group of the server, where it is not the kernel that says which. */
  readonly ownGroup?: string;
  readonly log: Log;
}

/** With PATH the only variables that commands inherit from the server. */
const PASSED = ['LANG', 'LC_ALL', 'TZ'];

/** Runs jobs as processes of this machine. At start it removes the leftovers of a crashed runner in the same folder. */
export async function createLocalRunner(options: LocalRunnerOptions): Promise<CheckRunner> {
  const { folder, jobs, log, trustsAll } = options;
  const removed = await removeLeftovers(folder, options.uids);
  if (removed > 0) log.info({ removed }, 'removed leftovers of crashed check runners');
  const work = await createWorkFolder(folder, randomUUID());
  try {
    const choice = await chooseProtection(work, options);
    const safety = safetyOf(choice, trustsAll);
    const say = safety.protection === 'none' ? log.warn : log.info;
    say.call(log, { protection: safety.protection, tried: choice.problems }, safety.sentence);
    const { protection } = choice;
    const atOnce = Math.min(jobs, protection.users?.size ?? jobs);
    // SPEC R86
    const limitBytes = safety.closesNetwork ? options.kept.limitBytes : 0;
    const caches = new CacheFolder({ ...options.kept, limitBytes, log });
    await caches.open();
    const canRead = (path: string) => protection.canRead(path);
    const programs = createToolFinder({ path: process.env['PATH'] ?? '', tools: options.tools, canRead });
    const { memory } = options.limits;
    const groups = await openControlGroups(options.limits, { log, own: options.ownGroup });
    return new LocalRunner({ protection, safety, jobs: atOnce, log, work, caches, groups, memory, programs });
  } catch (error) {
    await removeWorkFolder(work.path).catch(() => undefined);
    throw error;
  }
}

const SENTENCES: { readonly [Kind in ProtectionKind]: string } = {
  bubblewrap: 'Each check runs in a sandbox of its own (bubblewrap), without network unless it asks for it.',
  namespaces: 'Each check runs in a sandbox of its own (namespaces), without network unless it asks for it.',
  users: 'Each check runs as a user of its own, without a sandbox: the network and readable files are open to it.',
  none: 'Nothing keeps checks from the files of this server.',
};

function safetyOf({ protection, problems }: Choice, trustsAll: boolean): RunnerSafety {
  const { kind } = protection;
  const isWeak = kind === 'users' || kind === 'none';
  const why = isWeak && problems.length > 0 ? ` Tried: ${problems.join(' ')}` : '';
  return {
    protection: kind,
    sentence: `${SENTENCES[kind]}${why}`,
    runsUntrusted: kind !== 'none' || trustsAll,
    closesNetwork: kind === 'bubblewrap' || kind === 'namespaces',
  };
}

interface Parts {
  readonly protection: Protection;
  readonly safety: RunnerSafety;
  readonly jobs: number;
  readonly log: Log;
  readonly work: WorkFolder;
  readonly caches: CacheFolder;
  readonly groups: ControlGroups | undefined;
  readonly memory: string | undefined;
  readonly programs: ToolFinder;
}

class LocalRunner implements CheckRunner {
  readonly safety: RunnerSafety;
  readonly #parts: Parts;
  readonly #turns: Semaphore<Wish>;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.safety = parts.safety;
    this.#turns = createTurns(parts.jobs);
  }

  get caches(): CheckCaches {
    return this.#parts.caches;
  }

  get isCrowded(): boolean {
    return this.#turns.isCrowded;
  }

  explainMissing(program: string | undefined): Promise<string> {
    return this.#parts.programs.explain(program);
  }

  run(job: Job, stop: AbortSignal): Promise<JobEnd> {
    const work = this.#runInTurn(job, AbortSignal.any([stop, this.#closing.signal]));
    this.#underWay.add(work);
    const drop = () => this.#underWay.delete(work);
    work.then(drop, drop);
    return work;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#underWay);
    const { path } = this.#parts.work;
    await removeWorkFolder(path).catch(() => undefined);
    // Stays where another server of the same folder has its own.
    await rmdir(dirname(path)).catch(() => undefined);
  }

  async #runInTurn(job: Job, stop: AbortSignal): Promise<JobEnd> {
    const giveBack = await this.#turns.take(job, stop);
    if (giveBack === undefined) return { kind: 'stopped' };
    try {
      return await this.#runAsUser(job, stop);
    } finally {
      giveBack();
    }
  }

  async #runAsUser(job: Job, stop: AbortSignal): Promise<JobEnd> {
    const { users } = this.#parts.protection;
    if (users === undefined) return this.#runInFolder(job, { user: undefined, stop });
    const user = await users.take();
    try {
      return await this.#runInFolder(job, { user, stop });
    } finally {
      await users.clear(user);
      await users.giveBack(user);
    }
  }

  async #runInFolder(job: Job, whom: Whom): Promise<JobEnd> {
    const { work, protection, log, programs } = this.#parts;
    const { user, stop } = whom;
    const name = randomUUID();
    const folder = await createJobFolder(work, name);
    const mark = `${work.mark}.${name}.`;
    let cache: UsedCache | undefined;
    try {
      const problem = await job.prepare({ folder: folder.tree, isIsolated: protection.kind !== 'none' });
      if (problem !== undefined) return { kind: 'impossible', problem };
      const tools = await programs.find(job.tools ?? []);
      const missing = tools.find(({ path }) => path === undefined)?.name;
      if (missing !== undefined) return { kind: 'impossible', problem: await this.#lacks(missing) };
      cache = await beginCache(this.#parts.caches, job, { tree: folder.tree, tools });
      if (job.cache?.use === 'fill' && cache?.isWanted !== true) return { kind: 'stopped' };
      if (user !== undefined) await giveTo(user, folder);
      if (stop.aborted) return { kind: 'stopped' };
      const since = job.reports === undefined ? undefined : await markTime(join(work.path, `${name}.started`));
      await job.onStart();
      const place = { ...{ protection, folder, user, stop }, environment: passedOn(programs) };
      const hit = await cache?.restore({ ...place, mark: `${work.mark}.${name}-unpack.` });
      const known = hit === undefined ? job : { ...job, variables: { ...job.variables, SLUICE_CACHE_HIT: hit } };
      const end = await this.#execute(known, folder, { ...whom, mark });
      // The files are read and removed only when no process of the user can change them any more.
      if (user !== undefined) await protection.users?.clear(user);
      if (since !== undefined && end.kind === 'exited')
        await handOver(job, folder, { since, user, root: protection.treeOf(folder) });
      if (end.kind === 'exited' && end.code === 0) await cache?.keep({ ...place, mark: `${work.mark}.${name}-pack.` });
      return end;
    } finally {
      await cache?.close();
      // If this fails, the next start of the server removes the folder.
      await removeFolder(folder.path).catch((error: unknown) =>
        log.warn({ err: error }, 'could not remove check folder'),
      );
    }
  }

  // SPEC R90
  async #lacks(program: string): Promise<string> {
    return `The check needs ${program}, which it does not find. ${await this.explainMissing(program)}`;
  }

  async #execute(job: Job, folder: JobFolder, of: Execution): Promise<JobEnd> {
    const { groups, log } = this.#parts;
    const group = await groups?.create();
    try {
      return await this.#executeIn(group, job, folder, of);
    } finally {
      if ((await group?.remove()) === false) log.warn({}, 'could not remove the control group of a check');
    }
  }

  async #executeIn(group: ControlGroup | undefined, job: Job, folder: JobFolder, of: Execution): Promise<JobEnd> {
    const { user, mark, stop } = of;
    const wrapped = await this.#wrap(job, folder, mark);
    const environment = { ...passedOn(this.#parts.programs), ...wrapped.variables, ...job.variables };
    const onOutput = (bytes: Buffer) => job.onOutput(bytes);
    const tree = new ProcessTree({ wrapped, folder: folder.tree, environment, mark, user, group, onOutput });
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      tree.stop();
    }, job.timeoutMs);
    const onStop = () => tree.stop();
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
    try {
      const exit = await tree.end();
      if (stop.aborted) return { kind: 'stopped' };
      if (isTimedOut) return { kind: 'timed_out' };
      const { memory } = this.#parts;
      if (memory !== undefined && exit.code !== 0 && (await group?.hasOutgrownMemory()) === true)
        return { kind: 'out_of_memory', memory };
      if (tree.complaint !== undefined) throw noSandbox(tree.complaint);
      return endOf(exit, this.safety.closesNetwork);
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    }
  }

  async #wrap(job: Job, folder: JobFolder, mark: string): Promise<Wrapped> {
    const { command, args, network, userNamespaces = false } = job;
    try {
      return await this.#parts.protection.wrap({
        command,
        args,
        network,
        userNamespaces,
        folder,
        mark: innerMarkOf(mark),
      });
    } catch (cause) {
      // A folder to be mounted does not exist.
      throw noSandbox((cause as Error).message, cause);
    }
  }
}

interface Whom {
  readonly user: User | undefined;
  readonly stop: AbortSignal;
}

interface Execution extends Whom {
  readonly mark: string;
}

/** Reports are taken only from a command that ended by itself. A stopped one may have written half of them. */
// SPEC R37
async function handOver(
  { reports }: Job,
  { tree }: JobFolder,
  { root, ...by }: { readonly since: bigint; readonly user: User | undefined; readonly root: string },
): Promise<void> {
  if (reports === undefined || (await reports.begin?.()) === false) return;
  await reports.take({ root, ...(await findLeftFiles({ folder: tree, globs: reports.globs, ...by })) });
}

// SPEC R2
function passedOn({ path }: ToolFinder): Record<string, string> {
  const passed = PASSED.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]]));
  return { PATH: path, LANG: 'C.UTF-8', ...(Object.fromEntries(passed) as Record<string, string>), SHELL: '/bin/sh' };
}

// SPEC R30
function noSandbox(complaint: string, cause?: unknown): Fault {
  const why = complaint === '' ? 'It says no reason.' : complaint;
  return new Fault('RUNNER_UNAVAILABLE', `The sandbox of a check could not be made. ${why}`, { cause });
}

// SPEC R45
function endOf({ code, signal }: TreeExit, isSandboxed: boolean): JobEnd {
  const told = isSandboxed && code !== null && code > 128 ? signalOf(code - 128) : undefined;
  if (told !== undefined) return { kind: 'killed', signal: told };
  if (code !== null) return { kind: 'exited', code };
  if (signal !== null) return { kind: 'killed', signal };
  throw new Fault('RUNNER_UNAVAILABLE', 'A check ended in a way that this system does not tell.');
}

/** Other numbers are as likely an exit code of the command, such as a count of failed tests. */
const TOLD = ['SIGKILL', 'SIGTERM', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'] as const;

function signalOf(number: number): string | undefined {
  return TOLD.find((name) => constants.signals[name] === number);
}

/** Only the server may enter the data folder. Checks with their own users need a folder elsewhere. */
export function findRunnerFolder(dataFolder: string, wanted: ProtectionKind | undefined): string {
  const haveUsers = process.getuid?.() === 0 && wanted !== 'none';
  return haveUsers
    ? join(tmpdir(), `sluice-runner-${hash('sha256', dataFolder).slice(0, 12)}`)
    : join(dataFolder, 'runner');
}

interface Wish {
  readonly share: string;
  /** Lower ranks go first within a share. */
  readonly rank: number;
}

/** On a tie, the share whose last turn is longest ago; within a share the lowest rank, then the longest wait. */
// SPEC R6
export function createTurns(limit: number): Semaphore<Wish> {
  const lastTurns = new Map<string, number>();
  let given = 0;
  return new Semaphore(limit, (waiting, holding) => {
    const shares = new Set([...waiting, ...holding].map(({ share }) => share));
    for (const share of lastTurns.keys()) if (!shares.has(share)) lastTurns.delete(share);
    const held = Map.groupBy(holding, ({ share }) => share);
    const heldBy = ({ share }: Wish) => held.get(share)?.length ?? 0;
    const lastTurnOf = ({ share }: Wish) => lastTurns.get(share) ?? 0;
    const isBefore = (one: Wish, other: Wish) => {
      if (one.share === other.share) return one.rank < other.rank;
      const more = heldBy(one) - heldBy(other);
      return more === 0 ? lastTurnOf(one) < lastTurnOf(other) : more < 0;
    };
    const chosen = waiting.reduce((best, wish) => (isBefore(wish, best) ? wish : best));
    given += 1;
    lastTurns.set(chosen.share, given);
    return waiting.indexOf(chosen);
  });
}
