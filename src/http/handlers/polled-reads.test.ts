import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { madeOnce } from '../../../test/helpers/made.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';

interface Versioned {
  readonly version?: string;
  readonly unchanged?: boolean;
}

describe('reads that clients repeat', () => {
  const world = madeOnce(() => createQueueInProcess());
  before(async () => {
    for (const number of world.open(3)) await world.ok('/v1/submitPullRequest', { ...world.ref, pr: { number } });
  });

  const READS: readonly (readonly [string, () => object])[] = [
    ['getQueue', () => world.ref],
    ['getQueue', () => ({ ...world.ref, includeExplanation: true })],
    ['pollQueue', () => ({ ...world.ref, includeExplanation: true })],
    ['listQueues', () => ({})],
    ['getSubmittedPullRequest', () => ({ ...world.ref, pr: { number: 1 } })],
    ['getSubmittedPullRequest', () => ({ ...world.ref, pr: { number: 1 }, includeTimeline: true })],
    ['pollPullRequest', () => ({ ...world.ref, pr: { number: 1 }, includeTimeline: true })],
    ['getSubmittedPullRequests', () => ({ ...world.ref, prs: [{ number: 1 }, { number: 99 }] })],
    ['listPullRequests', () => ({ ...world.ref, take: 3 })],
  ];

  const read = (name: string, body: object) => world.ok<Versioned>(`/v1/${name}`, body);

  test('getMergeQueueTestingDetails says that its answer is unchanged, until it changes [H37]', async () => {
    const name = 'getMergeQueueTestingDetails';
    const { version } = await read(name, world.ref);
    assert.deepEqual(await read(name, { ...world.ref, ifVersion: version }), { unchanged: true, version });
    await world.ok('/v1/cancelPullRequest', { ...world.ref, pr: { number: 1 } });
    assert.notEqual((await read(name, { ...world.ref, ifVersion: version })).version, version);
    await world.ok('/v1/submitPullRequest', { ...world.ref, pr: { number: 1 } });
  });

  let changes = 0;
  for (const [name, bodyOf] of READS) {
    test(`${name} says that its answer is unchanged, until it changes [H37]`, async () => {
      const body = bodyOf();
      const { version, ...whole } = await read(name, body);
      assert.equal(typeof version, 'string');
      assert.deepEqual(await read(name, { ...body, ifVersion: version }), { unchanged: true, version });
      assert.deepEqual(await read(name, { ...body, ifVersion: 'another' }), { ...whole, version });
      changes += 1;
      await world.ok('/v1/updateQueue', { ...world.ref, concurrency: changes });
      await world.ok('/v1/submitPullRequest', { ...world.ref, pr: { number: 1 }, priority: changes });
      const next = await read(name, { ...body, ifVersion: version });
      assert.equal(next.unchanged, undefined);
      assert.notEqual(next.version, version);
    });
  }

  test('a poll answers as the read does, and only the poll is documented with two answers [H51]', async () => {
    const { paths } = JSON.parse((await world.server.inject('/openapi.json')).body);
    const answersOf = (name: string) =>
      paths[`/${name}`].post.responses[200].content['application/json'].schema.$ref.split('/').at(-1);
    const pr = { ...world.ref, pr: { number: 1 } };
    for (const [readName, pollName, body] of [
      ['getQueue', 'pollQueue', world.ref],
      ['getSubmittedPullRequest', 'pollPullRequest', pr],
    ] as const) {
      assert.deepEqual(await read(pollName, body), await read(readName, body));
      assert.notEqual(answersOf(readName), answersOf(pollName));
      await world.refused('404 ROUTE_NOT_FOUND', `/trunk/v1/${pollName}`, body);
    }
  });

  test('the version of another queue, or of another read, is not that of this one [H37]', async () => {
    world.forgeRepository.commit('next', { files: { other: 'x' } });
    const other = { ...world.ref, targetBranch: 'next' };
    await world.ok('/v1/createQueue', other);
    const { version } = await read('getQueue', other);
    const answer = await read('getQueue', { ...world.ref, ifVersion: version });
    assert.equal(answer.unchanged, undefined);
    assert.equal((await read('listQueues', { ifVersion: version })).unchanged, undefined);
  });

  test('a version that is no text, or too long, is refused [H37]', async () => {
    for (const ifVersion of [-1, 7, null, {}, 'x'.repeat(101)]) {
      const problem = await world.refused('400 VALIDATION_FAILED', '/v1/getQueue', { ...world.ref, ifVersion });
      assert.deepEqual(problem.errors, [
        { path: '/ifVersion', message: 'must be the version of an answer, a text of at most 100 characters' },
      ]);
    }
  });

  test('clients of /trunk/v1 see no versions, and an act has none [H37]', async () => {
    const { version } = await read('getQueue', world.ref);
    const old = await world.ok<Versioned>('/trunk/v1/getQueue', { ...world.ref, ifVersion: version });
    assert.deepEqual([old.version, old.unchanged], [undefined, undefined]);
    const entry = await world.ok<Versioned>('/v1/submitPullRequest', { ...world.ref, pr: { number: 2 } });
    assert.equal(entry.version, undefined);
  });

  test('lists explain each entry when they are asked to [E31]', async () => {
    const { explanation } = await world.ok<{ explanation: object }>('/v1/getSubmittedPullRequest', {
      ...world.ref,
      pr: { number: 2 },
      includeExplanation: true,
    });
    type Explained = { readonly prNumber: number; readonly explanation?: object };
    const of = (entries: readonly Explained[]) => entries.find(({ prNumber }) => prNumber === 2)?.explanation;
    const ask = { ...world.ref, includeExplanation: true };
    const queue = await world.ok<{ enqueuedPullRequests: Explained[] }>('/v1/getQueue', ask);
    const list = await world.ok<{ pullRequests: Explained[] }>('/v1/listPullRequests', ask);
    assert.deepEqual([of(queue.enqueuedPullRequests), of(list.pullRequests)], [explanation, explanation]);
    assert.ok(queue.enqueuedPullRequests.every((entry) => entry.explanation !== undefined));
    const plain = await world.ok<{ pullRequests: Explained[] }>('/v1/listPullRequests', world.ref);
    assert.equal(of(plain.pullRequests), undefined);
    await world.refused('400 VALIDATION_FAILED', '/v1/getQueue', { ...world.ref, includeExplanation: 'yes' });
  });

  test('a long queue is explained as far as one answer can [E31]', async () => {
    for (const number of world.open(101)) await world.ok('/v1/submitPullRequest', { ...world.ref, pr: { number } });
    const queue = await world.ok<{ enqueuedPullRequests: { explanation?: object }[] }>('/v1/getQueue', {
      ...world.ref,
      includeExplanation: true,
    });
    const explained = queue.enqueuedPullRequests.map((entry) => entry.explanation !== undefined);
    assert.deepEqual([explained.lastIndexOf(true), explained.indexOf(false)], [99, 100]);
    assert.equal(explained.length, 104);
  });
});
