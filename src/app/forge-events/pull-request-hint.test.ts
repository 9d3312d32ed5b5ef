import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { requestPullRequestPoll } from '../core/request-poll.ts';
import { readNote, wasSeenAt } from '../pr-page/note.ts';

/** A forge that computes mergeability only when the test allows it. */
async function createWorld(t: TestContext) {
  const world = await HostedWorld.create();
  t.after(() => world.stop());
  const { forge } = world.world;
  const find = forge.findPullRequest.bind(forge);
  const state = { isUndecided: true, asked: [] as PrNumber[] };
  forge.findPullRequest = async (query) => {
    state.asked.push(query.number);
    const pr = await find(query);
    return pr && state.isUndecided ? { ...pr, mergeability: 'IN_PROGRESS' } : pr;
  };
  world.start();
  return { world, state };
}

describe('reading a pull request', () => {
  test('one query reads all pull requests whose mergeability was being computed', async (t) => {
    const { world, state } = await createWorld(t);
    const repository = await world.repository();
    const numbers: PrNumber[] = [];
    for (let count = 0; count < 3; count += 1) {
      // Its base was another branch, so that it is not admitted.
      const number = await world.world.submit(undefined, 'another');
      numbers.push(number);
      await world.deliverAndPass(0);
      await requestPullRequestPoll(world.app, repository, number);
      await world.world.clock.pass(500);
    }
    state.isUndecided = false;
    world.hosting.asked.clear();
    await world.world.clock.pass(10_000);
    for (const number of numbers) assert.equal((await world.entry(number))?.pr.mergeability, 'MERGEABLE');
    assert.equal(world.hosting.asked.get('findPullRequests'), 1);
  });

  test('an admitted entry is not asked for mergeability', async (t) => {
    const { world, state } = await createWorld(t);
    const number = await world.world.submit();
    state.isUndecided = false;
    await world.deliverAndPass(1_000);
    state.isUndecided = true;
    world.hosting.tell(`pull_request ${number}`, { kind: 'pull_request', number, headSha: undefined });
    await world.deliverAndPass(1_000);
    const asked = state.asked.length;
    await world.world.clock.pass(50_000);
    assert.equal(state.asked.length, asked);
    assert.equal((await world.entry(number))?.pr.mergeability, 'MERGEABLE');
  });

  test('a head counts as pushed no earlier than its webhook or poll says [G83]', async (t) => {
    const world = await HostedWorld.create();
    t.after(() => world.stop());
    const { clock, repository } = world.world;
    const seen = async (number: PrNumber, at: number) => {
      const key = { repositoryId: (await world.repository()).id, prNumber: number };
      return wasSeenAt(await readNote(world.app, key), repository.getPullRequestHead(number), at);
    };
    // Our clock is a minute behind.
    const changedAt = clock.now() - (clock.now() % 1_000) + 60_000;
    const { number } = repository.openPullRequest({ base: 'main', files: { a: 'a' } });
    world.hosting.deliveries.length = 0;
    const headSha = repository.getPullRequestHead(number);
    world.hosting.tell(`pull_request ${number}`, { kind: 'pull_request', number, headSha, changedAt });
    const { number: looked } = repository.openPullRequest({ base: 'main', files: { b: 'b' } });
    world.hosting.deliveries.pop();
    const poll = world.hosting.poll.bind(world.hosting);
    world.hosting.poll = async (question) => {
      const snapshot = await poll(question);
      return { ...snapshot, changed: snapshot.changed.map((pr) => ({ ...pr, updatedAt: changedAt })) };
    };
    world.start({ polls: true });
    await world.deliverAndPass(2_000);
    for (const each of [number, looked]) {
      assert.deepEqual([await seen(each, changedAt), await seen(each, changedAt + 1_000)], [false, true]);
    }
  });
});
