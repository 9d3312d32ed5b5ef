import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import type { Job, JobEnd, Runner } from '../runner.ts';
import { findLeftFiles, markTime } from './left-files.ts';
import { ProcessTree, type TreeExit } from './process-tree.ts';
import { Turns } from './turns.ts';
import { findUser, type User } from './user.ts';
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

export interface LocalRunnerOptions {
  /** Where jobs have their folders. The user they run as must be able to reach it. */
  readonly folder: string;
  /** How many at once. */
  readonly jobs: number;
  /** Whom commands run as, where that is somebody else. */
  readonly user: string | undefined;
  readonly log: Log;
}

/** Passed on from the server; nothing else of its environment is. */
const PASSED = ['PATH', 'LANG', 'LC_ALL', 'TZ'];

/** Runs jobs as processes of this machine. First it removes what a runner that died left in the same folder. */
export async function createLocalRunner(options: LocalRunnerOptions): Promise<Runner> {
  const { folder, jobs, log } = options;
  const user = options.user === undefined ? undefined : await findUser(options.user);
  const removed = await removeLeftovers(folder);
  if (removed > 0) log.info({ removed }, 'removed what checks of a server that died had left behind');
  return new LocalRunner({ user, jobs, log, work: await createWorkFolder(folder, randomUUID()) });
}

interface Parts {
  readonly user: User | undefined;
  readonly jobs: number;
  readonly log: Log;
  readonly work: WorkFolder;
}

class LocalRunner implements Runner {
  readonly #parts: Parts;
  readonly #turns: Turns;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #count = 0;
  #hasWarned = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#turns = new Turns(parts.jobs);
  }

  get isCrowded(): boolean {
    return this.#turns.isCrowded;
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
    await removeWorkFolder(this.#parts.work.path).catch(() => undefined);
  }

  async #runInTurn(job: Job, stop: AbortSignal): Promise<JobEnd> {
    const giveBack = await this.#turns.take(job, stop);
    if (giveBack === undefined) return { kind: 'stopped' };
    this.#warnOnce();
    this.#count += 1;
    const name = String(this.#count);
    try {
      return await this.#runInFolder(job, name, stop);
    } finally {
      giveBack();
    }
  }

  async #runInFolder(job: Job, name: string, stop: AbortSignal): Promise<JobEnd> {
    const { work, user, log } = this.#parts;
    const folder = await createJobFolder(work, name);
    try {
      const problem = await job.prepare({ folder: folder.tree, isIsolated: user !== undefined });
      if (problem !== undefined) return { kind: 'impossible', problem };
      if (user !== undefined) await giveTo(user, folder);
      if (stop.aborted) return { kind: 'stopped' };
      const since = job.reports === undefined ? undefined : await markTime(join(work.path, `${name}.started`));
      await job.onStart();
      const end = await this.#execute(job, folder, { mark: `${work.mark}.${name}.`, stop });
      if (since !== undefined && end.kind === 'exited') await this.#handOver(job, folder, since);
      return end;
    } finally {
      // What cannot be removed now is removed when the server starts again.
      await removeFolder(folder.path).catch((error: unknown) =>
        log.warn({ err: error }, 'could not remove the folder of a check'),
      );
    }
  }

  /** What was cut off left nothing that can be relied on; what ended by itself did. */
  async #handOver({ reports }: Job, { tree }: JobFolder, since: bigint): Promise<void> {
    if (reports === undefined) return;
    const { globs } = reports;
    await reports.take(await findLeftFiles({ folder: tree, globs, since, user: this.#parts.user }));
  }

  async #execute(
    job: Job,
    folder: JobFolder,
    { mark, stop }: { readonly mark: string; readonly stop: AbortSignal },
  ): Promise<JobEnd> {
    const tree = new ProcessTree({
      command: job.command,
      folder: folder.tree,
      environment: { ...this.#environment(folder), ...job.variables },
      mark,
      user: this.#parts.user,
      onOutput: (bytes) => job.onOutput(bytes),
    });
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
      return isTimedOut ? { kind: 'timed_out' } : endOf(exit);
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    }
  }

  #environment({ home, temporary }: JobFolder): Record<string, string> {
    const name = this.#parts.user?.name;
    const passed = PASSED.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]]));
    return {
      LANG: 'C.UTF-8',
      ...(Object.fromEntries(passed) as Record<string, string>),
      ...(name === undefined ? {} : { USER: name, LOGNAME: name }),
      SHELL: '/bin/sh',
      HOME: home,
      TMPDIR: temporary,
    };
  }

  #warnOnce(): void {
    if (this.#hasWarned || this.#parts.user !== undefined) return;
    this.#hasWarned = true;
    this.#parts.log.warn(
      {},
      'checks run as the user of the server and can read whatever it can read; set SLUICE_RUNNER_USER to another user where the code under test is not trusted',
    );
  }
}

function endOf({ code, signal }: TreeExit): JobEnd {
  if (code !== null) return { kind: 'exited', code };
  if (signal !== null) return { kind: 'killed', signal };
  throw new Fault('RUNNER_UNAVAILABLE', 'A check ended in a way that this system does not tell.');
}
