import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeForEach, maker } from '../../../test/helpers/made.ts';
import { storeRepository } from '../../../test/helpers/store-rows.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { Fault } from '../../lib/fault.ts';

const createWorld = maker(() => HostedWorld.create());
const world = madeForEach(() => HostedWorld.create());

/** Everything that people and CI do. `hear` lets the server find out. Returns each pull request's final state. */
async function play(world: HostedWorld, hear: () => Promise<void>): Promise<Record<string, string | undefined>> {
  const { repository } = world.world;
  const open = (name: string) => repository.openPullRequest({ base: 'main', files: { [name]: 'x' } }).number;
  const numbers: Record<string, PrNumber> = {};
  const passes = async () => {
    world.hosting.report(await world.testedSha(), 'ci', 'SUCCESS');
    await hear();
  };
  await hear();
  numbers['submitted by its label'] = open('labelled');
  world.hosting.label(numbers['submitted by its label'], 'ada', 'trunk-merge-queue-submit');
  await hear();
  await passes();
  numbers['submitted by a comment'] = open('commented');
  await hear();
  world.hosting.comment(numbers['submitted by a comment'], 'ada', 'looks good\n/sluice merge');
  await hear();
  await passes();
  numbers['cancelled by a comment'] = await world.world.submit();
  await hear();
  world.hosting.comment(numbers['cancelled by a comment'], 'ada', '/sluice cancel');
  await hear();
  numbers['pushed to'] = await world.world.submit();
  await hear();
  repository.push(numbers['pushed to'], { files: { more: 'x' } });
  await hear();
  numbers.closed = await world.world.submit();
  await hear();
  repository.close(numbers.closed);
  await hear();
  numbers.failed = await world.world.submit();
  await hear();
  world.hosting.report(await world.testedSha(), 'ci', 'FAILURE');
  await hear();
  numbers['tested again on a moved target'] = await world.world.submit();
  await hear();
  repository.commit('main', { files: { by: 'hand' } });
  await hear();
  await passes();
  const states = Object.entries(numbers).map(async ([name, number]) => [name, await world.stateOf(number)] as const);
  return Object.fromEntries(await Promise.all(states));
}

