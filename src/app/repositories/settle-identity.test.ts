import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aRepository, storeOrganization, storeQueue, storeRepository } from '../../../test/helpers/store-rows.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { Caller } from '../core/caller.ts';
import { toForgeRepository } from '../core/find-queue.ts';
import { isRefusal } from '../core/refusal.ts';
import { explainTrouble } from '../queue/explain-trouble.ts';
import { cancelPullRequest } from '../queue/pull-request-acts.ts';
import { createQueue, deleteQueue } from '../queue/queues.ts';
import { submitPullRequest } from '../queue/submit-pull-request.ts';
import { registerRepository } from './register-repository.ts';
import { settleIdentity } from './settle-identity.ts';

const MINUTE_MS = 60_000;

const world = madeForEach(() => HostedWorld.create());
let number: PrNumber;

/** The server has polled its repository, and the pull request is under test. */
beforeEach(async () => {
  world.start({ polls: true });
  number = await world.world.submit();
  await world.deliverAndPass(10_000);
});

async function callerOf(scopes: Caller['scopes'] = new Set(['admin'])): Promise<Caller> {
  const organization = await world.app.store.accounts.findOrganizationById((await world.repository()).organizationId);
  assert.ok(organization);
  return { organization, tokenId: 'token', name: 'ada', scopes, repositoryIds: null };
}

const register = async (repo: Partial<{ owner: string; name: string }>, caller?: Caller) => {
  const { host, owner, name } = await world.repository();
  const input = {
    repo: { host, owner, name, ...repo },
  };
  return registerRepository(world.app, caller ?? (await callerOf()), input);
};

async function refOf() {
  const { host, owner, name } = await world.repository();
  return { repo: { host, owner, name }, targetBranch: 'main' };
}

/** The explanation that an author reads. */
async function explain(number: PrNumber): Promise<string> {
  const found = await world.app.queues.find(world.world.queueId);
  const entry = await world.entry(number);
  assert.ok(found && entry);
  const reasons = await explainTrouble(world.app, { ...found, repository: await world.repository() }, entry);
  return reasons.map(({ text }) => text).join('\n');
}

/** Another organization gets a queue on a repository of that owner. */
async function giveOthersAQueue(owner: string): Promise<void> {
  const { host } = await world.repository();
  const { id: organizationId } = await storeOrganization(world.app.store);
  const { id: repositoryId } = await storeRepository(world.app.store, { organizationId, host, owner, name: 'theirs' });
  await storeQueue(world.app.store, { repositoryId });
  world.app.directory.forget();
}

describe("a repository's own id", () => {
  test('is stored by the first poll, without a further query, and survives renames [G109] [G76]', async () => {
    assert.equal((await world.repository()).forgeId, '1');
    assert.deepEqual([...world.hosting.asked.keys()], ['poll']);
    world.hosting.rename({ owner: 'elsewhere', name: 'app' });
    await world.world.clock.pass(2 * MINUTE_MS);
    const { owner, forgeId } = await world.repository();
    assert.deepEqual([owner, forgeId], ['elsewhere', '1']);
  });

  test('is stored by two polls at once, and makes no duplicate [G76]', async () => {
    const { owner, name } = await world.repository();
    const before = { ...(await world.repository()), forgeId: null };
    assert.equal(await settleIdentity(world.app, world.hosting, before, { owner, name, forgeId: '1' }), false);
    assert.equal((await world.repository()).blockedReason, null);
  });
});

