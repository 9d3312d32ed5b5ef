// Checks of one pull request attack the server, and the checks of another: under each protection that this machine can
// run.
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findRunnerFolder } from '../../src/check-runner/local/local-runner.ts';
import { listJobs } from '../../src/check-runner/local/work-folder.ts';
import type { ProtectionKind } from '../../src/check-runner/runner.ts';
import { hijackTrees, leaveBehind, READ_ENVIRONMENTS } from '../helpers/hostile-checks.ts';
import { findWorkingProtections } from '../helpers/local-runner.ts';
import { madeOnce } from '../helpers/made.ts';
import { aCheckedQueue, logOf, testRunOf, untilLeft } from './checks.ts';
import { launch, makeFolder, type ServerProcess, startServer, until } from './harness.ts';
import { createWorld, openProcess, type ServerWorld, type TestQueue } from './test-queue.ts';

const KINDS = (await findWorkingProtections()).filter((kind) => kind !== 'none');
const SECRET = 'a-secret-of-the-server';

interface Fixture extends ServerWorld<ServerProcess> {
  readonly folder: string;
  /** Runs the command for a new pull request, and returns its final state and output. */
  run(command: string, check?: object): Promise<{ readonly state: string | undefined; readonly text: string }>;
  close(): Promise<void>;
}

/** The output of the command alone. */
async function outputOf(queue: TestQueue, number: number): Promise<string> {
  const text = await logOf(queue, await testRunOf(queue, number));
  return text.replace(/^\[Sluice\](?:.*\n)*?\[Sluice\] \$ (?:.*\n)*?--begin--\n/, '').replace(/\n\[Sluice\].*\n$/, '');
}

/** A queue with this check. */
function useQueue(world: ServerWorld, command: string, check: object = {}): Promise<TestQueue> {
  return aCheckedQueue(world, [{ name: 'test', command, ...check }]);
}

async function createFixture(kind: ProtectionKind): Promise<Fixture> {
  const environment = { SLUICE_RUNNER_PROTECTION: kind, SLUICE_RUNNER_PROCESSES: '64', SOME_SECRET: SECRET };
  const server = await startServer({ ...environment, SLUICE_RUNNER_JOBS: '4', SLUICE_RUNNER_TRUST: '' });
  const world = createWorld(server);
  const run: Fixture['run'] = async (command, check) => {
    const queue = await useQueue(world, `echo --begin--\n${command}`, check);
    const number = await queue.submitOne();
    const { state } = await untilLeft(queue, number);
    return { state, text: await outputOf(queue, number) };
  };
  return { ...world, folder: findRunnerFolder(server.dataFolder, kind), run };
}

async function assertNoJobs(folder: string): Promise<void> {
  await until('no folder of a check is left', 15_000, async () => {
    const [mark = ''] = await readdir(folder);
    return (await listJobs(join(folder, mark))).length === 0 ? true : undefined;
  });
}

function testSecrets(given: () => Fixture): void {
  it('cannot read the data folder, the environment or the memory of the server [R8]', async () => {
    const { server, run } = given();
    const { pid } = server.child;
    const { text } = await run(
      `cat '${server.dataFolder}'/* '${server.dataFolder}/admin-token'
${READ_ENVIRONMENTS} ${SECRET}
cat /proc/${pid}/environ /proc/${pid}/maps; ls /proc/${pid}/cwd/ /proc/${pid}/root/ /proc/${pid}/fd/
true) 2>/dev/null`.replace('cat', '(cat'),
    );
    assert.equal(text, '');
  });

  it('cannot end the server, nor attach to it [R8]', async () => {
    const { server, run } = given();
    const attack = `kill -9 ${server.child.pid}; kill -9 -${server.child.pid}`;
    const trace = `perl -e 'print syscall(101, 16, ${server.child.pid}, 0, 0) == 0 ? "attached\\n" : ""'`;
    const { text } = await run(`${trace} 2>/dev/null; (${attack}) >/dev/null 2>&1; true`);
    assert.equal(text, '');
    assert.equal(server.child.exitCode, null);
    await server.api.ok('listQueues', {});
  });

  it('cannot write anywhere but to its own folders [R39]', async () => {
    const { server, run } = given();
    const command = `for d in / /etc /usr /usr/local /usr/bin /root /home /var /srv /opt '${server.dataFolder}' /proc/sys/kernel; do
  (: > "$d/sluice-was-here") 2>/dev/null && rm "$d/sluice-was-here" && echo "$d"
done
(: >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo core_pattern
: > "$HOME/x" && : > "$TMPDIR/x" && : > x && echo own`;
    assert.equal((await run(command)).text, 'own\n');
  });
}

function testBombs(given: () => Fixture): void {
  it('that forks without end hits its limit, and the server goes on [R28]', async () => {
    const { server, folder, run } = given();
    const bomb = 'i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i+1)); done; wait';
    const { state, text } = await run(`(${bomb}) 2>&1 | grep -qi 'fork\\|resource' && echo limited; true`);
    assert.deepEqual([state, text], ['MERGED', 'limited\n']);
    await server.api.ok('listQueues', {});
    await assertNoJobs(folder);
  });

  it('that fills its folders gets no space for longer than it runs [R20]', async () => {
    const { folder, run } = given();
    const command = 'for d in . "$HOME" "$TMPDIR"; do mkdir -p "$d/a/b"; head -c 20000000 /dev/zero > "$d/a/b/c"; done';
    assert.equal((await run(command)).state, 'MERGED');
    await assertNoJobs(folder);
  });
}

