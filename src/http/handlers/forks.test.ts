// CI of a fork has no token. It names its own workflow run, and the server verifies that at the forge.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { FakeForge } from '../../../test/fake/fake-forge.ts';
import { FakeRepository } from '../../../test/fake/fake-repository.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aRepository, storeQueue } from '../../../test/helpers/store-rows.ts';
import { createInProcess, TOKEN } from '../../../test/worlds/server/in-process.ts';
import { encodeQueue } from '../../app/core/queue-codec.ts';
import type { EntryView } from '../../app/queue/entry-view.ts';
import { createQueue } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import type { Forge } from '../../forge/forge.ts';
import type { WorkflowRunFacts } from '../../forge/hosting.ts';
import type { Sha } from '../../lib/sha.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { QueueStore } from '../../storage/queues.ts';

const SHA = 'a'.repeat(40) as Sha;
const HOST = 'github.test';
const BODY = {
  repo: { host: HOST, owner: 'acme', name: 'app' },
  targetBranch: 'main',
  pr: { number: 7, sha: SHA },
  impactedTargets: ['//app'],
};
const RUN: WorkflowRunFacts = { event: 'pull_request', isLive: true, headSha: SHA, prNumbers: [7] as never };

const place = madeForEach(() => createInProcess());
let run: WorkflowRunFacts | undefined;
let asked: string[];
let repository: FakeRepository;
/** The forge answers when this resolves. */
let gate: Promise<void>;

beforeEach(async () => {
  [run, asked, gate] = [RUN, [], Promise.resolve()];
  const findWorkflowRun = async (_repository: unknown, runId: string) => {
    asked.push(runId);
    await gate;
    return run;
  };
  repository = new FakeRepository(place.clock.now);
  const forge: Forge = Object.assign(new FakeForge(repository), {
    hosting: { findWorkflowRun } as never,
  });
  (place.app.forges as Map<string, Forge>).set(HOST, forge);
  const organization = await place.store.accounts.findOrganization('acme');
  const stored = await place.store.repositories.save(
    aRepository({ organizationId: organization?.id as OrganizationId, host: HOST, owner: 'acme', name: 'app' }),
  );
  const body = encodeQueue(createQueue('main', { ...DEFAULT_SETTINGS, mode: 'PARALLEL' }, 'RUNNING'));
  await storeQueue(place.store, { repositoryId: stored.id, branch: 'main', body });
});

async function send(
  body: unknown,
  headers: Record<string, string> = { 'x-forked-workflow-run-id': '123' },
  mount = '/v1',
) {
  const response = await place.server.inject({
    method: 'POST',
    url: `${mount}/setImpactedTargets`,
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(body),
  });
  return { status: response.statusCode, headers: response.headers, answer: response.json() };
}

