import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aRunner, findWorkingProtections, UIDS } from '../../../test/helpers/local-runner.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { Fault } from '../../lib/fault.ts';
import { findMarked } from '../../lib/marked-processes.ts';
import type { CheckRunner, Job, JobEnd, ProtectionKind } from '../runner.ts';
import { listJobs, removeLeftovers } from './work-folder.ts';

const NEVER = new AbortController().signal;
const KINDS = await findWorkingProtections();

let folder = '';
let runner: CheckRunner;
let close: () => Promise<void>;

function useRunner(kind: ProtectionKind): void {
  before(async () => {
    ({ runner, folder, close } = await aRunner(kind));
  });
  after(() => close());
}

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
    network: false,
    variables: {},
    prepare: async () => undefined,
    onStart: async () => undefined,
    onOutput: async (bytes) => void chunks.push(bytes),
    ...more,
  };
  const end = await on.run(job, stop);
  return { end, output: Buffer.concat(chunks).toString() };
}

/** Asserts that no process and no folder of a job is left. */
async function assertNothingLeft(): Promise<void> {
  const [mark = ''] = await readdir(folder);
  assert.deepEqual(await listJobs(join(folder, mark)), []);
  assert.deepEqual(await findMarked(mark), []);
}

const exited = (code: number): JobEnd => ({ kind: 'exited', code });

function testEnds(kind: ProtectionKind): void {
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

  it('without its watcher, where it can see it [R20]', async () => {
    const command =
      'for f in /proc/[0-9]*; do grep -sq "^PPid:.$$\\$" $f/status && kill -9 $(basename $f); done; exit 8';
    assert.deepEqual((await run(command)).end, exited(8));
    await assertNothingLeft();
  });

  it('with the folders of all checks removed: the next has its own again [R20]', async () => {
    const other = await aRunner(kind, { jobs: 1 });
    const remove = 'p=$(dirname "$(dirname "$(dirname "$PWD")")"); cd /; rm -rf "$p" 2>/dev/null; exit 0';
    assert.deepEqual((await run(remove, {}, NEVER, other.runner)).end, exited(0));
    const { end, output } = await run('touch file "$HOME/x" "$TMPDIR/x"; ls', {}, NEVER, other.runner);
    assert.deepEqual(end, exited(0));
    assert.equal(output, 'file\n');
    assert.equal(await removeLeftovers(other.folder, UIDS), 0, 'it is known that somebody uses them');
    await other.close();
  });

  it('with many files [R20]', async () => {
    const command = 'mkdir d && cd d && seq 20000 | xargs touch && ls | wc -l';
    const { end, output } = await run(command);
    assert.deepEqual(end, exited(0));
    assert.equal(output.trim(), '20000');
    await assertNothingLeft();
  });

  it('with any characters in the command [R21]', async () => {
    const text = `a'b"c\\d$HOME\`x\`;é😀%s`;
    const { end, output } = await run(`cat <<'END'\n${text}\nEND\necho "$VALUE"`, { variables: { VALUE: text } });
    assert.deepEqual(end, exited(0));
    assert.equal(output, `${text}\n${text}\n`);
  });

  it('with its arguments as they are [R104]', async () => {
    const args = ['', '-k', 'a b', '$(touch x)', '\'"`', 'line\nbreak', '*', 'größe 😀', '\\', '--', 'L'.repeat(8_000)];
    const { end, output } = await run(`printf '%s\\n' "$@"; ls`, { args });
    assert.deepEqual([end, output], [exited(0), `${args.join('\n')}\n`]);
  });

  it('while a process that hid from it holds the output [R4]', async () => {
    const hidden = `env -i setsid sh -c 'touch hidden; exec env -i sleep 1000'`;
    const { end, output } = await run(`${hidden} & echo $!; until test -e hidden; do sleep 0.01; done`);
    assert.deepEqual(end, exited(0));
    if (kind === 'none') process.kill(Number(output), 'SIGKILL');
  });
}

function testStops(kind: ProtectionKind): void {
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

  it('is stopped when its result is not wanted any more, also before it began [R4]', async () => {
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
    const other = await aRunner(kind, { jobs: 1 });
    let closing: Promise<void> | undefined;
    const onOutput = async () => {
      closing ??= other.runner.close();
    };
    const [first, waiting] = await Promise.all([
      run('echo begun; sleep 1000', { onOutput }, NEVER, other.runner),
      run('true', {}, NEVER, other.runner),
    ]);
    assert.deepEqual([first.end, waiting.end], [{ kind: 'stopped' }, { kind: 'stopped' }]);
    await closing;
    await assert.rejects(readdir(other.folder), /ENOENT/);
    await other.close();
  });
}

