import assert from 'node:assert/strict';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { findRunnerFolder } from '../../src/check-runner/local/local-runner.ts';
import { findMarked } from '../../src/check-runner/local/marked-processes.ts';
import { listJobs } from '../../src/check-runner/local/work-folder.ts';
import { type Environment, makeFolder, startHere, startServer, type TestServer, until } from './harness.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

/** The best protection that works on this machine. */
const PROTECTED = { SLUICE_RUNNER_PROTECTION: '' };

interface Check {
  readonly name: string;
  readonly command: string;
  readonly timeoutMinutes?: number;
}

async function withRunner(
  checks: readonly Check[],
  use: (queue: TestQueue, server: TestServer) => Promise<void>,
  environment: Environment = {},
): Promise<void> {
  const server = await startHere({ ...PROTECTED, ...environment });
  const queue = await aQueue(server, checks);
  try {
    await use(queue, server);
  } finally {
    await server.stop();
    await queue.close();
  }
}

async function aQueue(server: TestServer, checks: readonly Check[], settings: object = {}): Promise<TestQueue> {
  const queue = await createQueue(server.api, { requiredStatuses: null, ...settings });
  await server.api.ok('registerRepository', { repo: queue.repo, checks });
  return queue;
}

async function submitOne(queue: TestQueue, files?: Readonly<Record<string, string>>): Promise<number> {
  const number = await queue.submitOne(files);
  return number;
}

const hasLeft = ({ isCurrentlySubmittedToQueue }: { readonly isCurrentlySubmittedToQueue: boolean }) =>
  !isCurrentlySubmittedToQueue;

async function untilState(queue: TestQueue, number: number, state: string): Promise<void> {
  const entry = await queue.untilEntry(number, (found) => found.state === state || hasLeft(found));
  assert.equal(entry.state, state);
}

/** The test run that its timeline names last. */
async function testRunOf(queue: TestQueue, number: number): Promise<string> {
  return until(`#${number} has a test run`, 15_000, async () => {
    const { timeline } = await queue.get(number, { includeTimeline: true });
    return timeline?.find(({ testRunId }) => testRunId !== undefined)?.testRunId;
  });
}

async function logOf(queue: TestQueue, testRunId: string, check = 'test'): Promise<string> {
  const answer = await queue.api.ok<{ text: string }>('getCandidateLog', { ...queue.ref, testRunId, check });
  return answer.text;
}

async function checkOf(queue: TestQueue, testRunId: string, check = 'test') {
  const { checkSuites } = await queue.api.ok<CandidateView>('getMergeQueueTestingDetails', { ...queue.ref, testRunId });
  return checkSuites.flatMap(({ checkRuns }) => checkRuns).find(({ name }) => name === check);
}

/** No process of a check, and no folder of one. */
async function assertNothingLeft(server: TestServer): Promise<void> {
  const folder = findRunnerFolder(server.dataFolder, undefined);
  await until('nothing of a check is left', 15_000, async () => {
    const [mark = ''] = await readdir(folder);
    const [jobs, pids] = await Promise.all([listJobs(join(folder, mark)), findMarked(mark)]);
    return jobs.length === 0 && pids.length === 0 ? true : undefined;
  });
}

/** The refs of a candidate are removed after its end. */
function untilOnlyMain({ git }: TestQueue): Promise<true> {
  return until('there is no other branch than main', 15_000, async () => {
    const refs = await git.git(['for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/sluice']);
    return refs === 'refs/heads/main' ? true : undefined;
  });
}

/** A folder that the test and its checks can write to. */
async function makeShared(): Promise<string> {
  const folder = await makeFolder();
  await chmod(folder, 0o777);
  return folder;
}

