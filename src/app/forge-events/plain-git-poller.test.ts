import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createPlainWorld, hasEnded, useFakeSsh } from '../../../test/contract/plain-repository.ts';
import { aPullRequest } from '../../../test/helpers/a-pull-request.ts';
import { storeQueue, storeRepository } from '../../../test/helpers/store-rows.ts';
import { createTestApp } from '../../../test/worlds/shell/create-app.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { createQueue, type EntryId } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import type { Forge } from '../../forge/forge.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { App } from '../core/app.ts';
import { PLAIN_GIT_HOST } from '../core/directory.ts';
import { type FoundQueue, formatRef } from '../core/find-queue.ts';
import { encodeQueue } from '../core/queue-codec.ts';
import { readTargetBranch } from '../queue/forge-facts.ts';
import { PlainGitPoller } from './plain-git-poller.ts';

const NUMBER = 1 as PrNumber;
const LIMIT = { timeout: 20_000 };

function createApp(forge: Forge): App {
  return createTestApp({ store: createMemoryStore(), forges: new Map([[PLAIN_GIT_HOST, forge]]) });
}

/** A queue of a repository of its own, with one entry. */
async function addQueue(app: App, git: string, facts: Partial<PullRequestFacts> = {}) {
  const repository = await storeRepository(app.store, { host: PLAIN_GIT_HOST, git });
  const body = encodeQueue(createQueue('main', DEFAULT_SETTINGS, 'RUNNING'));
  const { id } = await storeQueue(app.store, { repositoryId: repository.id, branch: 'main', body });
  app.directory.forget();
  await submit(app, id, facts);
  return { id, repository };
}

async function submit(app: App, id: QueueId, facts: Partial<PullRequestFacts>): Promise<void> {
  const pr = aPullRequest(NUMBER, { headSha: 'a'.repeat(40) as Sha, ...facts });
  await app.queues.run(id, () => ({
    kind: 'pull_request_submitted',
    at: systemClock.now(),
    actor: 'ada',
    entryId: randomUUID() as EntryId,
    pr,
    targets: undefined,
    priority: undefined,
    noBatch: undefined,
  }));
}

async function createWorld(context: TestContext) {
  const world = await createPlainWorld();
  context.after(() => world.close());
  const ssh = await useFakeSsh(context, world.folder);
  await world.commit('main', { files: { a: 'a\n' } });
  return { world, ssh, app: createApp(world.forge) };
}

async function isEmpty(app: App, id: QueueId): Promise<boolean> {
  return (await app.queues.find(id))?.queue.entries.size === 0;
}

