// The drill of docs/operating/recovery.md: the machine is lost, and a new one goes on from the last backup and from git.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createDatabase, createEmptyDatabase } from '../helpers/postgres.ts';
import { dumpDatabase, loadDump } from '../helpers/postgres-dump.ts';
import { assertLanded } from './ci.ts';
import { type Environment, makeFolder, type ServerProcess, startServer } from './harness.ts';
import { runSluice } from './run-sluice.ts';
import { createQueue, describeQueue, type TestQueue } from './test-queue.ts';

const TOKEN = 'the-administrator-of-all';

interface Stores {
  /** A machine with nothing on it. */
  begin(): Promise<Environment>;
  /** Returns the start of a machine from the backup. */
  backUp(server: ServerProcess, environment: Environment): Promise<() => Promise<ServerProcess>>;
}

const STORES: Readonly<Record<string, Stores>> = {
  'the embedded store': {
    begin: async () => ({ SLUICE_DATA: await makeFolder() }),
    backUp: async (server) => {
      const file = join(await makeFolder(), 'backup.db');
      await sluice(server, 'backup', file);
      return async () => {
        const coming = await startServer({ SLUICE_DATA: await makeFolder() });
        await sluice(coming, 'restore', file, '--yes');
        return coming;
      };
    },
  },
  PostgreSQL: {
    begin: async () => ({
      SLUICE_DATA: await makeFolder(),
      SLUICE_DATABASE_URL: await createEmptyDatabase(),
      SLUICE_ADMIN_TOKEN: TOKEN,
    }),
    backUp: async (_, { SLUICE_DATABASE_URL: url = '' }) => {
      const dump = await dumpDatabase(url);
      return async () => {
        const fresh = await createDatabase();
        await loadDump(fresh, dump);
        const place = { SLUICE_DATA: await makeFolder(), SLUICE_DATABASE_URL: fresh };
        return startServer({ ...place, SLUICE_ADMIN_TOKEN: TOKEN });
      };
    },
  },
};

const CASES = [
  ['the embedded store', 'SQUASH'],
  ['the embedded store', 'REBASE'],
  ['PostgreSQL', 'SQUASH'],
  ['PostgreSQL', 'MERGE_COMMIT'],
] as const;

describe('a lost machine', { concurrency: 2 }, () => {
  for (const [name, mergeMethod] of CASES) {
    test(`goes on from a backup of ${name} and from git, with ${mergeMethod}: nothing lands twice or untested [D5] [C11] [L35] [L36] [L37]`, async (t) => {
      const stores = STORES[name] as Stores;
      const environment = await stores.begin();
      const first = await startServer(environment);
      const queue = await createQueue(first.api, { mergeMethod, concurrency: 1 });
      t.after(() => queue.close());
      const [landed, tested, waiting, next] = (await queue.submitAll(4)) as [number, number, number, number];
      await land(queue, landed);
      await queue.ci.runOf(tested);
      const restore = await stores.backUp(first, environment);
      for (const number of [tested, waiting]) await land(queue, number);
      await first.api.ok('cancelPullRequest', queue.entry(next));
      const late = await queue.submitOne();
      await land(queue, late);
      await queue.submit(next);
      const lost = await queue.ci.runOf(next);
      const unsaved = await queue.submitOne();
      const main = await queue.git.git(['rev-parse', 'main']);
      first.child.kill('SIGKILL');
      await first.exited;
      await rm(first.dataFolder, { recursive: true, force: true });

      const second = await restore();
      t.after(() => second.stop());
      const after = describeQueue(queue, second.api);
      for (const number of [tested, waiting]) {
        await after.ci.untilState(number, 'MERGED');
        const [end] = (await after.get(number, { includeTimeline: true })).timeline ?? [];
        assert.equal(end?.reason, 'MERGE_GRAPH_MERGE');
        assert.match(end.text, /^Landed on main\. Its commit [0-9a-f]{12} there is signed by Sluice\./);
      }
      await second.api.refused('422 PULL_REQUEST_NOT_ENQUEUEABLE', 'submitPullRequest', queue.entry(late));
      const again = await after.ci.runOf(next);
      assert.equal(await queue.git.git(['rev-parse', 'main']), main);
      // CI goes on with a run that nobody remembers.
      const report = { testRunId: lost.testRunId, name: 'test', status: 'COMPLETED', conclusion: 'SUCCESS' };
      await second.api.refused('404 TEST_RUN_NOT_FOUND', 'reportCheck', { repo: queue.repo, ...report });
      await after.ci.report(again, 'SUCCESS');
      await assertLanded(after, await after.ci.untilState(next, 'MERGED'));
      await second.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(unsaved));
      await after.submit(unsaved);
      await land(after, unsaved);
      assert.equal(await queue.git.git(['rev-list', '--first-parent', '--count', 'main']), '7');
      assert.deepEqual((await after.getQueue()).alarms, []);
      assert.match(await sluice(second, 'audit', 'verify'), /^5 records, none changed\./);
    });
  }
});

async function land(queue: TestQueue, number: number): Promise<void> {
  await queue.ci.pass(number);
  await queue.ci.untilState(number, 'MERGED');
}

async function sluice({ env, dataFolder }: ServerProcess, ...args: string[]): Promise<string> {
  const { code, out, err } = await runSluice(args, { ...env, SLUICE_DATA: dataFolder }).ended;
  assert.equal(code, 0, `${out}${err}`);
  return out;
}