describe('polling a forge', () => {
  test('a repository that stays unreadable raises one alarm with the reason [N6]', async () => {
    world.start({ polls: true });
    const { clock, queueId, store } = world.world;
    await clock.pass(1_000);
    const answer = world.hosting.poll;
    world.hosting.poll = () => Promise.reject(new Fault('FORGE_UNAVAILABLE', 'The GitHub App is suspended.'));
    await clock.pass(4 * 60_000);
    assert.deepEqual(await store.alarms.list([queueId], 0, 10), []);
    await clock.pass(10 * 60_000);
    const [alarm, ...more] = await store.alarms.list([queueId], 0, 10);
    assert.equal(alarm?.code, 'FORGE_UNREACHABLE');
    assert.match(alarm?.text ?? '', /The GitHub App is suspended\./);
    assert.deepEqual(more, []);
    world.hosting.poll = answer;
    await clock.pass(2 * 60_000);
    assert.equal((await store.alarms.list([queueId], 0, 10)).length, 1);
  });

  test('with deliveries or without, everything ends the same [G34]', async () => {
    const untold = await createWorld();
    for (const each of [world, untold]) each.start({ polls: true });
    const expected = await play(world, () => world.deliverAndPass(5_000));
    assert.deepEqual(expected, {
      'submitted by its label': 'MERGED',
      'submitted by a comment': 'MERGED',
      'cancelled by a comment': 'CANCELLED',
      'pushed to': 'CANCELLED',
      closed: 'CANCELLED',
      failed: 'FAILED',
      'tested again on a moved target': 'MERGED',
    });
    const found = await play(untold, () => untold.world.clock.pass(130_000));
    assert.deepEqual(found, expected);
  });

  test('a label of the second of a poll is found by the next poll, and read once [G34]', async () => {
    world.start({ polls: true });
    const { clock } = world.world;
    const number = world.open();
    const countPolls = () => world.hosting.asked.get('poll') ?? 0;
    await clock.pass(1_000 - (clock.now() % 1_000));
    for (let before = countPolls(); countPolls() === before; ) {
      if (clock.now() % 1_000 === 0) world.hosting.comment(number, 'ada', 'hello');
      await clock.pass(50);
    }
    assert.notEqual(clock.now() % 1_000, 0);
    world.hosting.permissions.set('eve', 'read');
    world.hosting.label(number, 'eve', 'trunk-merge-queue-submit');
    await clock.pass(130_000);
    assert.ok((world.hosting.asked.get('readLabel') ?? 0) > 0);
    world.hosting.asked.clear();
    await clock.pass(600_000);
    assert.deepEqual([...world.hosting.asked], [['poll', 10]]);
  });

  test('a label of the second of a poll is found by the next one, also when that poll took long [G34]', async () => {
    world.start({ polls: true });
    const { clock } = world.world;
    const number = world.open();
    await clock.pass(10_000);
    const poll = world.hosting.poll.bind(world.hosting);
    world.hosting.poll = async (question) => {
      world.hosting.poll = poll;
      world.hosting.comment(number, 'ada', 'hello');
      const snapshot = await poll(question);
      world.hosting.label(number, 'ada', 'trunk-merge-queue-submit');
      await new Promise<void>((resolve) => clock.after(90_000, resolve));
      return snapshot;
    };
    await clock.pass(300_000);
    assert.ok(await world.entry(number));
  });

  test('a first poll reads comments of the second in which it was requested, also if our clock is ahead [G34]', async () => {
    world.start();
    const { clock } = world.world;
    const number = world.open();
    await clock.pass(1_500 - (clock.now() % 1_000));
    world.hosting.comment(number, 'ada', '/sluice merge');
    world.hosting.deliveries.length = 0;
    world.hosting.tell('rules', { kind: 'rules' });
    await world.deliverAndPass(5_000);
    assert.ok(await world.entry(number));
  });

  test('an idle repository costs one question a minute [G34]', async () => {
    world.start({ polls: true });
    for (let n = 0; n < 100; n += 1) world.open(`f${n}`);
    await world.world.clock.pass(120_000);
    world.hosting.asked.clear();
    await world.world.clock.pass(600_000);
    assert.deepEqual([...world.hosting.asked], [['poll', 10]]);
  });

  test('a few queries are enough when the forge recomputes mergeability of all waiting entries [G133]', async () => {
    world.start({ polls: true });
    const { forge, clock } = world.world;
    const find = forge.findPullRequest.bind(forge);
    let isUndecided = true;
    forge.findPullRequest = async (query) => {
      const pr = await find(query);
      return pr && isUndecided ? { ...pr, mergeability: 'IN_PROGRESS' } : pr;
    };
    await clock.pass(1_000);
    const numbers: PrNumber[] = [];
    // Their base was another branch, so that they are not admitted.
    for (let count = 0; count < 50; count += 1) numbers.push(await world.world.submit(undefined, 'another'));
    const before = world.hosting.asked.get('poll');
    while (world.hosting.asked.get('poll') === before) await clock.pass(500);
    isUndecided = false;
    world.hosting.asked.clear();
    await clock.pass(10_000);
    for (const number of numbers) assert.equal((await world.entry(number))?.pr.mergeability, 'MERGEABLE');
    const asked = world.hosting.asked.get('findPullRequests') ?? 0;
    assert.ok(asked >= 3 && asked <= 25, `${asked} questions about 50 of them`);
  });

  test('it polls more often while a candidate is under test and no webhooks arrive [G156]', async () => {
    world.start({ polls: true });
    await world.world.submit();
    await world.world.clock.pass(60_000);
    world.hosting.asked.clear();
    await world.world.clock.pass(300_000);
    const silent = world.hosting.asked.get('poll') ?? 0;
    assert.ok(silent >= 18 && silent <= 22, `${silent} polls in five minutes`);
    world.hosting.tell('branch x', { kind: 'branch', branch: 'x' });
    await world.deliverAndPass(60_000);
    world.hosting.asked.clear();
    await world.world.clock.pass(180_000);
    assert.equal(world.hosting.asked.get('poll'), 3);
  });

  test('a comment made while no server ran is obeyed by the next one, and one that was obeyed is not again [G130]', async () => {
    const first = world.createServer();
    world.start({ polls: true, app: first });
    const number = world.open();
    await world.world.clock.pass(70_000);
    world.hosting.comment(number, 'ada', '/sluice merge');
    world.hosting.permissions.set('ada', 'write');
    await world.world.clock.pass(70_000);
    assert.equal(world.hosting.asked.get('readComment'), 1);
    await world.stop();
    const other = world.open('b');
    await world.world.clock.pass(300_000);
    world.hosting.comment(other, 'ada', '/sluice merge');
    await world.world.clock.pass(3_600_000);
    const second = world.createServer();
    world.start({ polls: true, app: second });
    await world.world.clock.pass(10_000);
    assert.ok(await world.entry(other));
    assert.equal(world.hosting.asked.get('readComment'), 2);
  });

  test('failures and reruns of one poll count before its passes [G82]', async () => {
    for (const conclusion of ['FAILURE', undefined] as const) {
      const polled = await createWorld();
      polled.start({ polls: true });
      const { forge, clock } = polled.world;
      forge.protection = ['build', 'test'];
      const number = await polled.world.submit();
      await clock.pass(10_000);
      const sha = await polled.testedSha();
      polled.hosting.report(sha, 'test', 'SUCCESS');
      await clock.pass(70_000);
      polled.hosting.report(sha, 'build', 'SUCCESS');
      polled.hosting.report(sha, 'test', conclusion);
      await clock.pass(70_000);
      assert.equal(await polled.stateOf(number), conclusion === undefined ? 'TESTING' : 'FAILED');
    }
  });

  test('two servers poll as often as one', async () => {
    for (let n = 0; n < 2; n += 1) world.start({ polls: true, app: world.createServer() });
    await world.world.clock.pass(120_000);
    world.hosting.asked.clear();
    await world.world.clock.pass(600_000);
    assert.equal(world.hosting.asked.get('poll'), 10);
  });

  test('a renamed repository is followed without a delivery [G36]', async () => {
    world.start({ polls: true });
    await world.world.clock.pass(10_000);
    world.hosting.rename({ owner: 'elsewhere', name: 'app' });
    const number = world.openAndAsk();
    await world.world.clock.pass(130_000);
    assert.equal((await world.repository()).owner, 'elsewhere');
    assert.ok(await world.entry(number));
  });

  test('repositories without a queue, and those of plain git, are not looked at', async () => {
    world.start({ polls: true });
    await storeRepository(world.app.store, { host: 'forge.test' });
    await storeRepository(world.app.store, { host: 'local' });
    await world.world.clock.pass(10_000);
    assert.equal(world.hosting.asked.get('poll'), 1);
    await world.app.store.queues.delete(
      world.world.queueId,
      (await world.app.queues.find(world.world.queueId))?.version ?? 0,
      { at: 1, by: 'ada' },
    );
    world.app.directory.forget();
    await world.world.clock.pass(300_000);
    assert.equal(await world.app.store.hints.findNextDueAt(), undefined);
  });

  test('polls go on after the clock was set back [G34]', async () => {
    world.start({ polls: true });
    const { clock } = world.world;
    await clock.pass(5 * 60_000);
    const before = world.hosting.asked.get('poll') ?? 0;
    assert.ok(before > 0);
    const now = clock.now.bind(clock);
    Object.assign(clock, { now: () => now() - 2 * 3_600_000 });
    await clock.pass(10 * 60_000);
    assert.ok((world.hosting.asked.get('poll') ?? 0) >= before + 5);
  });
});
