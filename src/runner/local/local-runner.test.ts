import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import type { Job, JobEnd, Runner } from '../runner.ts';
import { createLocalRunner } from './local-runner.ts';
import { findMarked } from './marked-processes.ts';
import { removeFolder, removeLeftovers } from './work-folder.ts';

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const NEVER = new AbortController().signal;
const isRoot = process.getuid?.() === 0;

let folder = '';
let runner: Runner;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-runner-'));
  runner = await createLocalRunner({ folder: join(folder, 'jobs'), jobs: 4, user: undefined, log });
});
after(async () => {
  await runner.close();
  await removeFolder(folder);
});

interface Ran {
  readonly end: JobEnd;
  readonly output: string;
}

async function run(command: string, more: Partial<Job> = {}, stop: AbortSignal = NEVER, on = runner): Promise<Ran> {
  const chunks: Buffer[] = [];
  const job: Job = {
    rank: 0,
    share: 'a',
    command,
    timeoutMs: 60_000,
    variables: {},
    prepare: async () => undefined,
    onStart: async () => undefined,
    onOutput: async (bytes) => void chunks.push(bytes),
    ...more,
  };
  const end = await on.run(job, stop);
  return { end, output: Buffer.concat(chunks).toString() };
}

/** Neither a process nor a folder of a job. */
async function assertNothingLeft(): Promise<void> {
  const [mark = ''] = await readdir(join(folder, 'jobs'));
  assert.deepEqual(await readdir(join(folder, 'jobs', mark)), ['owner']);
  assert.deepEqual(await findMarked(mark), []);
}

const exited = (code: number): JobEnd => ({ kind: 'exited', code });

describe('how a command ends', () => {
  const ends: readonly [what: string, command: string, end: JobEnd][] = [
    ['well', 'true', exited(0)],
    ['with a code', 'exit 7', exited(7)],
    ['not found', 'no-such-command-anywhere', exited(127)],
    ['not a program', '/etc/passwd', exited(126)],
    ['no command at all', '', exited(0)],
    ['a syntax error', 'if then', exited(2)],
    ['a signal of its own', 'kill -SEGV $$', { kind: 'killed', signal: 'SIGSEGV' }],
    ['its process group killed by itself', 'kill -KILL 0', { kind: 'killed', signal: 'SIGKILL' }],
    ['its process group ended by itself', 'kill -TERM 0; sleep 1000', { kind: 'killed', signal: 'SIGTERM' }],
    ['its output closed, and going on', 'exec >&- 2>&-; sleep 0.2; exit 3', exited(3)],
    ['its folder removed', 'rm -rf "$PWD" "$HOME" "$TMPDIR"; exit 4', exited(4)],
    ['its folders closed', 'mkdir -p a/b; touch a/b/c; chmod 000 a/b a . "$HOME" "$TMPDIR"; exit 5', exited(5)],
    ['its input at its end', 'test "$(cat)" = "" && ! read line', exited(0)],
    [
      'daemons left behind',
      'setsid sleep 1000 & sleep 1000 & (setsid sh -c "sleep 1000 & sleep 1000" &); true',
      exited(0),
    ],
    [
      'a daemon that ignores signals',
      'setsid sh -c \'trap "" TERM HUP INT; while :; do sleep 1; done\' & exit 6',
      exited(6),
    ],
    ['links out of its folder', 'ln -s / root; ln -s "$PWD" self; ln -s missing broken', exited(0)],
  ];
  for (const [what, command, end] of ends) {
    it(`${what} [R20] [R21]`, async () => {
      assert.deepEqual((await run(command)).end, end);
      await assertNothingLeft();
    });
  }

  it('without its watcher [R20]', { skip: process.platform !== 'linux' }, async () => {
    const command =
      'for f in /proc/[0-9]*; do grep -sq "^PPid:.$$\\$" $f/status && kill -9 $(basename $f); done; exit 8';
    assert.deepEqual((await run(command)).end, exited(8));
    await assertNothingLeft();
  });

  it('with the folders of all checks removed: the next has its own again [R20]', async () => {
    const parent = join(folder, 'removed');
    const other = await createLocalRunner({ folder: parent, jobs: 1, user: undefined, log });
    assert.deepEqual(
      (await run('p=$(dirname "$(dirname "$(dirname "$PWD")")"); cd /; rm -rf "$p"', {}, NEVER, other)).end,
      exited(0),
    );
    const { end, output } = await run('touch file "$HOME/x" "$TMPDIR/x"; ls', {}, NEVER, other);
    assert.deepEqual(end, exited(0));
    assert.equal(output, 'file\n');
    assert.equal(await removeLeftovers(parent), 0, 'it is known again that somebody uses them');
    await other.close();
    assert.deepEqual(await readdir(parent), []);
  });

  it('with many files [R20]', async () => {
    const command = 'mkdir d && cd d && seq 100000 | xargs touch && ls | wc -l';
    const { end, output } = await run(command);
    assert.deepEqual(end, exited(0));
    assert.equal(output.trim(), '100000');
    await assertNothingLeft();
  });

  it('with whatever characters in the command [R21]', async () => {
    const text = `a'b"c\\d$HOME\`x\`;é😀%s`;
    const { end, output } = await run(`cat <<'END'\n${text}\nEND\necho "$VALUE"`, { variables: { VALUE: text } });
    assert.deepEqual(end, exited(0));
    assert.equal(output, `${text}\n${text}\n`);
  });

  it('while somebody who hid from it holds the output [R4]', async () => {
    const hidden = `env -i setsid sh -c 'touch hidden; exec env -i sleep 1000'`;
    const { end, output } = await run(`${hidden} & echo $!; until test -e hidden; do sleep 0.01; done`);
    assert.deepEqual(end, exited(0));
    process.kill(Number(output), 'SIGKILL');
  });
});

