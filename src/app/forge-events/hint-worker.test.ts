import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { aRepository } from '../../../test/helpers/store-rows.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Forge } from '../../forge/forge.ts';
import type { WebhookHint } from '../../forge/hosting.ts';
import type { Sha } from '../../lib/sha.ts';
import { encodeHint } from '../core/hint-codec.ts';
import { readNote } from '../pr-page/note.ts';

let answer = () => {};

/** The forge does not answer before `answer` is called, or the test ends. */
function holdAnswer(): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  answer = () => resolve(undefined);
  return promise;
}

afterEach(() => answer());
const world = madeForEach(() => HostedWorld.create());

/** A pull request under test, on a server that runs. */
async function submitted(): Promise<PrNumber> {
  world.start();
  const number = await world.world.submit();
  await world.deliverAndPass(10_000);
  return number;
}

describe('webhook hints', () => {
  test('a check that finished is read at the forge, and what passed lands [G31]', async () => {
    const number = await submitted();
    world.hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'MERGED');
    assert.equal(world.hosting.asked.get('readChecks'), 1);
  });

  test('repeated deliveries change nothing and ask nothing [G129]', async () => {
    const number = await submitted();
    const sha = await world.testedSha();
    world.hosting.report(sha, 'ci', undefined);
    world.hosting.report(sha, 'other', 'FAILURE');
    world.hosting.tell(`checks ${sha}`, { kind: 'checks', sha: 'f'.repeat(40) as Sha });
    await world.deliverAndPass(10_000);
    assert.equal(world.hosting.asked.get('readChecks'), undefined);
    world.hosting.report(sha, 'ci', 'FAILURE');
    const [delivery] = world.hosting.deliveries;
    assert.ok(delivery);
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'FAILED');
    const { version } = (await world.app.queues.find(world.world.queueId)) ?? { version: -1 };
    world.hosting.deliveries.push(delivery, delivery);
    await world.deliverAndPass(10_000);
    assert.equal(world.hosting.asked.get('readChecks'), 1);
    assert.equal((await world.app.queues.find(world.world.queueId))?.version, version);
  });

  test('a check that the forge does not show yet is read again', async () => {
    const number = await submitted();
    const sha = await world.testedSha();
    world.hosting.tell(`checks ${sha} ci`, { kind: 'checks', sha, check: 'ci' });
    await world.deliverAndPass(3_000);
    world.hosting.report(sha, 'ci', 'SUCCESS');
    world.hosting.deliveries.length = 0;
    await world.world.clock.pass(10_000);
    assert.equal(await world.stateOf(number), 'MERGED');
  });

  test('only the app that must report a check can [G125]', async () => {
    const settings = { requiredStatuses: [{ name: 'ci', app: 'the-app' }] };
    const at = world.world.clock.now();
    await world.app.queues.run(world.world.queueId, () => ({
      ...{ kind: 'queue_updated', at, actor: 'ada', settings, state: undefined },
    }));
    const number = await submitted();
    const sha = await world.testedSha();
    world.hosting.report(sha, 'ci', 'SUCCESS', { reporter: 'another' });
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'TESTING');
    world.hosting.report(sha, 'ci', 'SUCCESS', { reporter: 'the-app' });
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'MERGED');
  });

  test('a push reaches the queue, and its head is recorded with the time it became known', async () => {
    const number = await submitted();
    const head = world.world.repository.push(number, { files: { more: 'x' } });
    const at = world.world.clock.now();
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'CANCELLED');
    const { heads } = await readNote(world.app, { repositoryId: world.world.repositoryId, prNumber: number });
    // A comment of the same second may have been written before the push.
    const changedAt = at - (at % 1_000);
    assert.deepEqual(heads.at(-1), { sha: head, at: changedAt + 1_000, changedAt });
  });

  test('pull requests in no queue are not read', async () => {
    world.start();
    const number = world.open();
    world.world.repository.push(number, { files: { b: 'b' } });
    await world.deliverAndPass(10_000);
    assert.deepEqual([...world.hosting.asked], []);
  });

  test('a forge that still works out whether it can be merged is asked again, ever later [G131]', async () => {
    let isUndecided = true;
    const { forge } = world.world;
    const find = forge.findPullRequest.bind(forge);
    let asked = 0;
    forge.findPullRequest = async (query) => {
      asked += 1;
      const pr = await find(query);
      return pr && isUndecided ? { ...pr, mergeability: 'IN_PROGRESS' } : pr;
    };
    world.start();
    // Its base was another branch, so that it is not admitted.
    const number = await world.world.submit(undefined, 'another');
    await world.deliverAndPass(60_000);
    assert.equal((await world.entry(number))?.pr.mergeability, 'IN_PROGRESS');
    assert.ok(asked >= 4 && asked <= 8, `${asked} questions in a minute`);
    isUndecided = false;
    await world.world.clock.pass(61_000);
    assert.equal((await world.entry(number))?.pr.mergeability, 'MERGEABLE');
    const before = asked;
    await world.world.clock.pass(600_000);
    assert.equal(asked, before);
  });

  test('a command in a comment is obeyed once, however often it is told of [G130]', async () => {
    world.start();
    const number = world.open();
    await world.deliverAndPass(1_000);
    world.hosting.comment(number, 'ada', '/sluice merge');
    const [delivery] = world.hosting.deliveries;
    assert.ok(delivery);
    await world.deliverAndPass(5_000);
    assert.notEqual(await world.entry(number), undefined);
    const reads = world.hosting.asked.get('readComment');
    world.hosting.deliveries.push(delivery, delivery);
    await world.deliverAndPass(3_600_000);
    assert.equal(world.hosting.asked.get('readComment'), reads);
  });

  test('the enqueueing label submits, also if the webhook does not name it [G57]', async () => {
    world.start();
    const number = world.open();
    await world.deliverAndPass(1_000);
    world.hosting.label(number, 'ada', 'trunk-merge-queue-submit');
    world.hosting.deliveries.length = 0;
    world.hosting.tell(`label ${number}`, { kind: 'label', number });
    await world.deliverAndPass(5_000);
    assert.notEqual(await world.entry(number), undefined);
  });

  test('hints about unregistered repositories are dropped [G32]', async () => {
    world.hosting.tell('access', { kind: 'access' }, { owner: 'strangers', name: 'app' });
    world.hosting.tell('rules', { kind: 'rules' }, { owner: 'strangers', name: '*' });
    await world.deliver();
    assert.equal(await world.app.store.hints.findNextDueAt(), undefined);
    world.hosting.tell('rules', { kind: 'rules' }, { owner: world.hosting.name.owner.toUpperCase(), name: '*' });
    await world.deliver();
    assert.notEqual(await world.app.store.hints.findNextDueAt(), undefined);
  });

  test('changed rules empty the cache, and everything is polled', async () => {
    world.start();
    const number = await world.world.submit();
    await world.deliverAndPass(1_000);
    world.hosting.tell('rules', { kind: 'rules' });
    await world.deliverAndPass(1_000);
    const { owner, name } = world.hosting.name;
    assert.deepEqual(world.hosting.forgotten, [`${owner}/${name}`]);
    assert.equal(world.hosting.asked.get('poll'), 1);
    assert.ok(await world.entry(number));
  });

  test('a forge that hangs does not hold up hints of another [G33]', async () => {
    const silence = holdAnswer();
    const { organizationId } = await world.repository();
    const hung = { hosting: { forget: () => undefined, identify: () => silence } } as unknown as Forge;
    (world.app.forges as Map<string, Forge>).set('hung.test', hung);
    const now = world.world.clock.now();
    for (let count = 0; count < 40; count += 1) {
      const place = { owner: 'acme', name: `app-${count}` };
      const repository = await world.app.store.repositories.save(
        aRepository({ organizationId, host: 'hung.test', ...place }),
      );
      const hint: WebhookHint = { kind: 'access', key: `${count} access`, ...place };
      await world.app.store.hints.add([encodeHint(repository, hint, now)]);
    }
    world.app.directory.forget();
    await world.world.clock.pass(1_000);
    const number = world.openAndAsk();
    world.start();
    await world.deliverAndPass(10_000);
    assert.ok(await world.entry(number));
    answer();
    await world.world.clock.pass(60_000);
    assert.equal(await world.app.store.hints.countOverdue(world.world.clock.now()), 0);
  });

  test('hints about one pull request are handled in the order of their arrival [G132]', async () => {
    const silence = holdAnswer();
    const number = await submitted();
    const { forge } = world.world;
    const find = forge.findPullRequest.bind(forge);
    forge.findPullRequest = async (query) => {
      await silence;
      return find(query);
    };
    world.world.repository.push(number, { files: { more: 'x' } });
    world.hosting.comment(number, 'ada', '/sluice help');
    await world.deliverAndPass(10_000);
    assert.equal(world.hosting.asked.get('readComment'), undefined);
    answer();
    await world.world.clock.pass(10_000);
    assert.equal(world.hosting.asked.get('readComment'), 1);
  });

  test('an unreadable hint does not hold up the others [G131]', async () => {
    const { host } = await world.repository();
    const now = world.world.clock.now();
    const rows = ['{', '{}', 'null'].map((body, index) => ({
      ...{ host, key: `broken ${index}`, kind: 'comment', body, receivedAt: now, dueAt: now - 1 },
    }));
    await world.app.store.hints.add(rows);
    const number = world.openAndAsk();
    world.start();
    await world.deliverAndPass(10_000);
    assert.ok(await world.entry(number));
    await world.world.clock.pass(10 * 60_000);
    assert.equal(await world.app.store.hints.countOverdue(world.world.clock.now()), 0);
  });
});

