import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Client, problemOf, until } from '../../../test/e2e/harness.ts';
import { useServer } from '../../../test/e2e/test-queue.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { SCOPES, type Scope } from '../../storage/accounts.ts';
import { ROUTES } from '../routes.ts';

interface Expiring {
  readonly token: string;
  readonly expiresAt: string | null;
}

interface NewToken {
  readonly id: string;
  readonly token: string;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('access to the API', () => {
  const world = useServer();
  const queue = madeOnce(() => world.aQueue());

  const makeToken = (of: object, api: Client = world.server.api) =>
    api.ok<NewToken>('createApiToken', { name: 'ci', scopes: ['read'], ...of });
  const withToken = async (of: object) => world.server.api.withToken((await makeToken(of)).token);

  for (const [what, token, expected] of [
    ['no token', undefined, '401 AUTHENTICATION_REQUIRED'],
    ['an empty token', '', '401 AUTHENTICATION_REQUIRED'],
    ['a blank token', '   ', '401 AUTHENTICATION_REQUIRED'],
    ['an unknown token', 'slc_nobody-ever-had-this-one', '401 INVALID_TOKEN'],
    ['a token of 8,000 characters', 'x'.repeat(8_000), '401 INVALID_TOKEN'],
    ['a token in other letters', 'sl\u00e7_\u00ff', '401 INVALID_TOKEN'],
  ] as const) {
    test(`${what} is ${expected}, for every operation on both mounts [A1] [A13]`, async () => {
      for (const { operation } of ROUTES) {
        for (const mount of operation.isOnlyOnV1 === true ? ['v1'] : ['v1', 'trunk/v1']) {
          const answer = await world.server.api
            .withToken(token)
            .send(`../${mount}${operation.path}`, { method: operation.method });
          problemOf(answer, expected);
        }
      }
    });
  }

  test('blanks around a token do not matter', async () => {
    const answer = await world.server.api.withToken(`  ${world.server.token}\t`).post('listRepositories', {});
    assert.equal(answer.status, 200);
  });

  test('a token is refused before its body is looked at', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"half' };
    problemOf(await world.server.api.withToken('nobody').send('getQueue', init), '401 INVALID_TOKEN');
  });

  test('createApiToken shows the secret once, and listApiTokens never [A5]', async () => {
    const expiresAt = '2999-01-01T00:00:00Z';
    const made = await world.server.api.ok<NewToken & Record<string, unknown>>('createApiToken', {
      name: 'once',
      scopes: ['read', 'targets', 'read'],
      repositories: [queue.repo],
      expiresAt,
    });
    const { id, token, createdAt, ...rest } = made;
    assert.match(token, /^slc_[\w-]{43}$/);
    assert.match(String(createdAt), INSTANT);
    assert.deepEqual(rest, {
      name: 'once',
      scopes: ['read', 'targets'],
      repositories: [queue.repo],
      expiresAt: '2999-01-01T00:00:00.000Z',
      lastUsedAt: null,
      revokedAt: null,
      madeBy: 'admin',
      isPersonal: false,
      isAgent: false,
    });
    const answer = await world.server.api.post('listApiTokens', {});
    assert.ok(!answer.text.includes(token));
    const { tokens } = JSON.parse(answer.text) as { tokens: { id: string }[] };
    assert.deepEqual(
      tokens.find((each) => each.id === id),
      { id, createdAt, ...rest },
    );
  });

  test('a token of an agent makes only such tokens, and its submissions say so [A78]', async () => {
    const isAgent = async (api: Client, of: object = {}) => {
      const made = await makeToken({ scopes: ['read', 'submit', 'admin'], ...of }, api);
      const { tokens } = await world.server.api.ok<{ tokens: { id: string; isAgent: boolean }[] }>('listApiTokens', {});
      return { api: api.withToken(made.token), isAgent: tokens.find(({ id }) => id === made.id)?.isAgent };
    };
    const agent = await isAgent(world.server.api, { name: 'fixer', agent: true });
    const child = await isAgent(agent.api, { name: 'helper' });
    const person = await isAgent(world.server.api, { name: 'ada', agent: false });
    assert.deepEqual([agent.isAgent, child.isAgent, person.isAgent], [true, true, false]);
    for (const [{ api }, expected] of [
      [child, { name: 'helper', isAgent: true }],
      [person, { name: 'ada', isAgent: false }],
    ] as const) {
      const number = await queue.openPullRequest();
      await api.ok('submitPullRequest', queue.entry(number));
      // A submission by another changes the priority, and not who began this stay.
      await queue.submit(number, { priority: 'low' });
      assert.deepEqual((await queue.get(number)).submittedBy, expected);
    }
  });

  test('a revoked token is refused at once, also after it was used; revoking again changes nothing [A17]', async () => {
    const { id, token } = await makeToken({});
    const api = world.server.api.withToken(token);
    await api.ok('getQueue', queue.ref);
    assert.deepEqual(await world.server.api.ok('revokeApiToken', { id }), {});
    await api.refused('401 INVALID_TOKEN', 'getQueue', queue.ref);
    assert.deepEqual(await world.server.api.ok('revokeApiToken', { id: id.toUpperCase() }), {});
    const unknown = { id: '00000000-0000-4000-8000-000000000000' };
    await world.server.api.refused('404 TOKEN_NOT_FOUND', 'revokeApiToken', unknown);
  });

  test('a token works until it expires, and no longer [A20]', async () => {
    const { token } = await makeToken({ expiresAt: new Date(Date.now() + 1_000).toISOString() });
    const api = world.server.api.withToken(token);
    await api.ok('getQueue', queue.ref);
    const expired = await until('the token expires', 5_000, async () => {
      const answer = await api.post('getQueue', queue.ref);
      return answer.status === 200 ? undefined : answer;
    });
    problemOf(expired, '401 INVALID_TOKEN');
    const past = { name: 'past', scopes: ['read'], expiresAt: new Date(Date.now() - 1).toISOString() };
    await world.server.api.refused('400 VALIDATION_FAILED', 'createApiToken', past);
  });

  const BACKUPS = ['createBackup', 'restoreBackup'];
  const INSTANCE_ONLY = ['createOrganization', ...BACKUPS, 'getServerMetrics', 'listCaches', 'clearCaches'];
  for (const scope of SCOPES) {
    test(`a token with the scope ${scope} alone reaches exactly its operations [A3] [A14]`, async () => {
      const api = await withToken({ scopes: [scope] });
      for (const { operation } of ROUTES) {
        // No type of event: a stream would not end.
        const query = operation.method === 'GET' ? '?types=-' : '';
        const answer = await api.send(`${operation.path.slice(1)}${query}`, {
          method: operation.method,
          // Not an object: an admitted call is refused for its body, and nothing changes.
          ...(operation.method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '[]' } : {}),
        });
        if (isAllowed(scope, operation.scope)) assert.notEqual(answer.status, 403, operation.name);
        else problemOf(answer, '403 INSUFFICIENT_SCOPE');
      }
    });
  }
  function isAllowed(held: Scope, needed: Scope): boolean {
    if (held === 'evidence' && needed === 'upload') return true;
    return held === needed || (held === 'admin' && needed !== 'instance');
  }