function testHijack(given: () => Fixture): void {
  it('leaves no process behind that could change the work tree of another [R26]', async () => {
    const { folder } = given();
    const command = `if test -e attacker; then ${leaveBehind(hijackTrees(folder))}; else
      i=0; while [ $i -lt 20 ]; do grep -q mended state && exit 0; sleep 0.05; i=$((i+1)); done; exit 1; fi`;
    const queue = await useQueue(given(), command);
    const attacker = await queue.submitOne({ attacker: 'x\n', state: 'fine\n' });
    assert.equal((await untilLeft(queue, attacker)).state, 'MERGED');
    // On a queue of its own, so that the attacker's file is not in it.
    const other = await useQueue(given(), command);
    const broken = await other.submitOne({ state: 'broken\n' });
    assert.equal((await untilLeft(other, broken)).state, 'FAILED');
  });

  it('cannot change the work tree of one that runs at the same time [R26]', async () => {
    const { folder } = given();
    const attack = `i=0; while [ $i -lt 12 ]; do ${hijackTrees(folder)}; sleep 0.05; i=$((i+1)); done; echo fine > state`;
    const [one, two] = [
      await useQueue(given(), attack),
      await useQueue(given(), 'sleep 1; grep -q mended state && exit 0; exit 1'),
    ];
    const [attacker, broken] = [await one.submitOne(), await two.submitOne({ state: 'broken\n' })];
    assert.equal((await untilLeft(two, broken)).state, 'FAILED');
    assert.equal((await untilLeft(one, attacker)).state, 'MERGED');
  });
}

function testNetwork(given: () => Fixture): void {
  const connect = (port: number) =>
    `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr => "127.0.0.1:${port}") ? "reached\\n" : "closed\\n"'`;

  it('reaches the port of the server only where it asks for the network [R27]', async () => {
    const { server, run } = given();
    assert.equal((await run(connect(server.port))).text, 'closed\n');
    assert.equal((await run(connect(server.port), { network: true })).text, 'reached\n');
  });

  it('has a loopback of its own [R27]', async () => {
    const serve = 'my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;';
    const dial = 'print IO::Socket::INET->new(PeerAddr => "127.0.0.1:" . $s->sockport) ? "ok\\n" : "no\\n"';
    assert.equal((await given().run(`perl -MIO::Socket::INET -e '${serve} ${dial}'`)).text, 'ok\n');
  });
}

for (const kind of KINDS) {
  describe(`a check under the protection ${kind}`, () => {
    const fixture = madeOnce(() => createFixture(kind));
    const given = () => fixture;

    testSecrets(given);
    testBombs(given);
    testHijack(given);
    if (kind !== 'users') testNetwork(given);

    it('is told of by the server [R25]', async () => {
      const { runner } = await fixture.server.api.ok<{ runner: { protection: string } }>('getServer', {});
      assert.equal(runner.protection, kind);
    });

    it('has a work folder that others cannot list [R43]', async () => {
      const { folder, run } = fixture;
      const [mark = ''] = await readdir(folder);
      for (const path of [folder, join(folder, mark)]) assert.equal((await stat(path)).mode & 0o077, 0o011);
      assert.equal((await run(`ls '${folder}' '${join(folder, mark)}' 2>/dev/null; true`)).text, '');
    });
  });
}

describe('a server that cannot protect itself from checks', () => {
  it('has them wait, says what to do, and runs them once the repository is trusted [R44] [R29]', async (t) => {
    const world = await openProcess(t, { SLUICE_RUNNER_PROTECTION: 'none', SLUICE_RUNNER_TRUST: '' });
    const { api } = world.server;
    const queue = await useQueue(world, 'true');
    const { repositories } = await api.ok<{ repositories: { checksBlocked: string }[] }>('listRepositories', {});
    assert.match(repositories[0]?.checksBlocked ?? '', /--trust-checks$/);
    const number = await queue.submitOne();
    const explained = await until('its explanation says so', 15_000, async () => {
      const { state, explanation } = await queue.get(number, { includeExplanation: true });
      const text = JSON.stringify(explanation ?? '');
      return state === 'TESTING' && text.includes('trust-checks') ? text : undefined;
    });
    assert.match(explained, /TRYING_AGAIN/);
    await api.ok('registerRepository', { repo: queue.repo, trustChecks: true });
    assert.equal((await untilLeft(queue, number)).state, 'MERGED');
  });

  it('refuses a protection that does not work, and the variable of before [R41] [W40]', async () => {
    const launched = launch({
      SLUICE_PORT: '0',
      SLUICE_DATA: await makeFolder(),
      SLUICE_RUNNER_PROTECTION: 'bubblewrap',
      PATH: '/nowhere',
    });
    assert.equal((await launched.exited).code, 2);
    assert.match(launched.output.err, /SLUICE_RUNNER_PROTECTION is bubblewrap, which does not work here/);
    const old = launch({ SLUICE_PORT: '0', SLUICE_DATA: await makeFolder(), SLUICE_RUNNER_USER: 'nobody' });
    assert.equal((await old.exited).code, 2);
    assert.match(old.output.err, /SLUICE_RUNNER_USER is not read any more/);
  });

  it('says in its log what protects it [R25]', async () => {
    const server = await startServer({ SLUICE_LOG_LEVEL: 'info' });
    await server.stop();
    assert.match(server.output.err, /"protection":"(?:bubblewrap|namespaces|users|none)"/);
  });
});