describe('a command that does not end', () => {
  for (const [what, command] of [
    ['sleeps', 'sleep 1000'],
    ['ignores SIGTERM', 'trap "" TERM; while :; do sleep 1; done'],
    ['prints for ever', 'yes'],
    ['has closed its output', 'exec >&- 2>&-; sleep 1000'],
    ['is stopped', 'kill -STOP $$'],
    ['starts itself again and again', 'f() { sleep 0.05; f & }; f; sleep 1000'],
  ] as const) {
    it(`${what}: is killed with all it started when its time is over [R4]`, async () => {
      assert.deepEqual((await run(command, { timeoutMs: 200 })).end, { kind: 'timed_out' });
      await assertNothingLeft();
    });
  }

  it('gets the time to tidy up [R4]', async () => {
    const stop = new AbortController();
    let output = '';
    const onOutput = async (bytes: Buffer) => {
      output += bytes.toString();
      stop.abort();
    };
    const command = 'trap "echo tidy; exit 0" TERM; echo begun; while :; do sleep 0.1; done';
    assert.deepEqual((await run(command, { onOutput }, stop.signal)).end, { kind: 'stopped' });
    assert.match(output, /^begun\n.*tidy\n$/s);
  });

  it('is stopped when nobody wants its result, also before it began [R4]', async () => {
    const stop = new AbortController();
    const { end } = await run('echo begun; sleep 1000', { onOutput: async () => stop.abort() }, stop.signal);
    assert.deepEqual(end, { kind: 'stopped' });
    assert.deepEqual((await run('true', {}, AbortSignal.abort())).end, { kind: 'stopped' });
    const late = new AbortController();
    const prepare = async () => void late.abort() as undefined;
    assert.deepEqual((await run('true', { prepare }, late.signal)).end, { kind: 'stopped' });
    await assertNothingLeft();
  });

  it('is stopped when the runner closes, and no folder is left [R7]', async () => {
    const parent = join(folder, 'closing');
    const other = await createLocalRunner({ folder: parent, jobs: 1, user: undefined, log });
    let closing: Promise<void> | undefined;
    const onOutput = async () => {
      closing ??= other.close();
    };
    const [first, waiting] = await Promise.all([
      run('echo begun; sleep 1000', { onOutput }, NEVER, other),
      run('true', {}, NEVER, other),
    ]);
    assert.deepEqual([first.end, waiting.end], [{ kind: 'stopped' }, { kind: 'stopped' }]);
    await closing;
    assert.deepEqual(await readdir(parent), []);
  });
});