describe('the poller of plain git', () => {
  test('remotes that fall silent do not delay the others, nor the stop', LIMIT, async (context) => {
    const { world, ssh, app } = await createWorld(context);
    for (let count = 0; count < 10; count += 1) await addQueue(app, `git@example.test:/silent-${count}.git`);
    const { number, headSha } = await world.openPullRequest('main', { files: { b: 'b\n' } });
    assert.equal(number, NUMBER);
    const { id } = await addQueue(app, world.path, { headSha });
    const poller = new PlainGitPoller(app);
    poller.start();
    while ((await ssh.listHanging()).length < 20) await pause(10);
    await pause(1_500);
    assert.ok(!(await isEmpty(app, id)));
    await world.closePullRequest(number);
    const closedAt = Date.now();
    while (!(await isEmpty(app, id))) await pause(10);
    assert.ok(Date.now() - closedAt < 2_500, `took ${Date.now() - closedAt} ms`);
    const stoppedAt = Date.now();
    const stopped = poller.stop();
    await world.forge.close();
    await stopped;
    assert.ok(Date.now() - stoppedAt < 3_000);
    const pids = await ssh.listHanging();
    assert.equal(pids.length, 20);
    while (!pids.every(hasEnded)) await pause(10);
  });

  test(
    'one pass polls every repository, and names the one that cannot be read in the log [N22]',
    LIMIT,
    async (context) => {
      const { world, app } = await createWorld(context);
      const queues = [];
      for (let count = 0; count < 20; count += 1) queues.push(await addQueue(app, world.path));
      const gone = await addQueue(app, '/nowhere');
      const named: unknown[] = [];
      const warn = (facts: { readonly repository?: string }) => named.push(facts.repository);
      await new PlainGitPoller({ ...app, log: { ...app.log, warn } }).pollOnce();
      for (const { id } of queues) assert.ok(await isEmpty(app, id));
      assert.ok(!(await isEmpty(app, gone.id)));
      assert.deepEqual(named, [formatRef(gone.repository)]);
    },
  );

  test('a move of the target branch makes mergeability be read again', LIMIT, async (context) => {
    const { world } = await createWorld(context);
    let asked = 0;
    const app = createApp(
      interrupt(world.forge, 'findPullRequest', async () => {
        asked += 1;
      }),
    );
    const { headSha } = await world.openPullRequest('main', { files: { b: 'b\n' } });
    await addQueue(app, world.path, { headSha });
    const poller = new PlainGitPoller(app);
    for (const expected of [1, 1, 1]) {
      await poller.pollOnce();
      assert.equal(asked, expected);
    }
    await world.commit('main', { files: { c: 'c\n' } });
    await poller.pollOnce();
    assert.equal(asked, 2);
  });

  test('a read counts though the queue is loaded again meanwhile', LIMIT, async (context) => {
    const { world } = await createWorld(context);
    const app = createApp(interrupt(world.forge, 'findPullRequest', () => app.queues.withWritesPaused(async () => {})));
    const { number, headSha } = await world.openPullRequest('main', { files: { b: 'b\n' } });
    const { id } = await addQueue(app, world.path, { headSha });
    await world.landPullRequest(number, 'main');
    await new PlainGitPoller(app).pollOnce();
    assert.ok(await isEmpty(app, id));
  });

  test(
    'a read that does not count, because the entry got other facts meanwhile, is repeated',
    LIMIT,
    async (context) => {
      const { world } = await createWorld(context);
      const titles = ['Another title'];
      const app = createApp(
        interrupt(world.forge, 'findPullRequest', async () => {
          const title = titles.shift();
          if (title !== undefined) await observe(app, id, { headSha, title });
        }),
      );
      const { number, headSha } = await world.openPullRequest('main', { files: { b: 'b\n' } });
      const { id } = await addQueue(app, world.path, { headSha });
      await world.landPullRequest(number, 'main');
      const poller = new PlainGitPoller(app);
      await poller.pollOnce();
      assert.ok(!(await isEmpty(app, id)));
      await poller.pollOnce();
      assert.ok(await isEmpty(app, id));
    },
  );

  test('a move of the target branch that could not be judged is judged at a later poll', LIMIT, async (context) => {
    const { world } = await createWorld(context);
    let failures = 3;
    const app = createApp(
      interrupt(world.forge, 'isAncestor', async () => {
        failures -= 1;
        if (failures >= 0) throw new Error('the disk is away');
      }),
    );
    const { headSha } = await world.openPullRequest('main', { files: { b: 'b\n' } });
    const { id } = await addQueue(app, world.path, { headSha });
    const poller = new PlainGitPoller(app);
    await poller.pollOnce();
    await world.commit('main', { files: { c: 'c\n' } });
    const main = await world.git(['rev-parse', 'main']);
    // Until the times of the files are sure.
    await pause(2_100);
    for (let count = 0; count < 4; count += 1) await poller.pollOnce();
    assert.equal((await app.queues.find(id))?.queue.head?.sha, main);
  });

  test(
    'a landing that the store lacks ends its entry, though its facts change meanwhile [L35]',
    LIMIT,
    async (context) => {
      const { world } = await createWorld(context);
      const { headSha } = await world.openPullRequest('main', { files: { b: 'b\n' } });
      const app = createApp(
        interrupt(world.forge, 'listLine', () => observe(app, id, { headSha, title: 'Another title' })),
      );
      const { id, repository } = await addQueue(app, world.path, { headSha });
      await readTargetBranch(app, await find(app, id, repository));
      await world.commit('main', { files: { b: 'b\n' }, message: `Squashed\n\nSluice-Pull-Request: ${NUMBER}` });
      await readTargetBranch(app, await find(app, id, repository));
      assert.ok(await isEmpty(app, id));
    },
  );
});

async function observe(app: App, id: QueueId, facts: Partial<PullRequestFacts>): Promise<void> {
  const [at, pr] = [systemClock.now(), aPullRequest(NUMBER, facts)];
  await app.queues.run(id, () => ({ kind: 'pull_request_observed', at, prNumber: NUMBER, pr, targets: undefined }));
}

/** The forge, with `first` before each call of one of its methods. */
function interrupt(forge: Forge, method: keyof Forge, first: () => Promise<void>): Forge {
  return new Proxy(forge, {
    get: (real, name: Exclude<keyof Forge, 'hosting'>) => {
      const call = real[name]?.bind(real) as ((...args: unknown[]) => unknown) | undefined;
      if (name !== method) return call;
      return async (...args: unknown[]) => {
        await first();
        return call?.(...args);
      };
    },
  });
}

async function find(app: App, id: QueueId, repository: Repository): Promise<FoundQueue> {
  const loaded = await app.queues.find(id);
  assert.ok(loaded);
  return { ...loaded, repository };
}