  test('the operations ask for the scopes that the decisions name', () => {
    const scopes = Object.fromEntries(ROUTES.map(({ operation }) => [operation.name, operation.scope]));
    const submit = ['submitPullRequest', 'cancelPullRequest', 'restartTestsOnPullRequest'];
    for (const name of submit) assert.equal(scopes[name], 'submit', name);
    assert.equal(scopes['setImpactedTargets'], 'targets');
    for (const name of INSTANCE_ONLY) assert.equal(scopes[name], 'instance', name);
    const upload = ['uploadResults', 'createBundleUpload', 'getQuarantineConfig'];
    for (const name of upload) assert.equal(scopes[name], 'upload', name);
    const guarded = ['listApiTokens', 'listSecrets', 'listSessions', 'listWebhooks', 'listWebhookDeliveries'];
    for (const name of guarded) assert.equal(scopes[name], 'admin', name);
    const others = [...guarded, ...upload, ...INSTANCE_ONLY];
    for (const name of Object.keys(scopes).filter((each) => /^(get|list)/.test(each) && !others.includes(each))) {
      assert.equal(scopes[name], 'read', name);
    }
  });

  test('a path of the server and runner commands need instance; an administrator cannot give it', async () => {
    const admin = await withToken({ scopes: ['admin'] });
    const repo = { ...queue.repo, name: 'elsewhere' };
    await admin.refused('403 INSUFFICIENT_SCOPE', 'registerRepository', { repo, git: queue.git.path });
    const checks = [{ name: 'test', command: 'true' }];
    await admin.refused('403 INSUFFICIENT_SCOPE', 'registerRepository', { repo: queue.repo, checks });
    await admin.refused('403 INSUFFICIENT_SCOPE', 'createApiToken', { name: 'more', scopes: ['instance'] });
    await admin.refused('403 INSUFFICIENT_SCOPE', 'createOrganization', { slug: 'mine' });
  });

