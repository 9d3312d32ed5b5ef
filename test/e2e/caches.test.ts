// Caches of checks, with a real server, real sandboxes and the real npm.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createNpmRegistry, type NpmRegistry, npmProject } from '../helpers/npm-registry.ts';
import { aCheckedQueue, logOf, testRunOf, untilLeft } from './checks.ts';
import { startServer, until } from './harness.ts';
import { runSluice } from './run-sluice.ts';
import { openProcess, type ServerWorld, type TestQueue, useServer } from './test-queue.ts';

const GRANT = { network: true, userNamespaces: false, longestMinutes: 10 };
const ENVIRONMENT = { SLUICE_RUNNER_PROTECTION: 'namespaces' };

interface Cache {
  readonly repo: { readonly name: string };
  readonly check: string;
  readonly key: string;
}

async function cachesOf({ api, repo }: TestQueue): Promise<readonly Cache[]> {
  return (await api.ok<{ caches: readonly Cache[] }>('listCaches', { repo })).caches;
}

function untilCached(queue: TestQueue, count: number): Promise<true> {
  return until(`there are ${count} caches`, 30_000, async () =>
    (await cachesOf(queue)).length === count ? true : undefined,
  );
}

async function aQueueWith(world: ServerWorld, check: string, files = {}): Promise<TestQueue> {
  const queue = await aCheckedQueue(world, [{ name: 'registered', command: 'exit 9' }]);
  await queue.git.commit('main', { files: { '.sluice.yaml': `checks: { unit: ${check} }`, lock: '1', ...files } });
  await queue.api.ok('registerRepository', { repo: queue.repo, fileChecks: GRANT });
  return queue;
}

/** The log of a new pull request that landed, or that failed. */
async function logOfOne(queue: TestQueue, files?: Readonly<Record<string, string>>, state = 'MERGED'): Promise<string> {
  const number = await queue.submitOne(files);
  assert.equal((await untilLeft(queue, number)).state, state);
  return logOf(queue, await testRunOf(queue, number), 'unit');
}

function sluiceOf({ server }: ServerWorld, args: readonly string[]) {
  return runSluice(args, { SLUICE_URL: server.url, SLUICE_TOKEN: server.token }).ended;
}

describe('caches of checks', () => {
  const world = useServer(ENVIRONMENT);
  const KEEP = '{ key: [lock], paths: ["~/store"] }';
  const SEE = 'echo "hit=$SLUICE_CACHE_HIT $(cat ~/store/a 2>&-)"; mkdir -p ~/store';

  it('[R82] come from the head alone: a pull request that finds none has the head run once, and leaves nothing', async () => {
    const queue = await aQueueWith(
      world,
      `{ run: '${SEE}; echo "$SLUICE_PULL_REQUESTS" > ~/store/a', cache: ${KEEP} }`,
    );
    assert.match(await logOfOne(queue), /cache: none has this key yet\.\nhit=none \n/);
    await untilCached(queue, 1);
    // The head has no pull request, so that the file is empty.
    assert.match(await logOfOne(queue), /cache: exact, .*\nhit=exact \n/);
    assert.match(await logOfOne(queue, { lock: '2' }), /hit=none/);
    // It landed, so that its key is that of the head.
    assert.match(await logOfOne(queue), /hit=(none|exact) \n/);
    await untilCached(queue, 2);
    assert.match(await logOfOne(queue), /hit=exact \n/);
  });

  it('[R82] [R91] are warm after a try, and clear by command', async () => {
    const queue = await aQueueWith(world, `{ run: '${SEE}; echo warm > ~/store/a', cache: ${KEEP} }`);
    const tried = await sluiceOf(world, ['repo', 'try', queue.name]);
    assert.match(tried.out, /cache: kept for later runs, 0\.\d MiB in 2 entries/);
    assert.match(await logOfOne(queue), /hit=exact warm\n/);
    const listed = await sluiceOf(world, ['cache', 'list', queue.name, '--check', 'unit']);
    assert.match(listed.out, /\tmain\tunit\t[0-9a-f]{12}\t\d+ kB\t.*\n$/);
    assert.match((await sluiceOf(world, ['cache', 'clear', queue.name, '--check', 'lint'])).out, /There was none/);
    assert.match((await sluiceOf(world, ['cache', 'clear', queue.name])).out, /^1 deleted \(\d+ kB\)\.\n$/);
    assert.match((await sluiceOf(world, ['cache', 'list', queue.name])).out, /No caches/);
    await queue.api.refused('404 REPOSITORY_NOT_FOUND', 'listCaches', { repo: { ...queue.repo, name: 'none' } });
  });

  it('[R83] hold the result of prepare, which is then skipped', async () => {
    const check =
      '{ prepare: "mkdir lib; echo made > lib/a", run: cat lib/a, cache: { key: [lock], paths: [lib], result: true } }';
    const queue = await aQueueWith(world, check);
    assert.equal((await sluiceOf(world, ['repo', 'try', queue.name])).code, 0);
    assert.match(
      await logOfOne(queue),
      /cache: exact.*\n\[Sluice\] prepare is skipped: the cache holds its result\nmade\n/,
    );
    const other = check.replace('made', 'changed');
    const text = await logOfOne(queue, { '.sluice.yaml': `checks: { unit: ${other} }` });
    assert.match(text, /prepare is skipped/, 'the file of the base counts');
    assert.match(await logOfOne(queue), /none has this key yet\.\nchanged\n/);
  });

  it('[R90] a check says which of its tools is missing', async () => {
    const queue = await aQueueWith(world, '{ run: "true", tools: [sh, no-such-tool] }');
    const number = await queue.submitOne();
    const { explanation } = await untilLeft(queue, number);
    const text = await logOf(queue, await testRunOf(queue, number), 'unit');
    assert.match(
      text + JSON.stringify(explanation),
      /needs no-such-tool, which it does not find\. Checks find programs in /,
    );
  });
});