describe('a repository that is called otherwise', () => {
  test('goes on under its new name, with everything it had [G36]', async () => {
    const number = await submitted();
    const before = await world.repository();
    world.hosting.rename({ owner: 'new-owner', name: 'new-name' });
    await world.deliverAndPass(10_000);
    const { updatedAt: _, ...after } = await world.repository();
    const { updatedAt: __, ...expected } = { ...before, owner: 'new-owner', name: 'new-name', forgeId: '1' };
    assert.deepEqual(after, expected);
    world.hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await world.deliverAndPass(10_000);
    assert.equal(await world.stateOf(number), 'MERGED');
  });

  test('a hint under the former name of a repository is not lost', async () => {
    const number = world.openAndAsk();
    await world.deliver();
    await world.app.store.repositories.rename(
      world.world.repositoryId,
      { ...(await world.repository()), name: 'x' },
      1,
    );
    world.app.directory.forget();
    world.start();
    await world.world.clock.pass(5_000);
    assert.ok(await world.entry(number));
  });

  test('stays as it is where another one has that name here [G36]', async () => {
    world.start();
    const repository = await world.repository();
    const other = { ...repository, id: 'other' as typeof repository.id, name: 'taken' };
    await world.app.store.repositories.save(other);
    world.app.directory.forget();
    world.hosting.rename({ owner: repository.owner, name: 'taken' });
    await world.deliverAndPass(10_000);
    assert.deepEqual(await world.repository(), { ...repository, forgeId: '1' });
  });
});