  describe('a token that is made by another', () => {
    const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

    test('expires no later than the one that made it [A10]', async () => {
      const expiresAt = hour(1);
      const maker = await withToken({ scopes: ['admin'], expiresAt });
      const later = { name: 'later', scopes: ['read'], expiresAt: hour(2) };
      const { detail } = await maker.refused('403 INSUFFICIENT_SCOPE', 'createApiToken', later);
      assert.ok(detail.includes(expiresAt), detail);
      const unnamed = await maker.ok<Expiring>('createApiToken', { name: 'unnamed', scopes: ['read'] });
      assert.equal(unnamed.expiresAt, expiresAt);
      const same = await maker.ok<Expiring>('createApiToken', { name: 'same', scopes: ['admin'], expiresAt });
      assert.equal(same.expiresAt, expiresAt);
      const next = await world.server.api
        .withToken(same.token)
        .ok<Expiring>('createApiToken', { name: 'next', scopes: ['read'] });
      assert.equal(next.expiresAt, expiresAt);
    });

    test('expires no later than the one that made its organization [A10]', async () => {
      const expiresAt = hour(1);
      const maker = await withToken({ scopes: ['admin', 'instance'], expiresAt });
      const { token } = await maker.ok<{ token: string }>('createOrganization', { slug: 'short-lived' });
      const { tokens } = await world.server.api.withToken(token).ok<{ tokens: Expiring[] }>('listApiTokens', {});
      assert.deepEqual(pluck(tokens, 'expiresAt'), [expiresAt]);
    });

    test('has the scope instance only from one that has it, and for no repositories [A11] [A21]', async () => {
      const both = { name: 'both', scopes: ['admin', 'instance'] };
      await world.server.api.refused('400 VALIDATION_FAILED', 'createApiToken', {
        ...both,
        repositories: [queue.repo],
      });
      const admin = await withToken({ scopes: ['admin'] });
      await admin.refused('403 INSUFFICIENT_SCOPE', 'createApiToken', both);
    });

    test('is revoked by an instance token where it has the scope instance itself [A11]', async () => {
      const { id, token } = await makeToken({ scopes: ['admin', 'instance'] });
      const admin = await withToken({ scopes: ['admin'] });
      await admin.refused('403 INSUFFICIENT_SCOPE', 'revokeApiToken', { id });
      await world.server.api.withToken(token).ok('listApiTokens', {});
      await world.server.api.ok('revokeApiToken', { id });
      problemOf(await world.server.api.withToken(token).post('listApiTokens', {}), '401 INVALID_TOKEN');
    });
  });

  test('the last token of an administrator is revoked only if the request says so [A72]', async () => {
    const { token } = await world.server.api.ok<{ token: string }>('createOrganization', { slug: 'lonely' });
    const lonely = world.server.api.withToken(token);
    const { tokens } = await lonely.ok<{ tokens: { id: string; madeBy: string }[] }>('listApiTokens', {});
    const id = tokens[0]?.id;
    assert.equal(tokens[0]?.madeBy, 'admin');
    const { detail } = await lonely.refused('409 LAST_ADMINISTRATOR', 'revokeApiToken', { id });
    assert.match(detail, /Make another token with the scope "admin" first/);
    await lonely.ok('createApiToken', { name: 'reader', scopes: ['read'] });
    await lonely.refused('409 LAST_ADMINISTRATOR', 'revokeApiToken', { id });
    await lonely.ok('revokeApiToken', { id, evenIfLast: true });
    problemOf(await lonely.post('listApiTokens', {}), '401 INVALID_TOKEN');
  });

