import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CgroupFolder } from '../../../test/fake/cgroup-folder.ts';
import { aRunner, findWorkingProtections } from '../../../test/helpers/local-runner.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import type { Job } from '../runner.ts';
import { ControlGroups, type Limits, openControlGroups } from './control-groups.ts';

const LIMITS: Limits = { memory: '512M', cpus: 1.5 };
const NEVER = new AbortController().signal;
const KINDS = await findWorkingProtections();

let parent = '';
const folders: CgroupFolder[] = [];
before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sluice-cgroup-'));
  await chmod(parent, 0o755);
});
afterEach(() => {
  for (const folder of folders) folder.close();
});
after(() => rm(parent, { recursive: true }));

function aFolder(options?: ConstructorParameters<typeof CgroupFolder>[1]): CgroupFolder {
  const folder = new CgroupFolder(join(parent, String(folders.length)), options);
  folders.push(folder);
  return folder;
}

/** With the warnings of a server at its start. */
async function open(own: string | undefined, limits = LIMITS) {
  const warnings: string[] = [];
  const warn = (_: unknown, text: string) => void warnings.push(text);
  const groups = await openControlGroups(limits, { log: { ...silentLog, warn } as typeof silentLog, own });
  return { groups, warnings };
}

describe('control groups of checks', () => {
  it('are set up when the server has moved beneath its own, once for each of its processes [R101]', async () => {
    const child = spawn('/bin/sleep', ['1000']);
    const own = aFolder({ processes: [process.pid, child.pid ?? 0] });
    const { groups, warnings } = await open(own.path);
    assert.ok(groups !== undefined);
    assert.deepEqual(own.processesOf(''), []);
    assert.deepEqual(own.processesOf('server'), [process.pid, child.pid]);
    await (await groups.create()).remove();
    assert.equal(own.read('', 'cgroup.subtree_control'), 'memory cpu');
    assert.deepEqual([warnings, own.refused], [[], []]);
    child.kill();
  });

  it('of a server that died are removed, with the processes in them [R99]', async () => {
    const own = aFolder();
    const stray = spawn('/bin/sleep', ['1000']);
    const exited = once(stray, 'exit');
    await mkdir(join(own.path, 'check-old'));
    await writeFile(join(own.path, 'check-old', 'cgroup.procs'), `${stray.pid}\n`);
    await open(own.path);
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    assert.deepEqual(own.names, ['server']);
  });

  it('limit memory or processors alone, as the settings say, with the files that the kernel has [R99]', async () => {
    const limits: readonly [Limits, controllers: string, expected: Readonly<Record<string, string>>][] = [
      [{ memory: undefined, cpus: 0.5 }, 'cpu', { 'cpu.max': '50000 100000' }],
      [
        { memory: '4G', cpus: undefined },
        'memory',
        { 'memory.max': '4G', 'memory.swap.max': '0', 'memory.oom.group': '1', 'memory.events': '' },
      ],
    ];
    for (const [wanted, controllers, expected] of limits) {
      const own = aFolder({ controllers });
      const { groups, warnings } = await open(own.path, wanted);
      assert.deepEqual(warnings, []);
      await (await groups?.create())?.remove();
      const [files = {}] = own.gone;
      const set = Object.entries(files).filter(([file]) => !file.startsWith('cgroup.'));
      assert.deepEqual(Object.fromEntries(set), expected);
    }
  });

  it('are left out with a warning that says why and what helps, and nothing is moved [R101]', async () => {
    const closed = aFolder({ controllers: 'cpu pids' });
    const shared = aFolder({ processes: [process.pid, process.ppid] });
    const root = aFolder();
    await rm(join(root.path, 'cgroup.kill'));
    const cases: readonly [own: string, why: RegExp][] = [
      [join(parent, 'nothing'), /There is no cgroup v2 at \S+\. /],
      [root.path, / has no cgroup\.kill\. /],
      [closed.path, / has no controller memory\. /],
      [shared.path, / has other processes than those of the server\. /],
    ];
    for (const [own, why] of cases) {
      const { groups, warnings } = await open(own);
      assert.equal(groups, undefined);
      assert.match(
        warnings.join(),
        /^Checks run without SLUICE_RUNNER_MEMORY and SLUICE_RUNNER_CPUS\. .*Delegate=memory cpu/,
      );
      assert.match(warnings.join(), why);
    }
    assert.deepEqual([shared.names, closed.names], [[], []]);
  });

  it('are left out where the server cannot write to its own [R101]', { skip: process.getuid?.() !== 0 }, async () => {
    const own = aFolder();
    const script = `
      import { openControlGroups } from ${JSON.stringify(import.meta.resolve('./control-groups.ts'))};
      process.setgid(61050); process.setuid(61050);
      const log = { warn: (_, text) => console.log(text) };
      await openControlGroups({ memory: '1G' }, { log, own: ${JSON.stringify(own.path)} });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    assert.match(stdout, / is not delegated: the server cannot write to it\. /);
  });

  it('are no matter where nothing limits a check [R101]', async () => {
    const { groups, warnings } = await open(undefined, { memory: undefined, cpus: undefined });
    assert.deepEqual([groups, warnings], [undefined, []]);
  });
});

/** Of this machine, as far as the server itself sees it. */
const HAS_V2 = existsSync('/sys/fs/cgroup/cgroup.controllers');

describe('a machine without cgroup v2', { skip: HAS_V2 }, () => {
  it('runs checks without limits, and says so [R101]', async () => {
    const { groups, warnings } = await open(undefined);
    assert.equal(groups, undefined);
    assert.match(warnings.join(), /There is no cgroup v2 at \/sys\/fs\/cgroup/);
  });
});

/** A hierarchy of the kernel, with whatever controllers, in which groups can be made. */
function findHierarchy(): string | undefined {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').matchAll(/^\S+ (\S+) cgroup2 rw/gm);
  return [...mounts].map(([, path = '']) => path).find(isWritable);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const hierarchy = process.platform === 'linux' ? findHierarchy() : undefined;

describe('a control group of the kernel', { skip: hierarchy === undefined }, () => {
  it('takes a process, ends its children too and is removed [R99]', async () => {
    const one = await new ControlGroups(hierarchy ?? '', []).create();
    const child = spawn('/bin/sh', ['-c', 'read -r _; setsid sleep 1000 & cat /proc/self/cgroup; wait']);
    const exited = once(child, 'exit');
    await one.admit(child.pid ?? 0);
    child.stdin.write('\n');
    const [told] = await once(child.stdout, 'data');
    assert.match(String(told), /^0::\/.*check-/m);
    assert.equal(await one.hasOutgrownMemory(), false);
    assert.equal(await one.remove(), true);
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    await one.admit(child.pid ?? 0).catch((error: NodeJS.ErrnoException) => assert.equal(error.code, 'ENOENT'));
  });
});

for (const kind of KINDS)
  describe(`checks with limits (${kind})`, () => {
    let own: CgroupFolder;
    let runner: Awaited<ReturnType<typeof aRunner>>;
    beforeEach(async () => {
      own = aFolder();
      runner = await aRunner(kind, { limits: LIMITS, ownGroup: own.path });
    });
    afterEach(() => runner.close());

    const run = async (command: string, more: Partial<Job> = {}, stop = NEVER) => {
      const end = await runner.runner.run({ ...aJob(command), ...more }, stop);
      assert.deepEqual([own.refused, own.names], [[], ['server']]);
      return end;
    };
    const nameOfCheck = () => own.names.find((name) => name.startsWith('check-')) ?? '';

    it('join their group before their command begins, and leave none [R99]', async () => {
      const seen: string[] = [];
      const onOutput = async () => {
        seen.push(...['memory.max', 'cpu.max'].map((file) => own.read(nameOfCheck(), file)));
        assert.equal(own.processesOf(nameOfCheck()).length, 1);
      };
      assert.deepEqual(await run('echo begun; sleep 0.1; exit 3', { onOutput }), { kind: 'exited', code: 3 });
      assert.deepEqual(seen, ['512M', '150000 100000']);
    });

    it('say that they needed more memory, if the kernel killed them at their limit [R100]', async () => {
      const onOutput = async () => own.endForMemory(nameOfCheck(), true);
      assert.deepEqual(await run('echo begun; sleep 1000', { onOutput }), { kind: 'out_of_memory', memory: '512M' });
    });

    it('say another end where the machine had no memory left, or the command went on [R100]', async () => {
      const endAll = async () => own.endForMemory(nameOfCheck(), false);
      const end = await run('echo begun; sleep 1000', { onOutput: endAll });
      assert.deepEqual(end, { kind: 'killed', signal: 'SIGKILL' });
      const told = async () => writeFile(join(own.path, nameOfCheck(), 'memory.events'), 'oom 1\noom_kill 1\n');
      assert.deepEqual(await run('echo begun; sleep 0.1', { onOutput: told }), { kind: 'exited', code: 0 });
    });

    it('end as before when they are stopped [R99]', async () => {
      const stop = new AbortController();
      const onOutput = async () => stop.abort();
      assert.deepEqual(await run('echo begun; sleep 1000', { onOutput }, stop.signal), { kind: 'stopped' });
    });

    it('are tried again where no group can be made [R99]', async () => {
      own.close();
      await rm(own.path, { recursive: true });
      await assert.rejects(run('true'), /The control group of a check could not be made: ENOENT/);
    });
  });

function aJob(command: string): Job {
  return {
    ...{ rank: 0, share: 'a', command, timeoutMs: 60_000, network: false, variables: {} },
    prepare: async () => undefined,
    onStart: async () => undefined,
    onOutput: async () => undefined,
  };
}