describe('impacted targets of a fork', () => {
  for (const mount of ['/v1', '/trunk/v1']) {
    it(`are taken from the run that proves itself, on ${mount} [G66]`, async () => {
      const { status, answer } = await send(BODY, { 'x-forked-workflow-run-id': '123', 'x-api-token': ' ' }, mount);
      assert.equal(status, 200, JSON.stringify(answer));
      assert.deepEqual([answer.prSha, answer.impactedTargets.count], [SHA, 1]);
      assert.deepEqual(asked, ['123']);
    });
  }

  for (const [what, odd] of [
    ['another event', { ...RUN, event: 'pull_request_target' }],
    ['a run that has ended', { ...RUN, isLive: false }],
    ['another commit', { ...RUN, headSha: 'b'.repeat(40) as Sha }],
    ['another pull request', { ...RUN, prNumbers: [8] as never }],
    ['no pull request', { ...RUN, prNumbers: [] }],
    ['no run at all', undefined],
  ] as const) {
    it(`are refused for ${what} [G152]`, async () => {
      run = odd;
      const { status, answer } = await send(BODY);
      assert.deepEqual([status, answer.code], [401, 'FORK_RUN_NOT_PROVEN']);
    });
  }

  it('are refused in the same words for a repository that is not registered [G152]', async () => {
    run = undefined;
    const { answer: here } = await send(BODY);
    for (const repo of [
      { ...BODY.repo, name: 'other' },
      { ...BODY.repo, host: 'local' },
    ]) {
      const { status, answer } = await send({ ...BODY, repo });
      assert.deepEqual([status, answer.detail], [401, here.detail]);
    }
  });

  it('are taken for the name of the repository in any case [G79]', async () => {
    const { status, answer } = await send({ ...BODY, repo: { host: 'GitHub.Test', owner: 'Acme', name: 'App' } });
    assert.equal(status, 200, JSON.stringify(answer));
    assert.deepEqual(asked, ['123']);
  });

  it('need a commit, and a number of a run [G66]', async () => {
    const { status, answer } = await send({ ...BODY, pr: { number: 7 } });
    assert.deepEqual([status, answer.errors[0].path], [400, '/pr/sha']);
    for (const odd of ['', 'abc', '-1', '12 34', '9'.repeat(30)]) {
      const refused = await send(BODY, { 'x-forked-workflow-run-id': odd });
      assert.deepEqual([refused.status, refused.answer.code], [401, 'AUTHENTICATION_REQUIRED'], odd);
    }
    assert.deepEqual(asked, []);
  });

  it('prove nothing beside a token that is not good, nor for any other operation [G66]', async () => {
    const headers = { 'x-forked-workflow-run-id': '123', 'x-api-token': 'wrong' };
    assert.equal((await send(BODY, headers)).answer.code, 'INVALID_TOKEN');
    const other = await place.server.inject({
      method: 'POST',
      url: '/v1/submitPullRequest',
      headers: { 'content-type': 'application/json', 'x-forked-workflow-run-id': '123' },
      payload: JSON.stringify(BODY),
    });
    assert.equal(other.statusCode, 401);
  });

  it('are asked about once in a while only: a refusal is remembered, and proofs are counted [G153]', async () => {
    run = undefined;
    await send(BODY);
    await send(BODY);
    assert.deepEqual(asked, ['123']);
    place.clock.set(place.clock.now() + 31_000);
    run = RUN;
    assert.equal((await send(BODY)).status, 200);
    for (let id = 1; id < 19; id += 1) await send({ ...BODY }, { 'x-forked-workflow-run-id': `${id}` });
    const { status, headers, answer } = await send(BODY, { 'x-forked-workflow-run-id': '900' });
    assert.deepEqual([status, answer.code], [429, 'RATE_LIMITED']);
    assert.ok(Number(headers['retry-after']) > 0);
  });

  for (const mount of ['/v1', '/trunk/v1']) {
    it(`replace what a fork said, and never what somebody with a token said, on ${mount} [G80]`, async () => {
      const count = async (impactedTargets: unknown, headers?: Record<string, string>) => {
        const { status, answer } = await send({ ...BODY, impactedTargets }, headers, mount);
        assert.equal(status, 200, JSON.stringify(answer));
        return answer.impactedTargets.count;
      };
      const token = { 'x-api-token': TOKEN };
      assert.equal(await count(['//a']), 1);
      assert.equal(await count(['//a', '//b']), 2);
      assert.equal(await count(['//a', '//b', '//c'], token), 3);
      assert.equal(await count(['//a']), 3);
      assert.equal(await count([], token), 0);
      assert.equal(await count('ALL'), 0);
    });
  }

  it('never replace those that came with a token, also where both come at once [G80]', async () => {
    const token = { 'x-api-token': TOKEN };
    const sent = [send(BODY), send({ ...BODY, impactedTargets: ['//a', '//b'] }, token), send(BODY)];
    for (const { status } of await Promise.all(sent)) assert.equal(status, 200);
    assert.equal((await send(BODY)).answer.impactedTargets.count, 2);
  });

  it('give way to those that come with a token while the pull request is submitted [G80]', async () => {
    repository.commit('main', { files: { 'a.txt': 'a' } });
    const { number, headSha } = repository.openPullRequest({ base: 'main', files: { 'a.txt': 'b' } });
    const about = { ...BODY, pr: { number, sha: headSha } };
    run = { ...RUN, headSha, prNumbers: [number] };
    assert.equal((await send(about)).answer.impactedTargets.count, 1);
    const queues: { findImpactedTargets: QueueStore['findImpactedTargets'] } = place.store.queues;
    const find = queues.findImpactedTargets;
    queues.findImpactedTargets = async (...key) => {
      const row = await find(...key);
      queues.findImpactedTargets = find;
      await send({ ...about, impactedTargets: [] }, { 'x-api-token': TOKEN });
      return row;
    };
    const { impactedTargets } = await place.ok<EntryView>('/v1/submitPullRequest', about);
    assert.equal(impactedTargets?.count, 0);
  });

  it('come as they are, and in 256 KiB: nothing else of a stranger is read [G88]', async () => {
    const headers = { 'x-forked-workflow-run-id': '123' };
    const packed = await send(BODY, { ...headers, 'content-encoding': 'gzip' });
    assert.deepEqual([packed.status, packed.answer.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    const target = '//app/a-target-of-some-length';
    const fitting = { ...BODY, impactedTargets: Array.from({ length: 7_000 }, (_, index) => `${target}${index}`) };
    assert.equal((await send(fitting)).answer.impactedTargets.count, 7_000);
    asked = [];
    const large = { ...BODY, impactedTargets: Array.from({ length: 9_000 }, () => target) };
    const refused = await send(large);
    assert.deepEqual([refused.status, refused.answer.code, asked], [413, 'BODY_TOO_LARGE', []]);
    assert.equal((await send(large, { 'x-api-token': TOKEN })).status, 200);
  });

  it('need a token where no forge is connected that could prove a run [G88]', async () => {
    (place.app.forges as Map<string, Forge>).delete(HOST);
    const { status, answer } = await send(BODY);
    assert.deepEqual([status, answer.code], [401, 'AUTHENTICATION_REQUIRED']);
  });

  it('do not wait in a crowd for a forge that does not answer [G153]', async () => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const ids = [1, 2, 3, 4, 5, 6];
    const answers = ids.map((id) => send(BODY, { 'x-forked-workflow-run-id': `${id}` }));
    const crowded = await Promise.all(answers.slice(4));
    assert.deepEqual(pluck(crowded, 'status'), [429, 429]);
    open();
    assert.deepEqual(pluck(await Promise.all(answers.slice(0, 4)), 'status'), [200, 200, 200, 200]);
  });
});
