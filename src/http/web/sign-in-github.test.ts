import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createFakeGithub, type FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { PullRequest, Repository } from '../../../test/fake/github/model.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { aRepository } from '../../../test/helpers/store-rows.ts';
import { createInProcess, type InProcess } from '../../../test/worlds/server/in-process.ts';
import { githubConnection } from '../../forge/github/api/connection.ts';
import { createGithubForge, type GithubForge } from '../../forge/github/create-github-forge.ts';
import { createGithubProvider } from '../../identity/github/create-github-provider.ts';
import { systemClock } from '../../lib/clock.ts';

const HOST = 'github.com';
const URL_OF_SERVER = 'https://sluice.test';
const OWN = { origin: URL_OF_SERVER, 'sec-fetch-site': 'same-origin' };
const MINUTE = 60_000;

interface Session {
  readonly location: string;
  readonly cookie: string;
}

describe('a person signs in with the App of a GitHub', () => {
  let github: FakeGithub;
  let forge: GithubForge;
  let world: InProcess;
  let app: Repository;
  let own: PullRequest;
  let foreign: PullRequest;
  let folder = '';
  let address = 0;

  before(async () => {
    github = await createFakeGithub();
    github.install(github.app, 'acme');
    const roles = { ada: 'write', root: 'admin', eve: 'read', tia: 'triage', max: 'maintain' } as const;
    app = await github.createRepository('acme/app', { roles, isPrivate: true });
    await github.createRepository('acme/secret', { roles: { root: 'admin' }, isPrivate: true });
    own = await github.openPullRequest(app, { author: 'ada' });
    foreign = await github.openPullRequest(app, { author: 'max' });
    folder = await mkdtemp(join(tmpdir(), 'sluice-sign-in-'));
    const auth = { kind: 'app', appId: String(github.app.id), privateKey: github.privateKey } as const;
    const connection = githubConnection({ host: HOST, auth, apiUrl: github.url, webUrl: github.url });
    forge = createGithubForge({ connection, clock: systemClock, log: silentLog, directory: folder, paceMs: 0 });
    const client = { id: github.app.clientId, secret: github.app.clientSecret };
    const provider = createGithubProvider({ host: HOST, apiUrl: github.url, webUrl: github.url, client });
    world = await createInProcess({
      forges: new Map([[HOST, forge]]),
      providers: new Map([[HOST, provider]]),
      roles: 'admin acme/* everyone',
    });
    const { organizationId } = world.repository;
    for (const name of ['app', 'secret']) {
      await world.store.repositories.save(aRepository({ organizationId, host: HOST, owner: 'acme', name }));
    }
  });
  beforeEach(() => world.clock.set(world.clock.now() + 20 * MINUTE));
  after(async () => {
    assert.deepEqual(github.violations, []);
    await world.close();
    await forge.close();
    await github.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function get(url: string, headers: Readonly<Record<string, string>>): Promise<Session> {
    address += 1;
    const answer = await world.server.inject({
      method: 'GET',
      url,
      headers,
      remoteAddress: `192.0.2.${address % 250}`,
    });
    assert.equal(answer.statusCode, 303, answer.body);
    const lines = [answer.headers['set-cookie'] ?? []].flat().filter((line) => !line.includes('Max-Age=0'));
    return {
      location: String(answer.headers.location),
      cookie: lines.map((line) => line.split(';')[0]).join('; '),
    };
  }

  /** The browser is signed in at GitHub as `login`. */
  async function cameBack(begun: Session, login: string): Promise<string> {
    const response = await fetch(`${begun.location}&login=${login}`, { redirect: 'manual' });
    return (response.headers.get('location') ?? '').replace(URL_OF_SERVER, '');
  }

  async function enter(login: string): Promise<Session> {
    const begun = await get(`/web/sign-in/${HOST}`, OWN);
    return get(await cameBack(begun, login), { cookie: begun.cookie });
  }

  async function call({ cookie }: Session, operation: string, body: object) {
    const headers = { ...OWN, cookie, 'x-organization': 'acme' };
    const answer = await world.server.inject({ method: 'POST', url: `/web/v1/${operation}`, headers, payload: body });
    return { status: answer.statusCode, body: answer.json() as { detail?: string; code?: string } };
  }

  const queueOf = (name: string) => ({ repo: { host: HOST, owner: 'acme', name }, targetBranch: 'main' });
  const codeOf = async (session: Session, operation: string, body: object) => {
    const answer = await call(session, operation, body);
    return answer.body.code ?? answer.status;
  };
  const asked = () => github.world.requests.filter(({ route }) => route.endsWith('/permission')).length;

  it('with state and PKCE, and keeps neither token nor more than id and login [A64]', async () => {
    const begun = await get(`/web/sign-in/${HOST}?back=/acme`, OWN);
    const query = new URL(begun.location).searchParams;
    assert.equal(query.get('redirect_uri'), `${URL_OF_SERVER}/web/sign-in/${HOST}/callback`);
    assert.equal(query.get('code_challenge_method'), 'S256');
    const tokens = github.world.tokens.size;
    const path = await cameBack(begun, 'ada');
    assert.match((await get(path, {})).location, /problem=stale/, 'another browser has no cookie for it');
    const session = await get(path, { cookie: begun.cookie });
    assert.equal(session.location, '/acme');
    const users = [...github.world.tokens.keys()].filter((token) => token.startsWith('ghu_'));
    assert.deepEqual([users, github.world.tokens.size >= tokens], [[], true], 'the token was given back');
    const [stored] = await world.store.sessions.listPeople(world.repository.organizationId);
    const { id } = github.user('ada');
    assert.deepEqual(stored?.person, {
      ...{ provider: HOST, subject: String(id), name: '@ada', groups: [], logins: { [HOST]: 'ada' } },
    });
    const again = await get(path, { cookie: begun.cookie });
    assert.match(again.location, /problem=denied/, 'a code works once');
    assert.match((await enter('-')).location, /problem=denied/);
  });

  it('the permission in a repository is the role, and the table gives none [A65]', async () => {
    const pause = { ...queueOf('app'), state: 'PAUSED' };
    const settings = { ...queueOf('app'), concurrency: 2 };
    const submit = (pr: PullRequest) => ({ ...queueOf('app'), pr: { number: pr.number } });
    const table: Record<string, readonly unknown[]> = {};
    for (const login of ['eve', 'tia', 'ada', 'max', 'root']) {
      const session = await enter(login);
      table[login] = [
        await codeOf(session, 'submitPullRequest', submit(own)),
        await codeOf(session, 'submitPullRequest', submit(foreign)),
        await codeOf(session, 'updateQueue', pause),
        await codeOf(session, 'updateQueue', settings),
        await codeOf(session, 'getQueue', queueOf('secret')),
        await codeOf(session, 'getQueue', { ...queueOf('app'), repo: { host: 'local', owner: 'acme', name: 'app' } }),
      ];
    }
    const [no, admitted, hidden] = ['INSUFFICIENT_SCOPE', 'QUEUE_NOT_FOUND', 'REPOSITORY_NOT_FOUND'];
    assert.deepEqual(table, {
      eve: [no, no, no, no, hidden, hidden],
      tia: [no, no, no, no, hidden, hidden],
      ada: [admitted, no, no, no, hidden, hidden],
      max: [admitted, admitted, admitted, no, hidden, hidden],
      root: [admitted, admitted, admitted, admitted, admitted, hidden],
    });
    assert.match((await enter('stranger')).location, /problem=no-role/);
  });

  it('an admin of a repository makes tokens for it alone, and does not read the audit [A51]', async () => {
    const root = await enter('root');
    const { repo } = queueOf('app');
    assert.equal((await call(root, 'createApiToken', { name: 'all', scopes: ['read'] })).status, 403);
    assert.equal(
      (await call(root, 'createApiToken', { name: 'ci', scopes: ['read'], repositories: [repo] })).status,
      200,
    );
    const local = { host: 'local', owner: 'acme', name: 'app' };
    assert.equal(
      (await call(root, 'createApiToken', { name: 'x', scopes: ['read'], repositories: [local] })).status,
      404,
    );
    assert.equal((await call(root, 'listEvents', { audit: true })).status, 403);
    assert.equal((await call(root, 'listSessions', {})).status, 403);
    const ref = { host: HOST, owner: 'acme', name: 'new' };
    assert.equal((await call(root, 'registerRepository', { repo: ref })).status, 403);
  });

  it('own pull requests are those whose author GitHub names, also of many at once [A52]', async () => {
    const ada = await enter('ada');
    const cancel = (...prs: readonly number[]) => call(ada, 'cancelPullRequest', { ...queueOf('app'), prs });
    assert.equal((await cancel(own.number)).status, 404);
    const mixed = await cancel(own.number, foreign.number);
    assert.deepEqual(
      [mixed.status, mixed.body.detail],
      [403, `Pull request #${foreign.number} is not yours: an author acts on own ones alone.`],
    );
    assert.equal((await cancel(999)).status, 403);
  });

  it('a permission is asked for again after a minute for acts, after ten for reading [A66]', async () => {
    const max = await enter('max');
    const pause = { ...queueOf('app'), state: 'PAUSED' };
    assert.equal(await codeOf(max, 'updateQueue', pause), 'QUEUE_NOT_FOUND');
    const before = asked();
    await codeOf(max, 'updateQueue', pause);
    assert.equal(asked(), before);
    github.setPermission(app, 'max', 'none');
    world.clock.set(world.clock.now() + MINUTE);
    assert.equal(await codeOf(max, 'updateQueue', pause), 'INSUFFICIENT_SCOPE');
    assert.equal(await codeOf(max, 'getQueue', queueOf('app')), 'REPOSITORY_NOT_FOUND');
    const eve = await enter('eve');
    github.setPermission(app, 'eve', 'none');
    world.clock.set(world.clock.now() + 9 * MINUTE);
    assert.equal(await codeOf(eve, 'getQueue', queueOf('app')), 'QUEUE_NOT_FOUND');
    world.clock.set(world.clock.now() + MINUTE);
    assert.equal(await codeOf(eve, 'getQueue', queueOf('app')), 'REPOSITORY_NOT_FOUND');
    assert.equal((await call(eve, 'listRepositories', {})).status, 200);
  });

  it('a token that a person made follows the permission within a minute, also for reading [A70]', async () => {
    const root = await enter('root');
    const repositories = [queueOf('app').repo];
    const made = await call(root, 'createApiToken', { name: 'mine', scopes: ['admin'], repositories });
    const { token } = made.body as { readonly token?: string };
    const use = async (operation: string, body: object) =>
      (await world.post(`/v1/${operation}`, body, { 'x-api-token': token ?? '' })).status;
    assert.equal(await use('listApiTokens', {}), 200);
    assert.equal(await use('getQueue', queueOf('app')), 404);
    const { length } = github.world.requests;
    assert.equal(await use('listApiTokens', {}), 200);
    assert.equal(github.world.requests.length, length, 'what GitHub said counts for a minute');
    github.setPermission(app, 'root', 'read');
    world.clock.set(world.clock.now() + MINUTE);
    assert.equal(await use('listApiTokens', {}), 403);
    assert.equal(await use('listQueues', queueOf('app')), 200);
    github.setPermission(app, 'root', 'none');
    world.clock.set(world.clock.now() + MINUTE);
    assert.equal(await use('listQueues', { repo: queueOf('app').repo }), 404);
    github.setPermission(app, 'root', 'admin');
  });

  it('while GitHub does not answer, people read for an hour and act on nothing [A66]', async () => {
    const root = await enter('root');
    const mend = github.faults.always('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
      ...{ kind: 'forbidden' },
    });
    world.clock.set(world.clock.now() + 59 * MINUTE);
    assert.equal(await codeOf(root, 'getQueue', queueOf('app')), 'QUEUE_NOT_FOUND');
    assert.equal(await codeOf(root, 'updateQueue', { ...queueOf('app'), state: 'PAUSED' }), 'FORGE_UNAVAILABLE');
    world.clock.set(world.clock.now() + MINUTE);
    assert.equal(await codeOf(root, 'getQueue', queueOf('app')), 'FORGE_UNAVAILABLE');
    mend();
  });
});