  describe('a token limited to a repository', () => {
    const other = madeOnce(() => world.aQueue());
    let api: Client;
    before(async () => {
      api = await withToken({ scopes: ['admin', 'submit', 'targets', 'read'], repositories: [queue.repo] });
    });

    test('sees and changes that one', async () => {
      await api.ok('getQueue', queue.ref);
      const number = await queue.openPullRequest();
      await api.ok('submitPullRequest', queue.entry(number));
      const { timeline } = await queue.get(number, { includeTimeline: true });
      assert.equal(timeline?.at(-1)?.actor, 'ci');
    });

    test('finds no other, in any operation', async () => {
      const number = await other.submitOne();
      for (const [operation, more] of [
        ['getQueue', {}],
        ['updateQueue', { concurrency: 2 }],
        ['deleteQueue', {}],
        ['createQueue', {}],
        ['submitPullRequest', { pr: { number } }],
        ['cancelPullRequest', { pr: { number } }],
        ['restartTestsOnPullRequest', { pr: { number } }],
        ['getSubmittedPullRequest', { pr: { number } }],
        ['getSubmittedPullRequests', { prs: [{ number }] }],
        ['listPullRequests', {}],
        ['setImpactedTargets', { pr: { number }, impactedTargets: 'ALL' }],
        ['getMergeQueueTestingDetails', {}],
        ['listMergeQueueTestingResults', { since: new Date().toISOString() }],
      ] as const) {
        await api.refused('404 REPOSITORY_NOT_FOUND', operation, { ...other.ref, ...more });
      }
      await api.refused('404 REPOSITORY_NOT_FOUND', 'removeRepository', { repo: other.repo });
      await api.refused('404 REPOSITORY_NOT_FOUND', 'listQueues', { repo: other.repo });
      assert.equal((await other.get(number)).state, 'TESTING');
    });

    test('sees and revokes only tokens that reach no further [A15]', async () => {
      const wide = await world.server.api.ok<{ id: string }>('createApiToken', { name: 'wide', scopes: ['read'] });
      const { tokens } = await api.ok<{ tokens: { id: string; repositories: object[] | null }[] }>('listApiTokens', {});
      assert.ok(tokens.length > 0);
      assert.ok(tokens.every((token) => token.repositories?.length === 1));
      await api.refused('404 TOKEN_NOT_FOUND', 'revokeApiToken', { id: wide.id });
      await world.server.api.ok('revokeApiToken', { id: wide.id });
    });

    test('lists and measures only that one', async () => {
      const { repositories } = await api.ok<{ repositories: { repo: object }[] }>('listRepositories', {});
      assert.deepEqual(pluck(repositories, 'repo'), [queue.repo]);
      const { queues } = await api.ok<{ queues: { repo: object }[] }>('listQueues', {});
      assert.deepEqual(pluck(queues, 'repo'), [queue.repo]);
      assert.ok(!(await api.send('getMergeQueueMetrics')).text.includes(other.repo.name));
    });

    test('cannot make a token that reaches further, nor another repository [A15]', async () => {
      await api.refused('403 INSUFFICIENT_SCOPE', 'createApiToken', { name: 'all', scopes: ['read'] });
      const foreign = { name: 'other', scopes: ['read'], repositories: [other.repo] };
      await api.refused('404 REPOSITORY_NOT_FOUND', 'createApiToken', foreign);
      const same = { name: 'same', scopes: ['read'], repositories: [queue.repo] };
      await api.refused('403 INSUFFICIENT_SCOPE', 'createApiToken', same);
      const repo = { host: 'github.com', owner: 'acme', name: 'new' };
      await api.refused('403 INSUFFICIENT_SCOPE', 'registerRepository', { repo });
    });
  });