describe('what a command sees', () => {
  it('its own folders, and nothing of the environment of the server [R2]', async () => {
    process.env['SLUICE_TEST_SECRET'] = 'secret';
    const prepare = async ({ folder: tree }: { readonly folder: string }) => {
      await writeFile(join(tree, 'file'), 'content\n');
      return undefined;
    };
    const { output } = await run('cat file; env; ls -A "$HOME" "$TMPDIR"', { prepare, variables: { CI: 'true' } });
    assert.match(output, /^content\n/);
    assert.match(output, /^CI=true$/m);
    assert.doesNotMatch(output, /secret/);
    const names = [...output.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    const known = ['CI', 'HOME', 'LANG', 'LC_ALL', 'PATH', 'PWD', 'SHELL', 'SLUICE_JOB', 'TMPDIR', 'TZ', 'OLDPWD'];
    assert.deepEqual(
      names.filter((name) => !known.includes(name as string)),
      [],
    );
  });

  it('runs as somebody else, with folders of its own, which are removed too [R8]', { skip: !isRoot }, async () => {
    const parent = await mkdtemp(join(tmpdir(), 'sluice-runner-'));
    await chmod(parent, 0o711);
    const other = await createLocalRunner({ folder: join(parent, 'jobs'), jobs: 1, user: 'nobody', log });
    try {
      const command = 'id -un; mkdir -p a/b; touch a/b/c "$HOME/x" "$TMPDIR/x"; chmod 000 a/b a; setsid sleep 1000 &';
      const { end, output } = await run(command, {}, NEVER, other);
      assert.deepEqual(end, exited(0));
      assert.equal(output, 'nobody\n');
      const [mark = ''] = await readdir(join(parent, 'jobs'));
      assert.deepEqual(await readdir(join(parent, 'jobs', mark)), ['owner']);
      assert.deepEqual(await findMarked(mark), []);
    } finally {
      await other.close();
      await removeFolder(parent);
    }
  });

  it('runs as somebody else where the server closes what it makes to others [R8]', { skip: !isRoot }, async () => {
    const parent = await mkdtemp(join(tmpdir(), 'sluice-runner-'));
    await chmod(parent, 0o711);
    const before = process.umask(0o077);
    try {
      const other = await createLocalRunner({ folder: join(parent, 'jobs'), jobs: 1, user: 'nobody', log });
      const { end, output } = await run('pwd > "$TMPDIR/file"; cat "$TMPDIR/file"', {}, NEVER, other);
      assert.deepEqual(end, exited(0));
      assert.match(output, /tree\n$/);
      await other.close();
    } finally {
      process.umask(before);
      await removeFolder(parent);
    }
  });
});

describe('a job that cannot be run', () => {
  it('says so where that is for good, and leaves nothing [R22]', async () => {
    const prepare = async () => 'No such thing.';
    assert.deepEqual((await run('true', { prepare })).end, { kind: 'impossible', problem: 'No such thing.' });
    await assertNothingLeft();
  });

  it('faults where the system does not start it, at once or later [R6]', async () => {
    const big = 'x'.repeat(4_000_000);
    await assert.rejects(run(`: ${big}`), { code: 'RUNNER_UNAVAILABLE', detail: /could not be started \(E2BIG\)/ });
    assert.deepEqual((await run('true')).end, exited(0));
    await assertNothingLeft();
  });

  it('faults where it may be otherwise later, and gives its turn back [R6]', async () => {
    const prepare = () => Promise.reject(new Fault('FORGE_UNAVAILABLE', 'Not now.'));
    for (let count = 0; count < 10; count += 1) await assert.rejects(run('true', { prepare }), Fault);
    assert.deepEqual((await run('true')).end, exited(0));
    await assertNothingLeft();
  });
});
