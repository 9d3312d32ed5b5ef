import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createFakeGithub, type FakeGithub } from '../fake/github/fake-github.ts';
import type { PullRequest } from '../fake/github/model.ts';
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts';
import { connectionOf, GithubWorld, hookUp } from './github-world.ts';
import { makeFolder, type ServerProcess, startServer, until } from './harness.ts';

const PATIENCE_MS = 90_000;
const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

describe('two servers on one PostgreSQL, and one GitHub', () => {
  let postgres: TestPostgres;
  let folder: string;
  let github: FakeGithub;
  let servers: ServerProcess[];
  let world: GithubWorld;
  let start: (name: string) => Promise<ServerProcess>;
  before(async () => {
    postgres = await startPostgres();
    folder = await makeFolder();
    github = await createFakeGithub();
    const url = await postgres.createDatabase();
    const common = { SLUICE_DATABASE_URL: url, SLUICE_ADMIN_TOKEN: 'the-administrator-of-both' };
    start = (name) => startServer({ ...connectionOf(github, true), ...common, SLUICE_DATA: join(folder, name) });
    servers = await Promise.all([start('one'), start('two')]);
    hookUp(github, theOne());
    world = await GithubWorld.join({ github, server: theOne(), owner: 'acme' }, { concurrency: 3 });
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await github.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  const theOne = () => servers[0] as ServerProcess;
  const theOther = () => servers[1] as ServerProcess;
  const runChecks = () => {
    for (const { sha } of world.testBranches())
      if (github.listChecks(world.repository, sha).length === 0) world.report(sha, 'success');
  };

  function untilLanded(prs: readonly PullRequest[]): Promise<true> {
    return until('all have landed and say so', PATIENCE_MS, async () => {
      runChecks();
      return prs.every((pr) => world.sticky(pr)?.includes('Landed')) ? true : undefined;
    });
  }

  test('a command told to either server is done once, and told once [G31] [G33]', async () => {
    github.webhooks.configure({ doubled: 1, isDoubledAnew: true });
    const prs = [await world.open(), await world.open(), await world.open()];
    for (const [index, pr] of prs.entries()) {
      hookUp(github, index % 2 === 0 ? theOne() : theOther());
      world.say(pr, '/sluice merge');
      await github.webhooks.settle();
    }
    await untilLanded(prs);
    for (const pr of prs) {
      const seen = await Promise.all(servers.map((server) => world.through(server).get(pr.number)));
      assert.deepEqual(seen[0], seen[1]);
      assert.equal(seen[0]?.state, 'MERGED');
      assert.deepEqual(world.replies(pr), []);
    }
    const merges = github.world.requests.filter(({ route }) => route === MERGE);
    assert.equal(merges.length, prs.length);
    github.webhooks.configure({});
  });

  test('a write that one server had sent when it died, the other finds done [G149] [G33]', async () => {
    github.faults.once(MERGE, { kind: 'silence', when: 'after' });
    const pr = await world.open();
    world.say(pr, '/sluice merge');
    await until('it is merged', PATIENCE_MS, async () => {
      runChecks();
      return pr.merged;
    });
    const isWaiting = (server: ServerProcess) => server.child.exitCode === null;
    // Either server may have sent the merge, so the remaining one need not know of it.
    theOne().child.kill('SIGKILL');
    await theOne().exited;
    assert.ok(isWaiting(theOther()));
    world = world.through(theOther());
    hookUp(github, theOther());
    await world.untilState(pr, 'MERGED');
    await untilLanded([pr]);
    assert.equal(github.refs(world.repository).get('refs/heads/main'), pr.merged?.sha);
    servers = [theOther()];
  });
});
