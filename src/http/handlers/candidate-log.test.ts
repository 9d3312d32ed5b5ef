import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { storeCandidate } from '../../../test/helpers/store-candidate.ts';
import { NOON, storeRepository } from '../../../test/helpers/store-rows.ts';
import { createInProcess, TOKEN } from '../../../test/worlds/server/in-process.ts';
import type { CandidateLogView } from '../../app/queue/get-candidate-log.ts';

const LOG = '/v1/getCandidateLog';

describe('getCandidateLog [C14]', () => {
  const world = madeForEach(() => createInProcess());

  /** By default in the repository with the runner's check "unit". */
  const store = async (given: Parameters<typeof storeCandidate>[2], repositoryId = world.repository.id) =>
    (await storeCandidate(world.store, repositoryId, given)).id;

  const append = (candidateId: string, bytes: Uint8Array | string, check = 'unit') =>
    world.store.logs.append({ candidateId, check }, Buffer.from(bytes), NOON);

  async function read(testRunId: string, more: object = {}) {
    const { text, nextOffset, complete } = await world.ok<CandidateLogView>(LOG, { testRunId, check: 'unit', ...more });
    return { text, nextOffset, complete };
  }

  it('answers what a check has printed so far, from an offset on, while it runs', async () => {
    const id = await store({ checks: { unit: undefined } });
    assert.deepEqual(await read(id), { text: '', nextOffset: 0, complete: false });
    await append(id, 'one\n');
    assert.deepEqual(await read(id), { text: 'one\n', nextOffset: 4, complete: false });
    assert.deepEqual(await read(id, { offset: 4 }), { text: '', nextOffset: 4, complete: false });
    await append(id, 'two\n');
    assert.deepEqual(await read(id, { offset: 4 }), { text: 'two\n', nextOffset: 8, complete: false });
    assert.deepEqual(await read(id, { offset: 99 }), { text: '', nextOffset: 99, complete: false });
  });

  it('is complete at the end of a check that has ended [C38]', async () => {
    const done = await store({ checks: { unit: 'SUCCESS' } });
    await append(done, 'ok\n');
    assert.deepEqual(await read(done), { text: 'ok\n', nextOffset: 3, complete: true });
  });

  it('is complete where the test run has ended, also without any output [C38]', async () => {
    const ended = await store({ state: 'abandoned', endedAt: NOON, checks: { unit: undefined } });
    assert.deepEqual(await read(ended), { text: '', nextOffset: 0, complete: true });
  });

  it('gives a long log in parts that cut no character in two', async () => {
    const id = await store({ checks: { unit: 'FAILURE' } });
    const text = `x${'€'.repeat(200_000)}`;
    await append(id, text);
    let read = '';
    let offset = 0;
    let parts = 0;
    for (let isComplete = false; !isComplete; parts += 1) {
      const part = await world.ok<CandidateLogView>(LOG, { testRunId: id, check: 'unit', offset });
      assert.ok(part.nextOffset - offset <= 256 * 1024 && part.nextOffset > offset);
      read += part.text;
      offset = part.nextOffset;
      isComplete = part.complete;
    }
    assert.ok(read === text, 'the parts are the whole');
    assert.deepEqual([parts, offset], [3, Buffer.byteLength(text)]);
  });

  it('waits for the rest of a character, and shows one that never comes as U+FFFD', async () => {
    const running = await store({ checks: { unit: undefined } });
    const rocket = Buffer.from('🚀');
    await append(running, Buffer.concat([Buffer.from('a'), rocket.subarray(0, 3)]));
    assert.deepEqual(await read(running), { text: 'a', nextOffset: 1, complete: false });
    await append(running, rocket.subarray(3));
    assert.deepEqual(await read(running, { offset: 1 }), { text: '🚀', nextOffset: 5, complete: false });
    await append(running, Buffer.from([0xff, 0x41, 0x80, 0xc3]));
    assert.deepEqual(await read(running, { offset: 5 }), { text: '\ufffdA\ufffd', nextOffset: 8, complete: false });
  });

  it('shows a character that is broken at the very end as U+FFFD', async () => {
    const done = await store({ checks: { unit: 'SUCCESS' } });
    await append(done, Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82]));
    assert.deepEqual(await read(done), { text: '\ufeffa\ufffd', nextOffset: 6, complete: true });
  });

  it('takes the id with the ending of a bisection and in capitals, with its queue or without [C40]', async () => {
    const id = await store({ purpose: { kind: 'bisection', bisection: 1 } });
    await append(id, 'x');
    const queue = { repo: world.scope.repo, targetBranch: 'main' };
    for (const testRunId of [id, `${id}-bisection`, id.toUpperCase()]) {
      for (const more of [{}, queue]) assert.equal((await read(testRunId, more)).text, 'x');
    }
    const half = await world.refused('400 VALIDATION_FAILED', LOG, { testRunId: id, repo: world.scope.repo });
    assert.equal(half.errors?.[0]?.path, '/targetBranch');
  });

  it('lists the checks, and without a name takes the one that failed [C39]', async () => {
    const required = { names: ['lint', 'e2e'], source: 'MERGE_INSTANCE' as const, commands: '' };
    const id = await store({ required, checks: { lint: 'SUCCESS', extra: 'TIMED_OUT' } });
    await append(id, 'too slow', 'extra');
    const answer = await world.ok<CandidateLogView>(LOG, { testRunId: id });
    assert.deepEqual([answer.check, answer.text, answer.complete], ['extra', 'too slow', true]);
    const names = answer.checks.map((check) => `${check.name} ${'status' in check ? check.status : '-'}`);
    assert.deepEqual(names, ['lint COMPLETED', 'extra COMPLETED', 'e2e -', 'unit -']);
  });

  it('refuses an unknown check and names those there are [C39]', async () => {
    const id = await store({ checks: { lint: undefined } });
    const problem = await world.refused('400 VALIDATION_FAILED', LOG, { testRunId: id, check: 'units' });
    assert.equal(problem.detail, 'check must be a check of this test run: there are lint, unit.');
    assert.equal(problem.errors?.[0]?.path, '/check');
  });

  it('does not know a test run that is not there, or in another queue or organization [A2] [A4]', async () => {
    const id = await store({});
    await world.refused('404 TEST_RUN_NOT_FOUND', LOG, { testRunId: randomUUID(), check: 'unit' });
    const elsewhere = { repo: world.scope.repo, targetBranch: 'next' };
    await world.refused('404 QUEUE_NOT_FOUND', LOG, { ...elsewhere, testRunId: id, check: 'unit' });
    const foreign = await store({}, (await storeRepository(world.store)).id);
    await world.refused('404 TEST_RUN_NOT_FOUND', LOG, { testRunId: foreign, check: 'unit' });
    const mine = { repo: world.scope.repo, targetBranch: 'main', check: 'unit' };
    await world.refused('404 TEST_RUN_NOT_FOUND', LOG, { ...mine, testRunId: foreign });
  });

  it('does not know a test run of a repository that the token is not for [A4]', async () => {
    const { organizationId } = world.repository;
    const other = await storeRepository(world.store, { organizationId, host: 'local', name: 'other' });
    const id = await store({}, other.id);
    const limited = { name: 'app only', scopes: ['read'], repositories: [world.scope.repo] };
    const { token } = await world.ok<{ token: string }>('/v1/createApiToken', limited);
    const ask = async (secret: string) => {
      const headers = { 'x-api-token': secret };
      return (await world.server.inject({ method: 'POST', url: LOG, headers, payload: { testRunId: id } })).statusCode;
    };
    assert.deepEqual([await ask(TOKEN), await ask(token)], [200, 404]);
  });
});