describe('an app that is suspended or removed', () => {
  test('is an outage that is explained; nothing is lost, and work goes on when it is back [G37]', async () => {
    world.start({ polls: true });
    const number = await world.world.submit();
    await world.deliverAndPass(10_000);
    const sha = await world.testedSha();
    world.hosting.outage = 'The GitHub App is not installed on acme.';
    world.hosting.tell('access', { kind: 'access' }, { ...world.hosting.name, name: '*' });
    world.hosting.report(sha, 'ci', 'SUCCESS');
    const { number: commented } = world.world.repository.openPullRequest({ base: 'main', files: { c: 'c' } });
    world.hosting.comment(commented, 'ada', '/sluice merge');
    await world.deliverAndPass(1_800_000);
    assert.match(world.app.outages.find(world.world.repositoryId)?.text ?? '', /not installed/);
    assert.ok(await world.entry(number));
    world.hosting.outage = undefined;
    await world.world.clock.pass(180_000);
    assert.equal(world.app.outages.find(world.world.repositoryId), undefined);
    assert.equal(await world.stateOf(number), 'MERGED');
    assert.ok(await world.entry(commented));
  });
});

describe('several servers', () => {
  test('handle every hint, and run every command once', async () => {
    const [a, b] = [world.createServer(), world.createServer()];
    world.start({ app: a });
    world.start({ app: b });
    const numbers: PrNumber[] = [];
    for (let n = 0; n < 30; n += 1) {
      numbers.push(world.openAndAsk(`f${n}`));
    }
    const deliveries = [...world.hosting.deliveries];
    await Promise.all([world.deliver(a), world.world.clock.pass(100)]);
    world.hosting.deliveries.push(...deliveries);
    await Promise.all([world.deliver(b), world.world.clock.pass(100)]);
    await world.world.clock.pass(30_000);
    for (const number of numbers) assert.ok(await world.entry(number), `#${number}`);
    assert.equal(world.hosting.asked.get('readComment'), numbers.length);
  });

  test('one that died between claim and settlement is made up for by another [G33]', async () => {
    const number = world.openAndAsk();
    await world.deliver();
    const now = world.world.clock.now();
    await world.app.store.hints.claim({ holder: 'dead', now, leaseUntil: now + 20_000, limit: 9 });
    world.start({ app: world.createServer() });
    await world.world.clock.pass(15_000);
    assert.equal(await world.entry(number), undefined);
    await world.world.clock.pass(15_000);
    assert.ok(await world.entry(number));
  });

  test('one that starts again handles the hints that it had claimed before', async () => {
    const number = world.openAndAsk();
    await world.deliver();
    const now = world.world.clock.now();
    await world.app.store.hints.claim({ holder: 'holder-1', now, leaseUntil: now + 3_600_000, limit: 9 });
    world.start({ app: world.createServer() });
    await world.world.clock.pass(1_000);
    assert.ok(await world.entry(number));
  });
});