describe('the cache of npm', () => {
  const world = useServer(ENVIRONMENT);
  let registry: NpmRegistry;
  before(async () => {
    registry = await createNpmRegistry();
  });
  after(() => registry.close());

  it('[R83] spares every request to the registry, and the download of all but the changed package', async () => {
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) => registry.publish({ name, version: '1.0.0', files: { 'index.js': `"${name}"` } })),
    );
    const cache = 'cache: { key: [package-lock.json], paths: [~/.npm], verified: true }';
    const prepare = 'prepare: npm ci --prefer-offline --no-audit --no-fund';
    const check = `{ tools: [node, npm], ${cache}, ${prepare}, run: node -r one -e 0, network: true }`;
    const queue = await aQueueWith(world, check, npmProject(registry.url, { one: one ?? {} }));
    const tried = await sluiceOf(world, ['repo', 'try', queue.name]);
    assert.equal(tried.code, 0, tried.out);
    assert.deepEqual(registry.requests, ['/one/-/one-1.0.0.tgz']);
    assert.match(await logOfOne(queue), /cache: exact/);
    assert.equal(registry.requests.length, 1, 'no request on a hit');
    const changed = npmProject(registry.url, { one: one ?? {}, two: two ?? {} });
    assert.match(await logOfOne(queue, changed), /cache: fallback/);
    assert.deepEqual(registry.requests.slice(1), ['/two/-/two-1.0.0.tgz']);
  });
});

describe('a server that is killed', () => {
  it('[R81] while it stores a cache has none of it after its restart', async (t: TestContext) => {
    const world = await openProcess(t, ENVIRONMENT);
    const queue = await aQueueWith(
      world,
      '{ run: "mkdir ~/store; head -c 250000000 /dev/urandom > ~/store/a", cache: { key: [lock], paths: ["~/store"] } }',
    );
    const folder = join(world.server.dataFolder, 'caches');
    const filesNow = async () =>
      (await readdir(folder, { recursive: true }).catch(() => [])).filter((name) => name.includes('.tar'));
    const tried = sluiceOf(world, ['repo', 'try', queue.name]);
    const unfinished = await until('a cache is being stored', 30_000, async () => {
      const names = await filesNow();
      return names.length > 0 ? names : undefined;
    });
    assert.match(unfinished[0] ?? '', /\.part$/);
    world.server.child.kill('SIGKILL');
    await tried;
    assert.match((await filesNow())[0] ?? '', /\.part$/);
    const next = await startServer({ ...ENVIRONMENT, SLUICE_DATA: world.server.dataFolder });
    t.after(() => next.stop());
    assert.deepEqual(await filesNow(), []);
  });
});