describe('another repository under the name', () => {
  for (const how of ['told by a delivery', 'found by a look'] as const) {
    test(`is left alone, ${how}, and authors are told why [G111] [G112]`, async () => {
      const { clock, repository, forge } = world.world;
      const sha = await world.testedSha();
      const head = repository.getHead('main');
      world.hosting.replace();
      if (how === 'told by a delivery') await world.deliverAndPass(1_000);
      else {
        world.hosting.deliveries.length = 0;
        await clock.pass(MINUTE_MS);
      }
      const { name } = await world.repository();
      world.hosting.asked.clear();
      const builds = forge.builds;
      // Webhooks under this name are about another repository from now on.
      world.hosting.report(sha, 'ci', 'SUCCESS');
      world.hosting.comment(number, 'mallory', '/sluice cancel');
      const other = await world.world.submit();
      await world.deliverAndPass(10 * MINUTE_MS);
      assert.equal(repository.getHead('main'), head);
      assert.equal(forge.builds, builds);
      assert.equal(await world.stateOf(number), 'TESTING');
      const told = [...world.hosting.asked.keys()].filter((question) => !['poll', 'findById'].includes(question));
      assert.deepEqual(told, []);
      const [alarm] = await world.app.store.alarms.list([world.world.queueId], 0, 10);
      for (const text of [await explain(other), alarm?.text ?? '']) {
        assert.match(text, new RegExp(`${name} is another repository now \\(number 2 .*registered \\(number 1\\)`));
        assert.match(text, /To use the new one, cancel what is in its queues, delete them, and register .* again\./);
      }
    });
  }

  test('takes no pull requests for the queues of the former one [G111]', async () => {
    world.hosting.replace();
    await world.deliverAndPass(1_000);
    const { host, owner, name } = await world.repository();
    const input = { repo: { host, owner, name }, targetBranch: 'main', prNumber: number };
    const submit = submitPullRequest(world.app, await callerOf(), input as never);
    await assert.rejects(submit, /FORGE_UNAVAILABLE|is another repository now/);
  });

  test('is used when the queues of the former one are deleted, and nothing of them is said there [G113]', async () => {
    const { app, hosting } = world;
    world.world.forge.isBroken = true;
    hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await world.deliverAndPass(10_000);
    assert.equal((await world.queue()).landing?.isBegun, true);
    world.world.forge.isBroken = false;
    hosting.replace();
    await world.deliverAndPass(MINUTE_MS);
    const refused = await register({});
    assert.ok(isRefusal(refused));
    assert.match(
      refused.detail,
      /another repository now .* Cancel what is in them, delete them, and register it again/,
    );
    const [caller, queue] = [await callerOf(), await refOf()];
    await cancelPullRequest(app, caller, { ...queue, prNumber: number });
    await world.deliverAndPass(10 * MINUTE_MS);
    assert.equal(await world.stateOf(number), 'CANCELLED');
    assert.deepEqual(await deleteQueue(app, caller, queue), {});
    hosting.asked.clear();
    assert.ok(!isRefusal(await register({})));
    const { id, forgeId, blockedReason } = await world.repository();
    assert.deepEqual([forgeId, blockedReason], ['2', null]);
    assert.equal(await app.store.pullRequestNotes.find(id, number), undefined);
    assert.ok(!isRefusal(await createQueue(app, caller, { ...queue, settings: {}, state: undefined })));
    await world.deliverAndPass(10 * MINUTE_MS);
    assert.equal(app.outages.find(id), undefined);
    assert.deepEqual([...new Set(hosting.asked.keys())].sort(), ['findById', 'identify', 'poll']);
  });

  test('is blocked also if the forge does not tell what became of the former one [G111]', async () => {
    world.hosting.failing.add('findById');
    world.hosting.replace();
    await world.deliverAndPass(MINUTE_MS);
    assert.match((await world.repository()).blockedReason ?? '', /is another repository now/);
    world.hosting.comment(number, 'mallory', '/sluice cancel');
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'TESTING');
  });

  test('is left for the former one, which is followed to its new name by its id [G77]', async () => {
    const { owner } = await world.repository();
    world.hosting.replace({ owner, name: 'moved' });
    await world.deliverAndPass(1_000);
    assert.equal((await world.repository()).name, 'moved');
    // From now on the forge has it under that name.
    Object.assign(world.hosting, { name: { owner, name: 'moved' }, forgeId: '1' });
    world.hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'MERGED');
    assert.equal((await world.repository()).blockedReason, null);
  });

  test('is registered beside the former one, which goes on with its queues [G77]', async () => {
    const before = await world.repository();
    world.hosting.replace({ owner: before.owner, name: 'moved' });
    assert.ok(!isRefusal(await register({})));
    const after = await world.app.store.repositories.list(before.organizationId);
    assert.deepEqual(after.map(({ name, forgeId }) => [name, forgeId]).sort(), [
      ['moved', '1'],
      [before.name, '2'],
    ]);
    assert.equal((await world.repository()).name, 'moved');
    assert.equal(await world.stateOf(number), 'TESTING');
  });

  test('stays blocked where the former one has a name that is taken here [G111]', async () => {
    const { owner, organizationId, host } = await world.repository();
    await storeRepository(world.app.store, { organizationId, host, owner, name: 'moved' });
    world.app.directory.forget();
    world.hosting.replace({ owner, name: 'Moved' });
    await world.deliverAndPass(1_000);
    assert.match((await world.repository()).blockedReason ?? '', /is called .*\/moved now, under which another/);
  });

  test('is forgotten when the one that was registered is back [G114]', async () => {
    world.hosting.replace();
    await world.deliverAndPass(MINUTE_MS);
    world.hosting.forgeId = '1';
    await world.deliverAndPass(2 * MINUTE_MS);
    assert.equal((await world.repository()).blockedReason, null);
    world.hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await world.deliverAndPass(2 * MINUTE_MS);
    assert.equal(await world.stateOf(number), 'MERGED');
  });

  test('is left alone by every server, also by one that did not read the forge itself [G111]', async () => {
    const other = world.createServer();
    world.hosting.replace();
    await world.deliverAndPass(1_000);
    const repository = await other.directory.findRepositoryById(world.world.repositoryId);
    const [found, entry] = [await other.queues.find(world.world.queueId), await world.entry(number)];
    assert.ok(repository && found && entry);
    assert.throws(() => toForgeRepository(repository), /is another repository now/);
    const [reason] = await explainTrouble(other, { ...found, repository }, entry);
    assert.match(reason?.text ?? '', /is another repository now/);
  });
});

