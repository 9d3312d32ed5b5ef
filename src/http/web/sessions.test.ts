import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeOnce } from '../../../test/helpers/made.ts';
import { createInProcess, TOKEN } from '../../../test/worlds/server/in-process.ts';

const HOUR = 3_600_000;
const OWN = { origin: 'https://sluice.test', 'sec-fetch-site': 'same-origin' };

describe('a session of the dashboard', () => {
  const world = madeOnce(() => createInProcess());

  const post = async (url: string, body: unknown, headers: Readonly<Record<string, string>> = OWN) => {
    const answer = await world.server.inject({ method: 'POST', url, headers, payload: body as object });
    return { status: answer.statusCode, cookie: String(answer.headers['set-cookie'] ?? ''), body: answer.json() };
  };
  const signIn = async (body: object = { token: TOKEN }) => {
    const { status, cookie, body: session } = await post('/web/sessions', body);
    return { status, session, line: cookie, headers: { ...OWN, cookie: cookie.split(';')[0] ?? '' } };
  };
  const ask = async (headers: Readonly<Record<string, string>>, operation = 'listQueues') =>
    (await post(`/web/v1/${operation}`, {}, { 'x-organization': 'acme', ...headers })).status;
  const makeToken = async (scopes: readonly string[], more: object = {}) =>
    world.ok<{ id: string; token: string }>('/v1/createApiToken', { name: 'ada', scopes, ...more });

  it('is begun with a token, in a cookie that no script and no other site can use [A33]', async () => {
    const { status, session, line } = await signIn();
    assert.equal(status, 200);
    assert.equal(session.organization, 'acme');
    assert.match(line, /^sluice-session-acme=[\w-]{43}; Path=\/web; HttpOnly; SameSite=Strict; Secure$/);
    const plain = await createInProcess({ publicUrl: 'http://127.0.0.1:8080' });
    const headers = { origin: 'http://127.0.0.1:8080' };
    const answer = await plain.server.inject({
      method: 'POST',
      url: '/web/sessions',
      headers,
      payload: { token: TOKEN },
    });
    assert.doesNotMatch(String(answer.headers['set-cookie']), /Secure/);
    await plain.close();
  });

  it('is refused to a token that is unknown or revoked, with a sentence [A33]', async () => {
    const { status, session } = await signIn({ token: 'slc_of_nobody' });
    assert.equal(status, 401);
    assert.match(session.detail, /unknown, revoked or expired/);
    const { id, token } = await makeToken(['read']);
    const { headers } = await signIn({ token });
    await world.ok('/v1/revokeApiToken', { id });
    assert.equal(await ask(headers), 401);
    assert.equal((await signIn({ token })).status, 401);
  });

  it('has the scopes of its token [A33] [A35]', async () => {
    const { token } = await makeToken(['read']);
    const { headers } = await signIn({ token });
    assert.deepEqual([await ask(headers), await ask(headers, 'listApiTokens')], [200, 403]);
  });

  it('ends 12 hours after its last use, and after 7 days [A34]', async () => {
    const started = world.clock.now();
    const { headers } = await signIn();
    world.clock.set(started + 11 * HOUR);
    assert.equal(await ask(headers), 200);
    world.clock.set(started + 22 * HOUR);
    assert.equal(await ask(headers), 200, 'each use moves the end');
    world.clock.set(started + 34 * HOUR);
    assert.equal(await ask(headers), 401);
    world.clock.set(started);
    const other = await signIn();
    for (let hours = 0; hours < 7 * 24; hours += 6) {
      world.clock.set(started + hours * HOUR);
      assert.equal(await ask(other.headers), 200, `${hours} h`);
    }
    world.clock.set(started + 7 * 24 * HOUR);
    assert.equal(await ask(other.headers), 401);
    world.clock.set(started);
  });

  it('ends with its token, and when somebody signs out [A34]', async () => {
    const started = world.clock.now();
    const { token } = await makeToken(['read'], { expiresAt: new Date(started + HOUR).toISOString() });
    const { headers } = await signIn({ token });
    world.clock.set(started + HOUR);
    assert.equal(await ask(headers), 401);
    world.clock.set(started);
    const mine = await signIn();
    const { status, cookie } = await post('/web/sessions/end', { organization: 'acme' }, mine.headers);
    assert.deepEqual([status, /Max-Age=0/.test(cookie)], [200, true]);
    assert.equal(await ask(mine.headers), 401);
  });

  it('is no token: /v1 reads no cookie, and /web/v1 no token [A35]', async () => {
    const { headers } = await signIn();
    assert.equal((await post('/v1/listQueues', {}, headers)).status, 401);
    assert.equal((await post('/trunk/v1/listQueues', {}, headers)).status, 401);
    assert.equal(await ask({ ...OWN, 'x-api-token': TOKEN }), 401);
    const upload = await post('/web/v1/uploadResults', {}, headers);
    assert.equal(upload.status, 404);
  });

  it('is of no use to pages of other sites [A36]', async () => {
    const { headers } = await signIn();
    const strange: Record<string, string>[] = [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: 'https://sluice.test.evil.test' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const each of strange) {
      assert.equal(await ask({ ...headers, ...each }), 403, JSON.stringify(each));
      assert.equal((await post('/web/sessions', { token: TOKEN }, { ...OWN, ...each })).status, 403);
    }
  });

  it('is begun by a link, once and within 10 minutes [A37]', async () => {
    const started = world.clock.now();
    const make = async () => (await world.ok<{ url: string }>('/v1/createSignInLink', {})).url;
    const url = await make();
    assert.match(url, /^https:\/\/sluice\.test\/login#[\w-]{43}$/);
    const link = new URL(url).hash.slice(1);
    const cookie = `sluice-session-acme=${link}`;
    assert.equal(await ask({ ...OWN, cookie }), 401, 'a link is no session');
    const opened = await Promise.all([signIn({ link }), signIn({ link })]);
    assert.deepEqual(opened.map(({ status }) => status).sort(), [200, 401]);
    const late = new URL(await make()).hash.slice(1);
    world.clock.set(started + HOUR / 6);
    assert.equal((await signIn({ link: late })).status, 401);
    world.clock.set(started);
  });

  it('of the whole server shows any organization, others only their own [A33] [A35]', async () => {
    await world.ok('/v1/createOrganization', { slug: 'other' });
    const { headers } = await signIn();
    assert.equal(await ask({ ...headers, 'x-organization': 'other' }), 200);
    const { token } = await makeToken(['admin']);
    const limited = await signIn({ token });
    assert.equal(await ask({ ...limited.headers, 'x-organization': 'other' }), 401);
  });

  it('shows its page to anybody, without a script in it that could be another one [A38]', async () => {
    const answer = await world.server.inject('/acme/local/acme/app/main');
    assert.equal(answer.statusCode, 200);
    assert.match(answer.body, /The dashboard is not built/);
    for (const url of ['/V1/x', '/assets/nothing.js', '/login/x', '/-/x']) {
      assert.equal((await world.server.inject(url)).statusCode, 404, url);
    }
  });
});
