import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  CLIENT,
  type Claims,
  encode,
  enterAt,
  makeKey,
  signToken,
  startProvider,
  type TestProvider,
} from '../../../test/fake/oidc/provider.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { aRepository } from '../../../test/helpers/store-rows.ts';
import { createInProcess, type InProcess } from '../../../test/worlds/server/in-process.ts';
import { tellOfEnds } from '../../app/access/api-tokens.ts';
import { createOidcProvider } from '../../identity/oidc/create-oidc-provider.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';

const URL_OF_SERVER = 'https://sluice.test';
const CALLBACK = `${URL_OF_SERVER}/web/sign-in/sso/callback`;
const OWN = { origin: URL_OF_SERVER, 'sec-fetch-site': 'same-origin' };
const HOUR = 3_600_000;
const ROLES = `
admin      acme/*              group:admins
admin      acme/local/acme/lib group:owners
reader     acme/local/acme/*   group:readers
maintainer acme/local/acme/lib group:maintainers
author     acme/local/acme/*   group:authors
reader     second/*            group:readers
`;

interface Answer {
  readonly status: number;
  readonly location: string;
  readonly cookies: readonly string[];
  readonly text: string;
}

describe('a person signs in with an OpenID Connect provider', () => {
  let provider: TestProvider;
  let world: InProcess;
  let requests = 0;
  /** Another server on the same store. */
  let sibling: InProcess;

  before(async () => {
    provider = await startProvider(CALLBACK, `${URL_OF_SERVER}/login`);
    for (const name of ['admins', 'owners', 'readers', 'maintainers', 'authors', 'nobodies']) {
      provider.accounts.set(name, { name: `One of ${name}`, groups: [name, 'x'], email: 'ada@acme.dev' });
    }
    provider.accounts.set('both', { name: 'A (sso:admins)\u202e', groups: ['readers', 'maintainers'] });
    const store = createMemoryStore();
    world = await serverOn(store);
    sibling = await serverOn(store);
    const { organizationId } = world.repository;
    for (const name of ['lib', 'hidden']) {
      const owner = name === 'lib' ? 'acme' : 'elsewhere';
      await store.repositories.save(aRepository({ organizationId, host: 'local', owner, name }));
    }
    await world.ok('/v1/createOrganization', { slug: 'second' });
  });
  beforeEach(() => {
    provider.tamper = undefined;
    world.clock.set(world.clock.now() + 10_000);
    sibling.clock.set(world.clock.now());
  });
  after(async () => {
    await provider.stop();
    await sibling.server.close();
    await world.close();
  });

  async function serverOn(store: ReturnType<typeof createMemoryStore>): Promise<InProcess> {
    let made: InProcess | undefined;
    const clock = { now: () => made?.clock.now() ?? 0 };
    const settings = {
      ...{ issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, label: 'Acme' },
      ...{ scopes: 'openid profile', groupsClaim: 'groups', loginClaim: undefined },
    };
    const sso = createOidcProvider(settings, { clock, log: silentLog });
    const providers = new Map([['sso', sso]]);
    made = await createInProcess({ store, roles: ROLES, providers, trustedProxies: ['10.0.0.1'] });
    return made;
  }

  async function get(url: string, headers: Readonly<Record<string, string>> = {}, at = world): Promise<Answer> {
    requests += 1;
    const remoteAddress = `192.0.2.${requests % 250}`;
    const answer = await at.server.inject({ method: 'GET', url, headers, remoteAddress });
    const cookies = [answer.headers['set-cookie'] ?? []].flat();
    return { status: answer.statusCode, location: String(answer.headers.location ?? ''), cookies, text: answer.body };
  }

  const cookieOf = ({ cookies }: Answer) =>
    cookies
      .filter((line) => !line.includes('Max-Age=0'))
      .map((line) => line.split(';')[0])
      .join('; ');

  const begin = (back = '') => get(`/web/sign-in/sso${back === '' ? '' : `?back=${encodeURIComponent(back)}`}`, OWN);

  /** The whole way. */
  async function enter(subject: string, options: { back?: string; at?: InProcess } = {}): Promise<Answer> {
    const begun = await begin(options.back);
    assert.equal(begun.status, 303, begun.text);
    const cameBack = await enterAt(provider, begun.location, subject);
    return get(cameBack.replace(URL_OF_SERVER, ''), { cookie: cookieOf(begun) }, options.at);
  }

  async function call(session: Answer, operation: string, body: object, at = world, slug = 'acme') {
    const headers = { ...OWN, cookie: cookieOf(session), 'x-organization': slug };
    const url = `/web/v1/${operation}`;
    const answer = await at.server.inject({ method: 'POST', url, headers, payload: body });
    return { status: answer.statusCode, body: answer.json() as Record<string, never> & { detail?: string } };
  }

  const queueOf = (name: string, owner = 'acme') => ({ repo: { host: 'local', owner, name }, targetBranch: 'main' });
  const audit = async (limit = 5) =>
    (
      await world.ok<{ events: { type: string; text: string; actor: object }[] }>('/v1/listEvents', {
        ...{ audit: true, order: 'DESC', types: ['session.*', 'token.*'], limit },
      })
    ).events;
  const problemOf = ({ status, location }: Answer) => {
    assert.equal(status, 303);
    return new URL(location, URL_OF_SERVER).searchParams.get('problem');
  };

  it('any server finishes what another began, with new sessions and strict cookies [A54]', async () => {
    const begun = await begin('/acme?x=1');
    const asked = new URL(begun.location).searchParams;
    assert.equal(asked.get('code_challenge_method'), 'S256');
    assert.ok((asked.get('state')?.length ?? 0) > 40 && asked.get('nonce') !== asked.get('state'));
    assert.match(
      begun.cookies[0] ?? '',
      /^__Host-sluice-sign-in=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    const signedIn = await enter('readers', { back: '/acme?x=1', at: sibling });
    assert.equal(signedIn.location, '/acme?x=1');
    const sessions = signedIn.cookies.filter((line) => line.startsWith('sluice-session-'));
    assert.deepEqual(
      sessions.map((line) => line.split('=')[0]),
      ['sluice-session-acme', 'sluice-session-second'],
    );
    for (const line of sessions) assert.match(line, /; Path=\/web; HttpOnly; SameSite=Strict; Secure$/);
    assert.equal((await call(signedIn, 'listRepositories', {})).status, 200);
    assert.equal((await call(signedIn, 'listRepositories', {}, sibling)).status, 200);
  });

  it('a code that another browser got does not sign in [A54]', async () => {
    const [mine, theirs] = [await begin(), await begin()];
    const stolen = (await enterAt(provider, theirs.location, 'admins')).replace(URL_OF_SERVER, '');
    for (const headers of [{}, { cookie: cookieOf(mine) }] as const) {
      const answer = await get(stolen, headers);
      assert.equal(problemOf(answer), 'stale');
      assert.ok(answer.cookies.every((line) => line.includes('Max-Age=0')));
    }
    const forged = createHmac('sha256', 'guess').update('sso state').digest('base64url');
    const other = await get(`/web/sign-in/sso/callback?code=x&state=${forged}`, {
      cookie: '__Host-sluice-sign-in=guess.',
    });
    assert.equal(problemOf(other), 'denied', 'the provider knows no such code');
  });

  it('roles are for repositories: the others are 404, acts beyond the role 403 [A51]', async () => {
    const both = await enter('both');
    const { repositories } = (await call(both, 'listRepositories', {})).body as never as {
      repositories: { repo: object }[];
    };
    assert.deepEqual(repositories.length, 2, JSON.stringify(repositories));
    const pause = (name: string, owner?: string) =>
      call(both, 'updateQueue', { ...queueOf(name, owner), state: 'PAUSED' });
    const refused = await pause('app');
    assert.deepEqual(
      [refused.status, refused.body.detail],
      [403, 'updateQueue needs a maintainer of local/acme/app. You are a reader there.'],
    );
    assert.equal((await pause('lib')).status, 404, 'there is no queue, which a maintainer is told');
    assert.equal((await call(both, 'getQueue', queueOf('hidden', 'elsewhere'))).status, 404);
    assert.equal((await call(both, 'getQueue', queueOf('nowhere'))).status, 404);
    const settings = await call(both, 'updateQueue', { ...queueOf('lib'), concurrency: 3 });
    assert.deepEqual(
      [settings.status, settings.body.detail],
      [403, 'updateQueue needs an admin of local/acme/lib. You are a maintainer there.'],
    );
    for (const operation of ['listApiTokens', 'listSessions', 'listWebhooks']) {
      assert.equal((await call(both, operation, {})).status, 403, operation);
    }
    assert.equal((await call(both, 'createBackup', { file: '/tmp/x' })).status, 403);
    assert.equal((await call(both, 'listEvents', { audit: true })).status, 403);
  });

  it('the scope maintain pauses a queue, and settings need admin [A50]', async () => {
    const admin = await enter('admins');
    const queue = queueOf('lib');
    await world.store.repositories.list(world.repository.organizationId);
    const { token } = await world.ok<{ token: string }>('/v1/createApiToken', { name: 'bot', scopes: ['maintain'] });
    const change = (body: object) => world.post('/v1/updateQueue', { ...queue, ...body }, { 'x-api-token': token });
    const refused = await change({ concurrency: 3 });
    assert.equal(refused.status, 403);
    assert.match(refused.text, /needs a token with the scope \\"admin\\"/);
    assert.equal((await change({ state: 'PAUSED', reason: 'x' })).status, 404, 'admitted: there is no such queue');
    assert.equal((await call(admin, 'updateQueue', { ...queue, concurrency: 3 })).status, 404);
  });

  it('an author owns no pull requests in plain git: the author of a commit proves nothing [A52]', async () => {
    const author = await enter('authors');
    const answer = await call(author, 'submitPullRequest', { ...queueOf('app'), pr: { number: 7 } });
    assert.deepEqual(
      [answer.status, answer.body.detail],
      [403, 'Pull request #7 is not yours: an author acts on own ones alone.'],
    );
    const many = await call(author, 'cancelPullRequest', { ...queueOf('app'), prs: [7, '8'] });
    assert.equal(many.status, 403);
  });

  const hostile: readonly [string, (claims: Claims, token: string) => string][] = [
    ['alg none', (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    [
      'HMAC with the public key',
      (claims) => {
        const input = `${encode({ alg: 'HS256', kid: provider.key.kid })}.${encode(claims)}`;
        return `${input}.${createHmac('sha256', String(provider.key.jwk.n)).update(input).digest('base64url')}`;
      },
    ],
    [
      'HMAC with the secret of the client',
      (claims) => {
        const input = `${encode({ alg: 'HS256' })}.${encode(claims)}`;
        return `${input}.${createHmac('sha256', CLIENT.secret).update(input).digest('base64url')}`;
      },
    ],
    ['another audience', (claims) => signToken({ ...claims, aud: 'another' }, provider.key)],
    [
      'two audiences, made for the other',
      (claims) => signToken({ ...claims, aud: [CLIENT.id, 'other'], azp: 'other' }, provider.key),
    ],
    ['made for another client', (claims) => signToken({ ...claims, azp: 'other' }, provider.key)],
    ['another issuer', (claims) => signToken({ ...claims, iss: 'https://evil.example' }, provider.key)],
    ['another nonce', (claims) => signToken({ ...claims, nonce: 'x' }, provider.key)],
    ['no nonce', ({ nonce: _, ...claims }) => signToken(claims, provider.key)],
    ['expired', (claims) => signToken({ ...claims, exp: Math.floor(Date.now() / 1_000) - 90 }, provider.key)],
    ['of the future', (claims) => signToken({ ...claims, nbf: Math.floor(Date.now() / 1_000) + 90 }, provider.key)],
    [
      'issued in an hour',
      (claims) => signToken({ ...claims, iat: Math.floor(Date.now() / 1_000) + 3_600 }, provider.key),
    ],
    ['signed by another provider', (claims) => signToken(claims, { ...makeKey(), kid: provider.key.kid })],
    ['signed with an unpublished key', (claims) => signToken(claims, makeKey())],
    [
      'of another person',
      (_, token) =>
        token.replace(
          /\.[^.]+\./,
          (part) =>
            `.${encode({ ...JSON.parse(Buffer.from(part.slice(1, -1), 'base64url').toString()), sub: 'admins' })}.`,
        ),
    ],
    ['no token at all', () => 'x'],
  ];
  for (const [name, tamper] of hostile) {
    it(`the sign-in refuses an ID token: ${name} [A55]`, async () => {
      provider.tamper = tamper;
      const answer = await enter('readers');
      assert.equal(problemOf(answer), 'refused');
      assert.ok(answer.cookies.every((line) => line.includes('Max-Age=0')));
      const [record] = await audit();
      assert.equal(record?.type, 'session.refused');
      assert.match(record?.text ?? '', /^A sign-in with sso was refused\. The answer of the provider does not count: /);
    });
  }

  it('the sign-in tolerates a clock that is a minute off [A55]', async () => {
    const now = Math.floor(Date.now() / 1_000);
    provider.tamper = (claims) => signToken({ ...claims, iat: now + 50, nbf: now + 50, exp: now - 50 }, provider.key);
    assert.equal((await enter('readers')).location, '/acme');
  });

  it('a new key of the provider is fetched, and not more often than every 5 s [A56]', async () => {
    await enter('readers');
    provider.rotateKeys();
    assert.equal((await enter('readers')).location, '/acme');
    const fetched = provider.asked.filter((path) => path === '/jwks').length;
    provider.tamper = (claims) => signToken(claims, makeKey());
    for (let index = 0; index < 2; index += 1) assert.equal(problemOf(await enter('readers')), 'refused');
    assert.equal(provider.asked.filter((path) => path === '/jwks').length, fetched);
  });

  it('a provider that is down is said to be so, and asked again later [A57]', async () => {
    world.clock.set(world.clock.now() + 2 * HOUR);
    const begun = await begin();
    const cameBack = (await enterAt(provider, begun.location, 'readers')).replace(URL_OF_SERVER, '');
    await provider.stop();
    const late = await get(cameBack, { cookie: cookieOf(begun) });
    assert.equal(problemOf(late), 'unavailable');
    const fresh = await serverOn(world.store);
    const ask = async () => get('/web/sign-in/sso', OWN, fresh);
    assert.equal(problemOf(await ask()), 'unavailable');
    assert.equal((await fresh.post('/v1/listRepositories', {})).status, 200, 'tokens work');
    await provider.restart();
    assert.equal(problemOf(await ask()), 'unavailable', 'it is not asked again within a second');
    fresh.clock.set(fresh.clock.now() + 1_000);
    assert.match((await ask()).location, /^http:\/\/127/);
    await fresh.server.close();
  });

  it('a session ends after 4 unused hours, after 8 hours, and counts on every server [A58]', async () => {
    const start = world.clock.now();
    const session = await enter('readers');
    const isIn = async (at: number) => {
      world.clock.set(start + at);
      return (await call(session, 'listRepositories', {})).status === 200;
    };
    assert.deepEqual([await isIn(3.9 * HOUR), await isIn(7.8 * HOUR), await isIn(8 * HOUR)], [true, true, false]);
    const idle = await enter('readers');
    world.clock.set(world.clock.now() + 4 * HOUR);
    assert.equal((await call(idle, 'listRepositories', {})).status, 401);
  });

  it('signing in ends the sessions that the browser had, and signing out ends all of a person [A59]', async () => {
    const first = await enter('readers');
    const begun = await begin();
    const cameBack = (await enterAt(provider, begun.location, 'both')).replace(URL_OF_SERVER, '');
    const second = await get(cameBack, { cookie: `${cookieOf(begun)}; ${cookieOf(first)}` });
    assert.notEqual(cookieOf(second), cookieOf(first));
    assert.equal((await call(first, 'listRepositories', {})).status, 401);
    const headers = { ...OWN, cookie: cookieOf(second) };
    const payload = { organization: 'acme' };
    const out = await world.server.inject({ method: 'POST', url: '/web/sessions/end', headers, payload });
    const { signOutUrl } = out.json() as { signOutUrl: string };
    const { origin, pathname, searchParams } = new URL(signOutUrl);
    assert.deepEqual([origin, pathname], [provider.issuer, '/session/end']);
    assert.equal(searchParams.get('post_logout_redirect_uri'), `${URL_OF_SERVER}/login`);
    assert.equal((await fetch(signOutUrl)).status, 200, 'the provider knows the address to return to');
    assert.equal([out.headers['set-cookie']].flat().length, 2);
    for (const slug of ['acme', 'second']) {
      assert.equal((await call(second, 'listRepositories', {}, world, slug)).status, 401, slug);
    }
  });

  it('the sign-in begins on a page of this server, and returns to a path of it [A60]', async () => {
    for (const site of ['cross-site', 'same-site']) {
      assert.equal((await get('/web/sign-in/sso', { 'sec-fetch-site': site })).status, 403);
    }
    for (const back of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/\t/evil.example',
      '/%0d%0aset-cookie: x',
      'x',
    ]) {
      const { location } = await enter('readers', { back });
      assert.ok(location === '/acme' || location.startsWith('/%0d'), location);
    }
    assert.equal(
      (await enter('readers', { back: '/acme/local/acme/app/main?at=x' })).location,
      '/acme/local/acme/app/main?at=x',
    );
    assert.equal((await get('/web/sign-in/other', OWN)).status, 404);
  });

  it('the sign-in is limited to 5 requests a second for the address that a trusted proxy tells [A67]', async () => {
    const ask = async (client: string, remoteAddress = '10.0.0.1') => {
      const headers = { ...OWN, 'x-forwarded-for': client };
      return (await world.server.inject({ url: '/web/sign-in/sso', headers, remoteAddress })).statusCode;
    };
    const five = Array.from({ length: 5 }, () => '198.51.100.1');
    for (const client of five) assert.equal(await ask(client), 303);
    assert.equal(await ask('198.51.100.1'), 429);
    assert.equal(await ask('198.51.100.2'), 303);
    for (const client of five) assert.equal(await ask(client, '203.0.113.9'), 303);
    assert.equal(await ask('198.51.100.3', '203.0.113.9'), 429, 'others are counted by their own address');
  });

  it('the audit names the person by provider and subject, and no token can [A61]', async () => {
    const session = await enter('both');
    const [begun] = await audit();
    const name = 'A sso:admins (sso:both)';
    assert.deepEqual([begun?.type, begun?.actor], ['session.begun', { kind: 'person', name }]);
    assert.ok(session.location);
    const admin = await enter('admins');
    const made = await call(admin, 'createApiToken', { name: 'ci', scopes: ['read'] });
    assert.equal(made.status, 200);
    const [created] = await audit();
    assert.deepEqual(created?.actor, { kind: 'person', name: 'One of admins (sso:admins)' });
    for (const wrong of [name, '@ada']) {
      await world.refused('400 VALIDATION_FAILED', '/v1/createApiToken', { name: wrong, scopes: ['read'] });
    }
    assert.equal((await call(admin, 'createSignInLink', {})).status, 403);
  });

  it('a person without a role gets no session, and the refusal is recorded [A61]', async () => {
    assert.equal(problemOf(await enter('nobodies')), 'no-role');
    const [record] = await audit();
    assert.match(record?.text ?? '', /^A sign-in of One of nobodies \(sso:nobodies\) with sso was refused\. No role/);
  });

  it('groups count from the next sign-in on, e-mail addresses never [A48]', async () => {
    provider.accounts.set('moved', { name: 'M', groups: ['admins'], email: 'ada@acme.dev' });
    assert.equal((await call(await enter('moved'), 'listApiTokens', {})).status, 200);
    provider.accounts.set('moved', { name: 'M', groups: ['readers'], email: 'admins' });
    assert.equal((await call(await enter('moved'), 'listApiTokens', {})).status, 403);
  });

  it('an administrator lists and ends the sessions of people, with their streams [A62]', async () => {
    const reader = await enter('both');
    const admin = await enter('admins');
    const { sessions } = (await call(admin, 'listSessions', {})).body as never as {
      sessions: { id: string; subject: string }[];
    };
    const id = sessions.find(({ subject }) => subject === 'both')?.id;
    assert.equal((await call(reader, 'revokeSession', { id })).status, 403);
    const headers = { ...OWN, cookie: cookieOf(reader), 'x-organization': 'acme' };
    const opened = await world.server.inject({ url: '/web/v1/events', headers, payloadAsStream: true });
    const ended = once(opened.stream().resume(), 'end');
    assert.equal((await call(admin, 'revokeSession', { id })).status, 200);
    await world.app.feed.sequence();
    await ended;
    assert.equal((await call(admin, 'revokeSession', { id })).status, 404);
    assert.equal((await call(reader, 'listRepositories', {}, sibling)).status, 401);
    const [record] = await audit();
    assert.match(record?.text ?? '', /^One of admins \(sso:admins\) ended the session of A sso:admins \(sso:both\)\.$/);
  });

  describe('and makes a token', () => {
    const DAY = 24 * HOUR;
    const LIB = queueOf('lib');
    const OWN_NAME = 'One of owners (sso:owners)';
    interface Made {
      readonly id: string;
      readonly token: string;
      readonly expiresAt: string | null;
      readonly madeBy: string | null;
      readonly isPersonal: boolean;
    }
    const make = async (session: Answer, body: object = {}) => {
      const whole = { name: 'mine', scopes: ['admin'], repositories: [LIB.repo], ...body };
      const answer = await call(session, 'createApiToken', whole);
      return { ...(answer.body as never as Made), status: answer.status, detail: answer.body.detail };
    };
    const use = async ({ token }: { readonly token: string }, operation = 'listApiTokens', body: object = {}) =>
      (await world.post(`/v1/${operation}`, body, { 'x-api-token': token })).status;
    const inDays = (days: number) => new Date(world.clock.now() + days * DAY).toISOString();

    it('which says who made it, and is for a person unless an administrator of all says otherwise [A68] [A69]', async () => {
      const owner = await enter('owners');
      const mine = await make(owner);
      assert.deepEqual([mine.madeBy, mine.isPersonal], [OWN_NAME, true]);
      const { tokens } = await world.ok<{ tokens: Made[] }>('/v1/listApiTokens', {});
      assert.equal(tokens.find(({ id }) => id === mine.id)?.madeBy, OWN_NAME);
      const service = await make(owner, { service: true });
      assert.deepEqual(
        [service.status, service.detail],
        [403, 'Only administrators of the whole organization make tokens that belong to no person.'],
      );
      const made = await world.post(
        '/v1/createApiToken',
        { name: 'child', scopes: ['read'], repositories: [LIB.repo] },
        { 'x-api-token': mine.token },
      );
      const child = JSON.parse(made.text) as Made;
      assert.deepEqual([child.madeBy, child.isPersonal], ['mine', true], 'it is of the same person');
      const admin = await enter('admins');
      const free = await make(admin, { service: true });
      assert.deepEqual([free.isPersonal, free.expiresAt], [false, null]);
      const limited = await world.ok<Made>('/v1/createApiToken', {
        name: 'x',
        scopes: ['admin'],
        repositories: [LIB.repo],
      });
      const asked = { name: 'y', scopes: ['read'], repositories: [LIB.repo] };
      assert.equal(await use(limited, 'createApiToken', asked), 403);
    });

    it('which lasts 90 days, or as the operator says [A73]', async () => {
      const owner = await enter('owners');
      const late = await make(owner, { expiresAt: inDays(91) });
      assert.match(late.detail ?? '', /must be within 90 days, as tokens of people last no longer here/);
      assert.equal((await make(owner, { expiresAt: inDays(89) })).status, 200);
      Object.assign(world.app, { tokenDays: 10 });
      assert.equal((await make(owner)).expiresAt, inDays(10));
      Object.assign(world.app, { tokenDays: 90 });
    });

    it('which ends with the role of its maker, and 30 days after their last sign-in [A70] [A71] [A74]', async () => {
      provider.accounts.set('leaver', { name: 'L', groups: ['owners', 'maintainers'] });
      const own = await make(await enter('leaver'));
      assert.equal(own.expiresAt, inDays(30));
      assert.equal(await use(own, 'createQueue', { ...LIB, nonsense: 1 }), 400, 'admitted');
      world.clock.set(world.clock.now() + 20 * DAY);
      await tellOfEnds(world.app);
      await tellOfEnds(world.app);
      const told = (await audit(50)).filter(({ type, text }) => type === 'token.expiring' && text.includes('leaver'));
      assert.equal(told.length, 1);
      assert.match(
        told[0]?.text ?? '',
        /^The token "mine" of L \(sso:leaver\) ends at .* It goes on if they sign in before/,
      );
      await enter('leaver');
      world.clock.set(world.clock.now() + 29 * DAY);
      assert.equal(await use(own), 200, 'the sign-in renewed it');
      provider.accounts.set('leaver', { name: 'L', groups: ['maintainers'] });
      await enter('leaver');
      assert.equal(await use(own), 403);
      const refused = await world.post('/v1/deleteQueue', LIB, { 'x-api-token': own.token });
      assert.match(
        refused.text,
        /This token allows no more than L \(sso:leaver\) may, who made it\. deleteQueue needs an admin/,
      );
      assert.equal(
        await use(own, 'updateQueue', { ...LIB, state: 'PAUSED' }),
        404,
        'a maintainer may, and there is none',
      );
      assert.equal(await use(own, 'getQueue', queueOf('app')), 404);
      world.clock.set(world.clock.now() + 30 * DAY);
      assert.equal(await use(own), 401);
    });

    it('which ends with a revoked session, and never outlives its provider [A62] [A70]', async () => {
      const own = await make(await enter('owners'));
      const admin = await enter('admins');
      const { sessions } = (await call(admin, 'listSessions', {})).body as never as {
        sessions: { id: string; subject: string }[];
      };
      const alone = await createInProcess({ store: world.store, roles: ROLES });
      alone.clock.set(world.clock.now());
      const answer = await alone.post('/v1/listApiTokens', {}, { 'x-api-token': own.token });
      assert.match(answer.text, /people of sso do not sign in here any more/);
      await alone.server.close();
      const id = sessions.find(({ subject }) => subject === 'owners')?.id;
      assert.equal(await use(own), 200);
      const revoked = await call(admin, 'revokeSession', { id });
      assert.ok(Number((revoked.body as { revokedTokens?: number }).revokedTokens) > 0);
      assert.equal(await use(own), 401);
    });
  });
});
