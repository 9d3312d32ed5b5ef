import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeOnce } from '../../test/helpers/made.ts';
import { createInProcess } from '../../test/worlds/server/in-process.ts';
import { createQueueInProcess } from '../../test/worlds/server/queue-in-process.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';

const DAY_MS = 24 * 3_600_000;
let keys = 0;
const newKey = () => {
  keys += 1;
  return { 'idempotency-key': `key-${keys}` };
};

describe('a request with an idempotency key', () => {
  const world = madeOnce(() => createQueueInProcess());

  const createToken = (name: string, headers: Record<string, string>) =>
    world.post('/v1/createApiToken', { name, scopes: ['read'] }, headers);
  const countTokens = async () => (await world.ok<{ tokens: object[] }>('/v1/listApiTokens', {})).tokens.length;

  test('is done once, and answered again without its secret [H38] [H40]', async () => {
    const [key, count] = [newKey(), await countTokens()];
    const first = await createToken('ci', key);
    const again = await createToken('ci', key);
    assert.deepEqual([first.status, again.status, await countTokens()], [200, 200, count + 1]);
    const { token, ...rest } = JSON.parse(first.text);
    assert.match(token, /^slc_/);
    const note = 'This answer repeats an earlier one, which had the token: it is shown only once.';
    assert.deepEqual(JSON.parse(again.text), { ...rest, note });
    const replayed = [first, again].map(({ headers }) => headers.get('idempotency-replayed'));
    assert.deepEqual(replayed, [null, 'true']);
    assert.match(again.headers.get('content-type') ?? '', /^application\/json/);
  });

  test('is refused with another body or operation, and acts again after a day [H38]', async () => {
    const key = newKey();
    const { status } = await createToken('one', key);
    assert.equal(status, 200);
    for (const other of [
      await createToken('two', key),
      await world.post('/v1/createOrganization', { slug: 'x' }, key),
    ]) {
      const problem = JSON.parse(other.text);
      assert.deepEqual([other.status, problem.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
      assert.match(problem.detail, /another request in the last 24 hours/);
    }
    world.clock.set(world.clock.now() + DAY_MS + 1);
    const later = await createToken('two', key);
    assert.deepEqual([later.status, later.headers.get('idempotency-replayed')], [200, null]);
  });

  test('that comes twice at once is done once [H38]', async () => {
    const [key, count] = [newKey(), await countTokens()];
    const answers = await Promise.all(Array.from({ length: 5 }, () => createToken('many', key)));
    assert.equal(await countTokens(), count + 1);
    for (const { status, headers, text } of answers) {
      if (status === 200) continue;
      assert.deepEqual(
        [status, JSON.parse(text).code, headers.get('retry-after')],
        [409, 'IDEMPOTENCY_KEY_IN_USE', '1'],
      );
    }
    assert.equal(answers.filter(({ text }) => text.includes('slc_')).length, 1);
  });

  test('may come again after a refusal, and after a server that never answered [H38]', async () => {
    const key = newKey();
    const ref = { ...world.ref, targetBranch: 'later' };
    assert.equal((await world.post('/v1/createQueue', ref, key)).status, 422);
    world.forgeRepository.commit('later', { files: { a: 'b' } });
    assert.equal((await world.post('/v1/createQueue', ref, key)).status, 200);
    assert.equal((await world.post('/v1/createQueue', ref, key)).status, 200);
    assert.equal((await world.post('/v1/createQueue', ref)).status, 409);
    const { store, clock } = world;
    const lost = newKey();
    const { tokenId } = (await store.idempotentRequests.begin(
      { tokenId: await ownTokenId(), key: lost['idempotency-key'], digest: '?', startedAt: clock.now() },
      { expiredBefore: 0, abandonedBefore: 0 },
    )) ?? { tokenId: 'begun' };
    assert.equal(tokenId, 'begun');
    assert.equal((await createToken('lost', lost)).status, 422);
    clock.set(clock.now() + 600_001);
    assert.equal((await createToken('lost', lost)).status, 200);
  });

  const ownTokenId = async () => {
    const { tokens } = await world.ok<{ tokens: { id: string; name: string }[] }>('/v1/listApiTokens', {});
    return tokens.find(({ name }) => name === 'admin' || name === 'environment')?.id ?? '';
  };

  test('works for submissions, and on both mounts apart [H38] [H39]', async () => {
    const key = newKey();
    const [number] = world.open(1);
    const body = { ...world.ref, pr: { number } };
    const first = await world.post('/v1/submitPullRequest', body, key);
    await world.ok('/v1/cancelPullRequest', body);
    const again = await world.post('/v1/submitPullRequest', body, key);
    assert.equal(again.text, first.text);
    const { state } = await world.ok<{ state: string }>('/v1/getSubmittedPullRequest', body);
    assert.equal(state, 'CANCELLED');
    assert.equal((await world.post('/trunk/v1/submitPullRequest', body, key)).status, 422);
    const trunk = newKey();
    const old = await world.post('/trunk/v1/submitPullRequest', body, trunk);
    assert.equal((await world.post('/trunk/v1/submitPullRequest', body, trunk)).text, old.text);
    assert.match(JSON.parse(old.text).state, /^[a-z_]+$/);
  });

  test('has a key of 1 to 255 visible characters; a blank one counts as absent [H39]', async () => {
    for (const key of ['x'.repeat(256), 'x'.repeat(10_000), 'a\tb', 'é']) {
      const answer = await createToken('bad', { 'idempotency-key': key });
      assert.deepEqual(
        [answer.status, JSON.parse(answer.text).errors],
        [400, [{ path: '/Idempotency-Key', message: 'must be a header of 1 to 255 visible characters' }]],
      );
    }
    const count = await countTokens();
    for (const _ of [1, 2]) assert.equal((await createToken('blank', { 'idempotency-key': '  ' })).status, 200);
    assert.equal(await countTokens(), count + 2);
  });

  test('is answered by another server on the same store [H38]', async () => {
    const store = { ...createMemoryStore(), isShared: true };
    const [one, two] = [await createInProcess({ store }), await createInProcess({ store })];
    const key = newKey();
    const send = (server: typeof one) => server.post('/v1/createApiToken', { name: 'ci', scopes: ['read'] }, key);
    const [first, second] = [await send(one), await send(two)];
    assert.equal(JSON.parse(second.text).id, JSON.parse(first.text).id);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    await one.server.close();
    await two.close();
  });
});