describe('the built-in runner', () => {
  it('[R1] tests what would land, and lands it', () =>
    withRunner(
      [{ name: 'test', command: 'test -f a.txt && test -f new.txt && cat new.txt' }],
      async (queue, server) => {
        const number = await submitOne(queue, { 'new.txt': 'hello from the change\n' });
        await untilState(queue, number, 'MERGED');
        const text = await logOf(queue, await testRunOf(queue, number));
        assert.match(
          text,
          /^\[Sluice\] "test" on main at [0-9a-f]{12} with #1, commit [0-9a-f]{40}.*\n\[Sluice\] \$ test -f/,
        );
        assert.match(text, /hello from the change\n\n\[Sluice\] Passed after/);
        assert.equal(await queue.git.git(['show', 'main:new.txt']), 'hello from the change');
        await assertNothingLeft(server);
      },
    ));

  it('[R31] removes what fails, with the reason and where to read more', () =>
    withRunner([{ name: 'test', command: 'echo out; echo err >&2; test ! -f bad.txt' }], async (queue) => {
      const number = await submitOne(queue, { 'bad.txt': 'x\n' });
      await untilState(queue, number, 'FAILED');
      const testRunId = await testRunOf(queue, number);
      assert.match(await logOf(queue, testRunId), /out\nerr\n\n\[Sluice\] Failed with exit code 1 after/);
      const check = await checkOf(queue, testRunId);
      assert.equal(check?.conclusion, 'FAILURE');
      assert.match(check.summary ?? '', new RegExp(`exit code 1 .* sluice logs ${testRunId}$`));
    }));

  it('[C31] nobody else can say how its checks ended', () =>
    withRunner([{ name: 'test', command: 'sleep 1; exit 1' }], async (queue) => {
      const number = await queue.submitOne();
      const testRunId = await testRunOf(queue, number);
      const report = { repo: queue.repo, testRunId, name: 'test', status: 'COMPLETED', conclusion: 'SUCCESS' };
      const problem = await queue.api.refused('400 VALIDATION_FAILED', 'reportCheck', report);
      assert.match(problem.detail, /"test", which Sluice runs itself/);
      await queue.api.ok('reportCheck', { ...report, name: 'another' });
      await untilState(queue, number, 'FAILED');
    }));

  it('[R2] gives checks what they need to know, and nothing of the server', () =>
    withRunner(
      [{ name: 'test', command: 'env | sort; pwd; git log --format=%s -1; git status --porcelain; ls -a "$HOME"' }],
      async (queue, server) => {
        const number = await queue.submitOne();
        await untilState(queue, number, 'MERGED');
        const testRunId = await testRunOf(queue, number);
        const text = await logOf(queue, testRunId);
        const { landed } = await queue.get(number);
        for (const line of [
          'CI=true',
          'SLUICE_CHECK=test',
          `SLUICE_COMMIT=${landed?.testedSha}`,
          `SLUICE_BASE_COMMIT=${landed?.base}`,
          `SLUICE_PULL_REQUESTS=${number}`,
          `SLUICE_TEST_RUN_ID=${testRunId}`,
          'SLUICE_TARGET_BRANCH=main',
        ]) {
          assert.ok(text.includes(`\n${line}\n`), `${line} is missing in ${text}`);
        }
        assert.ok(!text.includes(server.token));
        assert.doesNotMatch(text, /SLUICE_(?:DATA|ADMIN_TOKEN|DATABASE_URL|PORT)=/);
        assert.match(text, new RegExp(`Change 1 \\(#${number}\\)`));
      },
      { SLUICE_ADMIN_TOKEN: 'a-very-secret-admin-token', SOME_SECRET: 'xyzzy' },
    ));

  it('[R3] a check cannot change the repository through its work tree', () =>
    withRunner(
      [
        {
          name: 'test',
          command:
            'git -c user.name=x -c user.email=x commit -q --allow-empty -m evil && git update-ref refs/heads/main HEAD && git gc -q --prune=now && git branch evil',
        },
      ],
      async (queue) => {
        const number = await queue.submitOne();
        await untilState(queue, number, 'MERGED');
        const { landed } = await queue.get(number);
        assert.equal(await queue.git.git(['rev-parse', 'main']), landed?.pushedSha);
        await untilOnlyMain(queue);
        await queue.git.git(['fsck', '--strict']);
      },
    ));

  it('[R4] kills whatever a check leaves running, also daemons', () =>
    withRunner(
      [{ name: 'test', command: 'setsid sleep 1000 & sleep 1001 & (setsid sh -c "sleep 1002 & sleep 1003" &) ; true' }],
      async (queue, server) => {
        const number = await queue.submitOne();
        await untilState(queue, number, 'MERGED');
        await assertNothingLeft(server);
      },
    ));

  it('[R4] stops a check that ignores SIGTERM when its pull request leaves, and says so in the log', () =>
    withRunner(
      [{ name: 'test', command: 'trap "" TERM; echo begun; while :; do sleep 1; done' }],
      async (queue, server) => {
        const number = await queue.submitOne();
        const testRunId = await testRunOf(queue, number);
        await until('it runs', 15_000, async () =>
          (await logOf(queue, testRunId)).includes('\nbegun\n') ? true : undefined,
        );
        await queue.api.ok('cancelPullRequest', queue.entry(number));
        await assertNothingLeft(server);
        // The runner writes the last line when no process of the check is left.
        await until('the log says so', 15_000, async () =>
          /\[Sluice\] Stopped after/.test(await logOf(queue, testRunId)) ? true : undefined,
        );
        await untilOnlyMain(queue);
      },
    ));

  it('[R5] keeps the beginning and the end of an endless output', () =>
    withRunner(
      [{ name: 'test', command: 'echo first; head -c 1000000000 /dev/zero | tr "\\0" "x"; echo; echo last' }],
      async (queue) => {
        const number = await queue.submitOne();
        const entry = await until('it is merged', 60_000, async () => {
          const found = await queue.get(number);
          return hasLeft(found) ? found : undefined;
        });
        assert.equal(entry.state, 'MERGED');
        const testRunId = await testRunOf(queue, number);
        let text = '';
        for (let offset = 0; ; ) {
          const part = await queue.api.ok<{ text: string; nextOffset: number; complete: boolean }>('getCandidateLog', {
            ...queue.ref,
            testRunId,
            check: 'test',
            offset,
          });
          text += part.text;
          offset = part.nextOffset;
          if (part.complete) break;
        }
        assert.ok(text.length < 5_000_000);
        assert.match(text.slice(0, 300), /\nfirst\nxxx/);
        assert.match(text, /\n\[99\d{7} bytes are left out here\]\n/);
        assert.match(text.slice(-100), /x\nlast\n\n\[Sluice\] Passed/);
      },
    ));

  it('[R6] runs no more at once than it may, and every queue gets its share', async () => {
    const folder = await makeShared();
    const server = await startHere({ ...PROTECTED, SLUICE_RUNNER_JOBS: '1', SLUICE_RUNNER_CACHES: folder });
    const gate = join(folder, 'gate');
    // Each check writes a file of its own, because checks may run as different users.
    const command = `echo "$SLUICE_REPOSITORY" > '${folder}'/at-$(date +%s%N); until test -e '${gate}'; do sleep 0.05; done`;
    const busy = await aQueue(server, [{ name: 'test', command }]);
    const small = await aQueue(server, [{ name: 'test', command }]);
    const order = async () => {
      const names = (await readdir(folder)).filter((name) => name.startsWith('at-')).toSorted();
      return Promise.all(names.map(async (name) => (await readFile(join(folder, name), 'utf8')).trim()));
    };
    try {
      const numbers = [];
      for (let count = 0; count < 5; count += 1) numbers.push(await submitOne(busy));
      await Promise.all(numbers.map((number) => untilState(busy, number, 'TESTING')));
      await until('one of them runs', 15_000, async () => ((await order()).length === 0 ? undefined : true));
      const one = await submitOne(small);
      const published = ['for-each-ref', '--format=%(refname)', 'refs/heads/sluice/'];
      await until('its commit is there', 15_000, async () => (await small.git.git(published)) || undefined);
      await writeFile(gate, '');
      await untilState(small, one, 'MERGED');
      await untilState(busy, numbers.at(-1) as number, 'MERGED');
      const place = (await order()).findIndex((name) => name.endsWith(small.repo.name));
      assert.ok(place > 0 && place <= 2, `the small queue came ${place + 1}. of 6`);
    } finally {
      await server.stop();
      await busy.close();
      await small.close();
      await rm(folder, { recursive: true });
    }
  });

  it('[R7] goes on after kill -9 with what was interrupted, and leaves nothing behind', async () => {
    const shared = await makeShared();
    const server = await startServer({
      ...PROTECTED,
      SLUICE_DATA: await makeFolder(),
      SLUICE_RUNNER_CACHES: shared,
    });
    const queue = await aQueue(server, []);
    const gate = join(shared, 'gate');
    await server.api.ok('registerRepository', {
      repo: queue.repo,
      checks: [
        { name: 'quick', command: 'echo quick' },
        { name: 'slow', command: `echo begun; setsid sleep 1000 & test -e '${gate}' || sleep 1000` },
      ],
    });
    const number = await queue.submitOne();
    const testRunId = await testRunOf(queue, number);
    await until('slow runs and quick is done', 15_000, async () => {
      const quick = await checkOf(queue, testRunId, 'quick');
      const begun = (await logOf(queue, testRunId, 'slow')).includes('\nbegun\n');
      return begun && quick?.conclusion === 'SUCCESS' ? true : undefined;
    });
    server.child.kill('SIGKILL');
    await server.exited;
    await writeFile(gate, '');
    const again = await startHere({ ...PROTECTED, SLUICE_DATA: server.dataFolder, SLUICE_RUNNER_CACHES: shared });
    try {
      const after: TestQueue = { ...queue, api: again.api };
      await until('it is merged', 15_000, async () => {
        const entry = await again.api.ok<{ state: string }>('getSubmittedPullRequest', queue.entry(number));
        return entry.state === 'MERGED' ? true : undefined;
      });
      assert.equal((await logOf(after, testRunId, 'slow')).match(/^begun$/gm)?.length, 2);
      assert.equal((await logOf(after, testRunId, 'quick')).match(/\$ echo quick/g)?.length, 1);
      await assertNothingLeft(again);
    } finally {
      await again.stop();
      await queue.close();
    }
  });

  it('[R7] a server that is told to stop stops its checks, which count for nothing', async () => {
    const server = await startServer({ ...PROTECTED, SLUICE_DATA: await makeFolder() });
    const queue = await aQueue(server, [{ name: 'test', command: 'echo begun; sleep 1000' }]);
    const number = await queue.submitOne();
    const testRunId = await testRunOf(queue, number);
    await until('it runs', 15_000, async () =>
      (await logOf(queue, testRunId)).includes('\nbegun\n') ? true : undefined,
    );
    const exit = await server.stop();
    assert.deepEqual(exit, { code: 0, signal: null });
    await assert.rejects(readdir(findRunnerFolder(server.dataFolder, undefined)), /ENOENT/);
    const again = await startHere({ SLUICE_DATA: server.dataFolder });
    try {
      const entry = await again.api.ok<{ state: string }>('getSubmittedPullRequest', queue.entry(number));
      assert.equal(entry.state, 'TESTING');
      await again.api.ok('registerRepository', { repo: queue.repo, checks: [{ name: 'test', command: 'true' }] });
    } finally {
      await again.stop();
      await queue.close();
    }
  });
});