  describe('another organization', () => {
    let foreign: Client;
    before(async () => {
      const { token } = await world.server.api.ok<{ token: string }>('createOrganization', { slug: 'other' });
      foreign = world.server.api.withToken(token);
    });

    test('finds nothing of ours [A2]', async () => {
      for (const operation of ['getQueue', 'deleteQueue', 'updateQueue', 'createQueue', 'listPullRequests']) {
        await foreign.refused('404 REPOSITORY_NOT_FOUND', operation, queue.ref);
      }
      assert.deepEqual(await foreign.ok('listRepositories', {}), { repositories: [] });
      assert.deepEqual((await foreign.ok<{ queues: object[] }>('listQueues', {})).queues, []);
      assert.equal((await foreign.send('getMergeQueueMetrics')).text.includes('acme'), false);
      const asked = await foreign.send(`getMergeQueueMetrics?repo=acme/${queue.repo.name}&repoHost=local`);
      problemOf(asked, '404 REPOSITORY_NOT_FOUND');
    });

    test('neither lists nor revokes our tokens', async () => {
      const { id, token } = await makeToken({});
      await foreign.refused('404 TOKEN_NOT_FOUND', 'revokeApiToken', { id });
      await world.server.api.withToken(token).ok('getQueue', queue.ref);
      const { tokens } = await foreign.ok<{ tokens: NewToken[] }>('listApiTokens', {});
      assert.ok(!tokens.some((each) => each.id === id));
    });

    test('may have a repository of the same name, and they do not mix', async () => {
      const both = await world.server.api.ok<NewToken>('createApiToken', { name: 'i', scopes: ['admin', 'instance'] });
      const { token } = await world.server.api
        .withToken(both.token)
        .ok<{ token: string }>('createOrganization', { slug: 'twin' });
      const twin = world.server.api.withToken(token);
      await twin.refused('403 INSUFFICIENT_SCOPE', 'registerRepository', { repo: queue.repo, git: queue.git.path });
      await twin.refused('404 REPOSITORY_NOT_FOUND', 'getQueue', queue.ref);
    });

    test('gets plain git repositories, checks and tokens from an instance token that names it [A12]', async () => {
      const { token } = await world.server.api.ok<{ token: string }>('createOrganization', { slug: 'later' });
      const later = world.server.api.withToken(token);
      const acting = world.server.api.actingFor('later');
      const repo = { ...queue.repo, name: 'of-later' };
      const checks = [{ name: 'unit', command: 'true' }];
      await acting.ok('registerRepository', { repo, git: queue.git.path, checks });
      await acting.ok('createQueue', { repo, targetBranch: 'main' });
      assert.equal((await later.ok<{ queues: object[] }>('listQueues', {})).queues.length, 1);
      await world.server.api.refused('404 REPOSITORY_NOT_FOUND', 'getQueue', { repo, targetBranch: 'main' });
      const made = await acting.ok<NewToken>('createApiToken', { name: 'for later', scopes: ['read'] });
      await world.server.api.withToken(made.token).ok('getQueue', { repo, targetBranch: 'main' });
      await later.ok('revokeApiToken', { id: made.id });
    });

    test('cannot be named with a token that has no instance, nor where it does not exist [A12] [A22]', async () => {
      const admin = await withToken({ scopes: ['admin'] });
      await admin.actingFor('other').refused('404 ORGANIZATION_NOT_FOUND', 'listQueues', {});
      await world.server.api.actingFor('nobody').refused('404 ORGANIZATION_NOT_FOUND', 'listQueues', {});
      for (const own of ['default', ' ', '']) await admin.actingFor(own).ok('getQueue', queue.ref);
      const alone = await withToken({ scopes: ['instance'] });
      await alone.actingFor('other').refused('403 INSUFFICIENT_SCOPE', 'listQueues', {});
    });

    for (const slug of [
      'v1',
      'trunk',
      'docs',
      'webhooks',
      'uploads',
      'healthz',
      'readyz',
      'openapi.json',
      'A',
      '-a',
      'a-',
      '',
    ]) {
      test(`cannot be called ${JSON.stringify(slug)}`, async () => {
        await world.server.api.refused('400 VALIDATION_FAILED', 'createOrganization', { slug });
      });
    }

    test('cannot have the slug of one that exists', async () => {
      await world.server.api.refused('409 ORGANIZATION_ALREADY_EXISTS', 'createOrganization', { slug: 'other' });
    });
  });

  test('the last use of a token is recorded, within some seconds [A16]', async () => {
    const { id, token } = await makeToken({});
    await world.server.api.withToken(token).ok('getQueue', queue.ref);
    const lastUsedAt = await until('the use is recorded', 20_000, async () => {
      const { tokens } = await world.server.api.ok<{ tokens: { id: string; lastUsedAt: string | null }[] }>(
        'listApiTokens',
        {},
      );
      return tokens.find((each) => each.id === id)?.lastUsedAt ?? undefined;
    });
    assert.match(lastUsedAt, INSTANT);
  });

  test('no token is asked of healthz, readyz, openapi.json and docs [A8]', async () => {
    const nobody = world.server.api.withToken(undefined);
    for (const page of ['healthz', 'readyz', 'openapi.json', 'docs']) {
      const answer = await nobody.send(`../${page}`);
      assert.equal(answer.status, 200, page);
      assert.ok(answer.headers.get('x-request-id'));
    }
    const document = JSON.parse((await nobody.send('../openapi.json')).text) as { openapi: string; paths: object };
    assert.equal(document.openapi, '3.1.0');
    assert.ok('/getQueue' in document.paths || '/v1/getQueue' in document.paths);
  });
});
