import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { readStat } from '../../lib/proc.ts';

/** The most that one check may use. */
export interface Limits {
  /** As the kernel reads it: 4G. */
  readonly memory: string | undefined;
  readonly cpus: number | undefined;
}

const HIERARCHY = '/sys/fs/cgroup';
/** A group with controllers for its children has no processes of its own, so the server moves to a child. */
const SERVER = 'server';
const CHECK = 'check-';
const PERIOD_US = 100_000;
const MAX_MOVES = 100;
/** About two seconds. A process that waits for a disk may take long to die. */
const MAX_REMOVALS = 100;
const REMOVE_EVERY_MS = 20;

const REMEDY =
  'They need Linux 5.14 with cgroup v2, and `Delegate=memory cpu` and `ProtectControlGroups=no` in the systemd unit of the server, as in deploy/systemd/runner.conf.';

/** Undefined without limits, and where this machine cannot keep them. `own` is the server's control group. */
// SPEC R101
export async function openControlGroups(
  limits: Limits,
  { log, own }: { readonly log: Log; readonly own?: string | undefined },
): Promise<ControlGroups | undefined> {
  if (limits.memory === undefined && limits.cpus === undefined) return undefined;
  const opened = await open(limits, own ?? (await findOwn())).catch((error: Error) => `${error.message}.`);
  if (typeof opened !== 'string') {
    log.info({ ...limits }, 'each check has a control group with limits');
    return opened;
  }
  log.warn({ ...limits }, `Checks run without SLUICE_RUNNER_MEMORY and SLUICE_RUNNER_CPUS. ${opened} ${REMEDY}`);
  return undefined;
}

async function findOwn(): Promise<string> {
  const [, path = ''] = /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8').catch(() => '')) ?? [];
  return join(HIERARCHY, path);
}

/** The groups, or a sentence why there are none. */
async function open(limits: Limits, own: string): Promise<ControlGroups | string> {
  const files = await readdir(own).catch((): string[] => []);
  if (!files.includes('cgroup.controllers')) return `There is no cgroup v2 at ${own}.`;
  // The root of a machine has no such file either.
  if (!files.includes('cgroup.kill')) return `${own} has no cgroup.kill.`;
  const settings = settingsFor(limits, files);
  const wanted = [...new Set(settings.map(([file]) => file.split('.')[0] ?? ''))];
  const given = (await read(own, 'cgroup.controllers')).split(/\s+/);
  const lacking = wanted.filter((controller) => !given.includes(controller));
  if (lacking.length > 0) return `${own} has no controller ${lacking.join(', ')}.`;
  const written = ['.', 'cgroup.procs', 'cgroup.subtree_control'].map((file) =>
    access(join(own, file), constants.W_OK),
  );
  const isOpen = (await Promise.allSettled(written)).every(({ status }) => status === 'fulfilled');
  if (!isOpen) return `${own} is not delegated: the server cannot write to it.`;
  if (!(await moveServer(own))) return `${own} has other processes than those of the server.`;
  await writeFile(join(own, 'cgroup.subtree_control'), wanted.map((controller) => `+${controller}`).join(' '));
  const left = files.filter((name) => name.startsWith(CHECK));
  await Promise.all(left.map((name) => new ControlGroup(join(own, name)).remove()));
  return new ControlGroups(own, settings);
}

/** Not every kernel has each file. The server's group has those of the groups beneath. */
function settingsFor({ memory, cpus }: Limits, files: readonly string[]): readonly (readonly [string, string])[] {
  const more = [['memory.swap.max', '0'] as const, ['memory.oom.group', '1'] as const];
  return [
    ...(memory === undefined
      ? []
      : [['memory.max', memory] as const, ...more.filter(([file]) => files.includes(file))]),
    ...(cpus === undefined ? [] : [['cpu.max', `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}`] as const]),
  ];
}

/** False if others are in the group: a login session, for example, is not the server's to arrange. */
async function moveServer(own: string): Promise<boolean> {
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    const pids = (await read(own, 'cgroup.procs')).split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]));
    if (pids.length === 0) return true;
    if (!pids.every(isOfServer)) return false;
    await mkdir(join(own, SERVER), { recursive: true });
    for (const pid of pids) await new ControlGroup(join(own, SERVER)).admit(pid);
  }
  return false;
}

function isOfServer(pid: number): boolean {
  const { startedAt, parent } = readStat(pid);
  return pid === process.pid || startedAt === undefined || (parent > 0 && isOfServer(parent));
}

function read(group: string, file: string): Promise<string> {
  return readFile(join(group, file), 'utf8');
}

export class ControlGroups {
  readonly #own: string;
  readonly #settings: readonly (readonly [file: string, value: string])[];

  constructor(own: string, settings: readonly (readonly [string, string])[]) {
    this.#own = own;
    this.#settings = settings;
  }

  // SPEC R99
  async create(): Promise<ControlGroup> {
    const folder = join(this.#own, `${CHECK}${randomUUID()}`);
    const group = new ControlGroup(folder);
    try {
      await mkdir(folder);
      for (const [file, value] of this.#settings) await writeFile(join(folder, file), value);
      return group;
    } catch (cause) {
      await group.remove();
      const { message } = cause as Error;
      throw new Fault('RUNNER_UNAVAILABLE', `The control group of a check could not be made: ${message}.`, { cause });
    }
  }
}

export class ControlGroup {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A process that is gone stays out. */
  async admit(pid: number): Promise<void> {
    await writeFile(join(this.#folder, 'cgroup.procs'), `${pid}\n`, { flag: 'a' }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    });
  }

  /** True if the kernel killed a process of the group because of the group's own limit, not because of the machine's. */
  // SPEC R100
  async hasOutgrownMemory(): Promise<boolean> {
    const events = await read(this.#folder, 'memory.events').catch(() => '');
    return /^oom [1-9]/m.test(events) && /^oom_kill [1-9]/m.test(events);
  }

  /** Ends what is in it. False if that does not end. */
  // SPEC R99
  async remove(): Promise<boolean> {
    for (let tried = 0; tried < MAX_REMOVALS; tried += 1) {
      await writeFile(join(this.#folder, 'cgroup.kill'), '1').catch(() => undefined);
      const problem = await rmdir(this.#folder).catch((error: NodeJS.ErrnoException) => error.code);
      if (problem === undefined || problem === 'ENOENT') return true;
      await pause(REMOVE_EVERY_MS);
    }
    return false;
  }
}