function testSights(kind: ProtectionKind): void {
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
    if (kind !== 'none') known.push('USER', 'LOGNAME');
    assert.deepEqual(
      names.filter((name) => !known.includes(name as string)),
      [],
    );
  });

  it('its own folders, also under a umask that closes new files to others [R8]', async () => {
    const before = process.umask(0o077);
    try {
      const other = await aRunner(kind);
      const { end, output } = await run('pwd > "$TMPDIR/file"; cat "$TMPDIR/file"', {}, NEVER, other.runner);
      assert.deepEqual(end, exited(0));
      assert.match(output, /tree\n$/);
      await other.close();
    } finally {
      process.umask(before);
    }
  });
}

/** Its folders are in /tmp, as a sandbox has a /dev of its own, and TMPDIR may be there. */
function testSandbox(kind: ProtectionKind): void {
  it('that cannot be made is no result [R30]', async () => {
    const tool = await mkdtemp('/tmp/sluice-tool-');
    await chmod(tool, 0o755);
    const other = await aRunner(kind, { tools: [tool] });
    assert.deepEqual((await run(`ls '${tool}'`, {}, NEVER, other.runner)).end, exited(0));
    await rmdir(tool);
    const isFault = {
      code: 'RUNNER_UNAVAILABLE',
      detail: /^The sandbox of a check could not be made\. .*sluice-tool-/s,
    };
    await assert.rejects(run('true', {}, NEVER, other.runner), isFault);
    await other.close();
  });

  it('in which programs of a named folder are found, and a hidden one is explained [R2] [R65]', async () => {
    const [tool, hidden] = [await mkdtemp('/tmp/sluice-tool-'), await mkdtemp('/tmp/sluice-hidden-')];
    for (const name of [join(tool, 'bin'), join(hidden, 'bin')]) {
      await mkdir(name);
      await writeFile(join(name, name.startsWith(tool) ? 'chosen' : 'unseen'), '#!/bin/sh\necho here\n', {
        mode: 0o755,
      });
    }
    await chmod(tool, 0o755);
    const path = process.env['PATH'];
    process.env['PATH'] = `${path}:${join(hidden, 'bin')}`;
    // The server's own files hide it, as a home does that others cannot enter.
    const other = await aRunner(kind, { tools: [tool], secrets: [hidden] });
    process.env['PATH'] = path;
    assert.match((await run('chosen', {}, NEVER, other.runner)).output, /here/);
    assert.deepEqual((await run('unseen', {}, NEVER, other.runner)).end, exited(127));
    assert.match(await other.runner.explainMissing('unseen'), new RegExp(`unseen is in ${hidden}/bin, which checks`));
    await other.close();
    for (const folder of [tool, hidden]) await rm(folder, { recursive: true });
  });

  it('that tells of signals by the code that shells give them [R45]', async () => {
    assert.deepEqual((await run('sh -c "kill -KILL \\$\\$"; exit $?')).end, { kind: 'killed', signal: 'SIGKILL' });
    assert.deepEqual((await run('exit 130')).end, exited(130));
    assert.deepEqual((await run('exit 255')).end, exited(255));
  });

  it('in which a command makes no user namespace, unless its check may [R46]', async () => {
    const command = 'unshare --user --map-root-user true 2>/dev/null && echo made || echo refused';
    const answers = [await run(command), await run(command, { userNamespaces: true })];
    assert.deepEqual(pluck(answers, 'output'), ['refused\n', 'made\n']);
  });

  it('that shows folders that the operator names, and lets checks write to caches alone [R39]', async () => {
    const [tool, cache] = [await mkdtemp('/tmp/sluice-tool-'), await mkdtemp('/tmp/sluice-cache-')];
    await Promise.all([chmod(tool, 0o777), chmod(cache, 0o777), writeFile(join(tool, 'tool'), 'a tool\n')]);
    const other = await aRunner(kind, { tools: [tool], caches: [cache] });
    const command = `cat '${tool}/tool'; echo x >> '${cache}/kept'; (: > '${tool}/new') 2>/dev/null || echo closed`;
    for (const kept of ['x\n', 'x\nx\n']) {
      assert.equal((await run(command, {}, NEVER, other.runner)).output, 'a tool\nclosed\n');
      assert.equal(await readFile(join(cache, 'kept'), 'utf8'), kept);
    }
    await other.close();
    await Promise.all([tool, cache].map((folder) => rm(folder, { recursive: true })));
  });
}

function testImpossible(): void {
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
}

for (const kind of KINDS) {
  describe(`a command under the protection ${kind}`, () => {
    useRunner(kind);
    describe('ends', () => testEnds(kind));
    describe('that does not end', () => testStops(kind));
    describe('sees', () => testSights(kind));
    describe('that cannot be run', testImpossible);
    if (kind === 'bubblewrap' || kind === 'namespaces') describe('has a sandbox', () => testSandbox(kind));
  });
}