describe('a repository that was transferred', () => {
  test('is not followed to an owner that another organization has, until the operator registers it [G78]', async () => {
    await giveOthersAQueue('Rivals');
    const before = await world.repository();
    world.hosting.rename({ owner: 'rivals', name: 'app' });
    world.hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await world.deliverAndPass(10 * MINUTE_MS);
    const { blockedReason, ...kept } = await world.repository();
    assert.deepEqual({ ...kept, blockedReason: null }, before);
    assert.match(blockedReason ?? '', /was transferred and is .*rivals\/app now, and another organization/);
    assert.match(await explain(number), /registered with a token with the scope "instance"/);
    assert.equal(await world.stateOf(number), 'TESTING');
    const repo = { owner: 'rivals', name: 'app' };
    const refused = await register(repo);
    assert.equal(isRefusal(refused) && refused.code, 'INSUFFICIENT_SCOPE');
    const operator = await callerOf(new Set(['admin', 'instance']));
    assert.ok(!isRefusal(await register(repo, operator)));
    const after = await world.repository();
    assert.deepEqual([after.id, after.owner, after.name, after.blockedReason], [before.id, 'rivals', 'app', null]);
    await world.deliverAndPass(3 * MINUTE_MS);
    assert.equal(await world.stateOf(number), 'MERGED');
  });

  test('is followed if it has no queue: the owner is checked when one is created [G78]', async () => {
    await giveOthersAQueue('rivals');
    const { host, owner, organizationId } = await world.repository();
    const idle = aRepository({ id: 'idle' as RepositoryId, organizationId, host, owner, name: 'idle' });
    await world.app.store.repositories.save(idle);
    world.app.directory.forget();
    Object.assign(world.hosting, { name: { owner: 'rivals', name: 'idle' }, forgeId: '9' });
    world.hosting.tell('access', { kind: 'access' }, { owner, name: 'idle' });
    await world.deliverAndPass(1_000);
    const found = await world.app.store.repositories.find(organizationId, { host, owner: 'rivals', name: 'idle' });
    assert.deepEqual([found?.id, found?.blockedReason], ['idle', null]);
  });
});

describe('the case of a name', () => {
  test('is taken over from the forge when it changes there [G116]', async () => {
    const { owner, name, id } = await world.repository();
    world.hosting.rename({ owner, name: name.toUpperCase() });
    await world.deliverAndPass(1_000);
    const after = await world.repository();
    assert.deepEqual([after.id, after.name], [id, name.toUpperCase()]);
  });

  test('makes no second queue when both spellings are polled at the same moment [G79]', async () => {
    const { store, directory } = world.app;
    const { host, organizationId } = await world.repository();
    const rows = [];
    for (const name of ['Twin', 'twin']) {
      const createdAt = rows.length;
      const row = await storeRepository(store, { organizationId, host, owner: 'acme', name, createdAt });
      await storeQueue(store, { repositoryId: row.id });
      rows.push(row);
    }
    directory.forget();
    const seen = { owner: 'acme', name: 'Twin', forgeId: '77' };
    await Promise.allSettled(rows.map((row) => settleIdentity(world.app, world.hosting, row, seen)));
    for (const { id } of rows) {
      const row = await directory.findRepositoryById(id);
      assert.ok(row);
      await settleIdentity(world.app, world.hosting, row, seen).catch(() => undefined);
    }
    const blocked = (await directory.listRepositories(organizationId)).filter((row) => row.blockedReason !== null);
    assert.deepEqual(pluck(blocked, 'id'), [rows[1]?.id]);
  });

  test('makes no second queue of a repository that was registered twice: the later one is blocked [G117]', async () => {
    const { host, owner, name, organizationId } = await world.repository();
    const ref = { host, owner, name: name.toUpperCase() };
    const { id } = await storeRepository(world.app.store, { organizationId, ...ref });
    const { body } = (await world.app.store.queues.listByRepository(world.world.repositoryId))[0] ?? {};
    await storeQueue(world.app.store, { repositoryId: id, body: body ?? '' });
    world.app.directory.forget();
    await world.world.clock.pass(2 * MINUTE_MS);
    const twin = await world.app.store.repositories.find(organizationId, ref);
    assert.match(twin?.blockedReason ?? '', /is the repository that has queues here as .* too/);
    assert.equal((await world.repository()).blockedReason, null);
  });
});
