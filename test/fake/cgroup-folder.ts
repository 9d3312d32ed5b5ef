import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kill, readStat } from '../../src/lib/proc.ts';

const TICK_MS = 1;
const AT_LIMIT = 'low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\noom_group_kill 1\n';
const OF_MACHINE = 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n';

/**
 * A folder that behaves like a delegated control group: what is written to its files happens within a tick. It holds
 * processes by their number alone, and knows no children of theirs.
 */
export class CgroupFolder {
  readonly path: string;
  /** Writes that the kernel would have refused. */
  readonly refused: string[] = [];
  /** The files of each group of a check that is gone, as they were at the end. */
  readonly gone: Readonly<Record<string, string>>[] = [];
  readonly #groups = new Map<string, Set<number>>();
  readonly #timer: NodeJS.Timeout;

  constructor(path: string, { controllers = 'cpu io memory pids', processes = [process.pid] } = {}) {
    this.path = path;
    mkdirSync(path);
    this.#fill('', controllers);
    this.#groups.set('', new Set(processes));
    this.#list();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  get names(): readonly string[] {
    return readdirSync(this.path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  }

  /** The living ones, with those that were written just now. */
  processesOf(name: string): readonly number[] {
    this.#tick();
    return this.#livingIn(name);
  }

  #livingIn(name: string): readonly number[] {
    return [...(this.#groups.get(name) ?? [])].filter((pid) => !['Z', 'X', undefined].includes(readStat(pid).state));
  }

  read(name: string, file: string): string {
    return readFileSync(join(this.path, name, file), 'utf8');
  }

  /** The kernel ends all processes of the group, at its own limit or because the machine has no memory left. */
  endForMemory(name: string, isOwnLimit: boolean): void {
    writeFileSync(join(this.path, name, 'memory.events'), isOwnLimit ? AT_LIMIT : OF_MACHINE);
    for (const pid of this.processesOf(name)) kill(-pid, 'SIGKILL');
  }

  #fill(name: string, controllers: string): void {
    const has = (one: string) => controllers.split(' ').includes(one);
    const files = {
      ...{ 'cgroup.controllers': controllers, 'cgroup.subtree_control': '', 'cgroup.procs': '', 'cgroup.kill': '' },
      ...(has('memory') && { 'memory.max': 'max', 'memory.events': '' }),
      ...(has('memory') && { 'memory.swap.max': 'max', 'memory.oom.group': '0' }),
      ...(has('cpu') && { 'cpu.max': 'max 100000' }),
    };
    for (const [file, text] of Object.entries(files))
      if (!existsSync(join(this.path, name, file))) writeFileSync(join(this.path, name, file), text);
  }

  /** Others only append to the lists of the groups beneath, which are therefore not written again. */
  #list(): void {
    const text = this.#livingIn('')
      .map((pid) => `${pid}\n`)
      .join('');
    if (this.read('', 'cgroup.procs') !== text) writeFileSync(join(this.path, 'cgroup.procs'), text);
  }

  #tick(): void {
    this.#enable();
    for (const name of this.names) {
      if (!this.#groups.has(name)) this.#make(name);
      this.#move(name);
      if (this.read(name, 'cgroup.kill') !== '') this.#kill(name);
    }
    this.#list();
  }

  #enable(): void {
    const written = this.read('', 'cgroup.subtree_control');
    if (!written.includes('+')) return;
    if (this.#livingIn('').length > 0) this.refused.push('EBUSY: the group has processes');
    writeFileSync(join(this.path, 'cgroup.subtree_control'), written.replaceAll('+', ''));
  }

  #make(name: string): void {
    const controllers = this.read('', 'cgroup.subtree_control');
    const early = readdirSync(join(this.path, name)).filter((file) => /^(?:memory|cpu)\./.test(file));
    for (const file of early)
      if (!controllers.includes(file.split('.')[0] ?? '')) this.refused.push(`EACCES: ${name}/${file}`);
    this.#groups.set(name, new Set());
    this.#fill(name, controllers);
  }

  #move(name: string): void {
    const pids = this.#groups.get(name) ?? new Set();
    for (const line of this.read(name, 'cgroup.procs').split('\n')) {
      if (line === '' || pids.has(Number(line))) continue;
      for (const held of this.#groups.values()) held.delete(Number(line));
      pids.add(Number(line));
    }
  }

  /** As long as one of its processes lives, the group cannot be removed. */
  #kill(name: string): void {
    for (const pid of this.#livingIn(name)) kill(pid, 'SIGKILL');
    if (this.#livingIn(name).length > 0) return;
    const folder = join(this.path, name);
    this.gone.push(Object.fromEntries(readdirSync(folder).map((file) => [file, this.read(name, file)])));
    rmSync(folder, { recursive: true });
    this.#groups.delete(name);
  }
}
