import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ender } from '../../../../test/helpers/made.ts';
import { recordSpans } from '../../../../test/helpers/record-spans.ts';
import {
  type Asked,
  anAppKey,
  type Said,
  type ScriptedGithub,
  startScriptedGithub,
} from '../../../../test/helpers/scripted-github.ts';
import { systemClock } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import { createJsonLog } from '../../../lib/log.ts';
import { GithubClient } from './client.ts';
import { type GithubAuth, githubConnection, graphqlUrlOf } from './connection.ts';

const APP = { owner: 'acme', name: 'app' };
const KEY = anAppKey();
const OTHER_KEY = anAppKey();
const TOKEN = 'ghs_0123456789abcdefghijABCDEFGHIJ';

type Answers = Readonly<Record<string, Said | ((asked: Asked) => Said)>>;

const end = ender();

interface Worlds {
  readonly github: ScriptedGithub;
  readonly client: GithubClient;
  readonly logged: readonly string[];
}

const INSTALLED: Answers = {
  'GET /repos/acme/app/installation': { body: { id: 5, app_slug: 'sluice-app', permissions: { checks: 'read' } } },
  'POST /app/installations/5/access_tokens': () => ({ status: 201, body: aToken(TOKEN) }),
};

function aToken(token: string, forMs = 3_600_000): object {
  return { token, expires_at: new Date(Date.now() + forMs).toISOString() };
}

async function world(
  answers: Answers,
  {
    auth = { kind: 'app', appId: '1', privateKey: KEY } as GithubAuth,
    reload,
    timeoutMs,
  }: {
    readonly auth?: GithubAuth;
    readonly reload?: () => Promise<GithubAuth>;
    readonly timeoutMs?: number;
  } = {},
): Promise<Worlds> {
  const all: Answers = { ...INSTALLED, ...answers };
  const github = await startScriptedGithub((asked) => {
    const said = all[asked.route] ?? { status: 404, body: { message: 'Not Found' } };
    return typeof said === 'function' ? said(asked) : said;
  });
  const logged: string[] = [];
  const client = new GithubClient({
    connection: githubConnection({ host: 'github.com', apiUrl: github.url, auth, ...(reload && { reload }) }),
    // Retries wait one millisecond here, since their delays are not under test.
    clock: { now: () => Date.now(), after: (ms, act) => systemClock.after(Math.min(ms, 1), act) },
    paceMs: 0,
    log: createJsonLog('debug', (line) => logged.push(line)),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  end(github, client);
  return { github, client, logged };
}

/** Gives one answer after the other, and repeats the last. */
function inTurn(...said: readonly Said[]): () => Said {
  let turn = 0;
  return () => said[Math.min(turn++, said.length - 1)] ?? 'reset';
}

const read = (client: GithubClient) =>
  client.request<{ readonly id: number }>({ repository: APP, route: 'GET /repos/{owner}/{repo}', urgency: 'read' });

async function faultOf(asked: Promise<unknown>): Promise<Fault> {
  const error = await asked.then(
    () => assert.fail('It was answered.'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, 'FORGE_UNAVAILABLE');
  return error;
}

async function faultOrStop(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'answered',
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );
}

describe('the connection to GitHub', () => {
  it('each request has a span, with its route and without names and tokens [M22]', async () => {
    const { client } = await world({ 'GET /repos/acme/app': inTurn({ status: 502, body: {} }, { body: { id: 1 } }) });
    const spans = await recordSpans(() => read(client));
    assert.deepEqual(
      spans.map(({ name, attributes }) => `${name} ${attributes['http.response.status_code']}`).slice(-2),
      ['GitHub GET /repos/{owner}/{repo} 502', 'GitHub GET /repos/{owner}/{repo} 200'],
    );
    assert.ok(spans.every(({ kind, parentId }) => kind === 'client' && parentId !== undefined));
    assert.doesNotMatch(JSON.stringify(spans), /acme|ghs_/);
  });

  it('GraphQL is beside REST on Enterprise hosts', () => {
    const auth = { kind: 'token', token: 'x' } as const;
    assert.equal(githubConnection({ host: 'GitHub.com', auth }).apiUrl, 'https://api.github.com');
    assert.equal(graphqlUrlOf('https://api.github.com'), 'https://api.github.com/graphql');
    const enterprise = githubConnection({ host: 'git.acme.test', auth });
    assert.equal(enterprise.apiUrl, 'https://git.acme.test/api/v3');
    assert.equal(enterprise.webUrl, 'https://git.acme.test');
    assert.equal(graphqlUrlOf(enterprise.apiUrl), 'https://git.acme.test/api/graphql');
    for (const apiUrl of ['ftp://x', 'api.github.com', 'https://user:pass@x']) {
      assert.throws(() => githubConnection({ host: 'x', apiUrl, auth }), { code: 'MISCONFIGURED' });
    }
  });

  it('an installation is found once, and its token is used until shortly before it ends [G16]', async () => {
    const { github, client } = await world({ 'GET /repos/acme/app': { body: { id: 1 } } });
    await Promise.all([read(client), read(client), read(client)]);
    await read(client);
    assert.deepEqual(github.routes().toSorted(), [
      'GET /repos/acme/app',
      'GET /repos/acme/app',
      'GET /repos/acme/app',
      'GET /repos/acme/app',
      'GET /repos/acme/app/installation',
      'POST /app/installations/5/access_tokens',
    ]);
    assert.equal(github.asked.at(-1)?.headers.authorization, `token ${TOKEN}`);
    client.forget('ACME');
    await read(client);
    assert.equal(github.routes().filter((route) => route.endsWith('/installation')).length, 2);
  });

  it('a token that ends soon is not handed out', async () => {
    const tokens = inTurn(
      { status: 201, body: aToken('ghs_short', 60_000) },
      { status: 201, body: aToken('ghs_long') },
    );
    const { client } = await world({ 'POST /app/installations/5/access_tokens': tokens });
    assert.equal(await client.installationToken(APP), 'ghs_long');
    assert.equal(await client.installationToken(APP), 'ghs_long');
  });

  it('a token that is refused is replaced once, also for an act [G99]', async () => {
    const { github, client } = await world({
      'POST /app/installations/5/access_tokens': inTurn(
        { status: 201, body: aToken('ghs_old') },
        { status: 201, body: aToken('ghs_new') },
      ),
      'PUT /repos/acme/app/pulls/1/merge': ({ headers }) =>
        headers.authorization === 'token ghs_new'
          ? { body: { merged: true } }
          : { status: 401, body: { message: 'Bad credentials' } },
    });
    const { status } = await client.request({
      repository: APP,
      route: 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
      parameters: { pull_number: 1 },
      urgency: 'land',
    });
    assert.equal(status, 200);
    assert.equal(github.routes().filter((route) => route.startsWith('PUT')).length, 2);
  });

  it('a key that was rotated is read again; one that stays refused is said to be [G99] [G100]', async () => {
    const isKnown = (asked: Asked) => asked.headers.authorization !== first;
    let first: string | undefined;
    const answers: Answers = {
      'GET /repos/acme/app/installation': (asked) => {
        first ??= asked.headers.authorization;
        if (isKnown(asked)) return INSTALLED['GET /repos/acme/app/installation'] as Said;
        return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
      },
      'GET /repos/acme/app': { body: { id: 1 } },
    };
    let webhookSecret = 'before';
    const { client } = await world(answers, {
      reload: async () => {
        webhookSecret = 'after';
        return { kind: 'app', appId: '1', privateKey: OTHER_KEY, webhookSecret };
      },
    });
    assert.equal((await read(client)).data.id, 1);
    assert.equal(client.webhookSecret(), 'after');

    first = undefined;
    for (const status of [401, 404]) {
      const refused = await world({
        'GET /repos/acme/app/installation': { status, body: { message: 'Integration not found' } },
      });
      assert.match(
        (await faultOf(read(refused.client))).detail,
        /^GitHub refuses the GitHub App's id and private key: Integration not found\. Was the key rotated/,
      );
    }
  });

  it('a token of a person works the same, without installations', async () => {
    const auth = { kind: 'token', token: 'github_pat_0123456789abcdefghij' } as const;
    const { github, client } = await world(
      { 'GET /user': { body: { login: 'ada' } }, 'GET /repos/acme/app': { body: { id: 1 } } },
      { auth },
    );
    assert.equal((await read(client)).data.id, 1);
    assert.deepEqual(await client.installation(APP), { id: 0, isApp: false, login: 'ada', permissions: {} });
    assert.deepEqual(github.routes(), ['GET /user', 'GET /repos/acme/app']);
    const revoked = await world({ 'GET /user': { status: 401, body: { message: 'Bad credentials' } } }, { auth });
    assert.match((await faultOf(read(revoked.client))).detail, /^GitHub refuses the token: Bad credentials/);
  });

  it('two hosts whose installations have one number do not get each other’s tokens [G18]', async () => {
    const answers = (token: string): Answers => ({
      'POST /app/installations/5/access_tokens': { status: 201, body: aToken(token) },
    });
    const worlds = [await world(answers('ghs_of_one')), await world(answers('ghs_of_two'))];
    const tokens = await Promise.all(worlds.map(({ client }) => client.installationToken(APP)));
    assert.deepEqual(tokens, ['ghs_of_one', 'ghs_of_two']);
  });

  it('a missing permission is said in a sentence that tells what to do [G100]', async () => {
    const gone = await world({ 'GET /repos/acme/app/installation': { status: 404, body: { message: 'Not Found' } } });
    assert.match((await faultOf(read(gone.client))).detail, /^The GitHub App is not installed on acme\/app/);

    const suspended = { id: 5, app_slug: 'sluice-app', suspended_at: '2026-01-01T00:00:00Z' };
    const asleep = await world({ 'GET /repos/acme/app/installation': { body: suspended } });
    assert.match((await faultOf(read(asleep.client))).detail, /on acme\/app is suspended/);

    const later = await world({
      'POST /app/installations/5/access_tokens': {
        status: 403,
        body: { message: 'This installation has been suspended' },
      },
    });
    assert.match((await faultOf(read(later.client))).detail, /on acme\/app is suspended/);

    const forbidden = await world({
      'GET /repos/acme/app': {
        status: 403,
        headers: { 'x-accepted-github-permissions': 'administration=read' },
        body: { message: 'Resource not accessible by integration' },
      },
    });
    assert.match(
      (await faultOf(read(forbidden.client))).detail,
      /may not do this on acme\/app: .* It needs administration: read\./,
    );
  });

  it('a refusal is not remembered: the next question looks again', async () => {
    const { client } = await world({
      'GET /repos/acme/app/installation': inTurn(
        { status: 404, body: {} },
        INSTALLED['GET /repos/acme/app/installation'] as Said,
      ),
      'GET /repos/acme/app': { body: { id: 1 } },
    });
    await faultOf(read(client));
    assert.equal((await read(client)).data.id, 1);
  });
});

describe('answers that get lost', () => {
  it('a question is asked again, an act never [G17]', async () => {
    for (const lost of [{ status: 502, body: 'Bad gateway' }, 'reset', 'half'] as const) {
      const { github, client } = await world({
        'GET /repos/acme/app': inTurn(lost, lost, { body: { id: 1 } }),
        'POST /repos/acme/app/issues/1/comments': lost,
      });
      assert.equal((await read(client)).data.id, 1);
      const act = client.request({
        repository: APP,
        route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
        parameters: { issue_number: 1, body: 'hello' },
        urgency: 'page',
      });
      await faultOf(act);
      assert.equal(github.routes().filter((route) => route.startsWith('POST /repos')).length, 1);
    }
  });

  it('a question that stays without an answer ends with a sentence', async () => {
    const { github, client } = await world({ 'GET /repos/acme/app': 'silence' }, { timeoutMs: 50 });
    assert.match((await faultOf(read(client))).detail, /^github\.com did not answer: /);
    assert.equal(github.routes().filter((route) => route === 'GET /repos/acme/app').length, 3);
  });

  it('a request under way ends when the server stops', async () => {
    const { github, client } = await world({ 'GET /repos/acme/app': 'silence' });
    const asked = faultOrStop(read(client));
    while (!github.routes().includes('GET /repos/acme/app')) await new Promise(setImmediate);
    client.close();
    assert.ok(['FORGE_UNAVAILABLE', 'SHUTTING_DOWN'].includes(await asked));
  });

  it('a caller that asks for every status gets every status', async () => {
    const { client } = await world({
      'PUT /repos/acme/app/pulls/1/merge': { status: 500, body: { message: 'Oh no' } },
    });
    const { status, data } = await client.request<{ message: string }>({
      repository: APP,
      route: 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
      parameters: { pull_number: 1 },
      urgency: 'land',
      accept: 'any',
    });
    assert.equal(status, 500);
    assert.equal(data.message, 'Oh no');
  });

  it('a call that was refused for a limit is asked again, an act too: it was not carried out [G103]', async () => {
    const { github, client } = await world({
      'POST /repos/acme/app/issues/1/comments': inTurn(
        {
          status: 403,
          headers: { 'retry-after': '0' },
          body: { message: 'You have exceeded a secondary rate limit.' },
        },
        { status: 201, body: { id: 9 } },
      ),
    });
    const { data } = await client.request<{ id: number }>({
      repository: APP,
      route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
      parameters: { issue_number: 1, body: 'hello' },
      urgency: 'page',
    });
    assert.equal(data.id, 9);
    assert.equal(github.routes().filter((route) => route.startsWith('POST /repos')).length, 2);
  });
});

describe('GraphQL', () => {
  const query = 'query { repository { id } }';
  const ask = (client: GithubClient, mayBeForbidden: readonly string[] = []) =>
    client.graphql<{ readonly repository: unknown }>({ repository: APP, query, urgency: 'read', mayBeForbidden });
  const errors = (type: string | undefined, message: string) => [
    { ...(type && { type }), path: ['repository', 'x'], message },
  ];

  it('a missing object is null; an unanswered one is asked again, and then a fault', async () => {
    const notFound = await world({
      'POST /graphql': { body: { data: { repository: { x: null } }, errors: errors('NOT_FOUND', 'No') } },
    });
    assert.deepEqual((await ask(notFound.client)).data, { repository: { x: null } });

    const wrong = {
      body: { data: null, errors: errors(undefined, 'Something went wrong while executing your query.') },
    };
    const passing = await world({ 'POST /graphql': inTurn(wrong, { body: { data: { repository: {} } } }) });
    assert.deepEqual((await ask(passing.client)).data, { repository: {} });
    const lasting = await world({ 'POST /graphql': wrong });
    assert.match((await faultOf(ask(lasting.client))).detail, /Something went wrong/);
  });

  it('a forbidden field is a fault that names it, unless the caller can do without', async () => {
    const { client } = await world({
      'POST /graphql': {
        body: {
          data: { repository: { x: null } },
          errors: errors('FORBIDDEN', 'Resource not accessible by integration'),
        },
      },
    });
    assert.match((await faultOf(ask(client))).detail, /may not do this on acme\/app: .* It needs leave to read x\./);
    assert.equal((await ask(client, ['x'])).problems[0]?.type, 'FORBIDDEN');
  });

  it('a repository that is gone is said to be', async () => {
    const { client } = await world({
      'POST /graphql': { body: { data: { repository: null }, errors: errors('NOT_FOUND', 'No') } },
    });
    assert.match((await faultOf(ask(client))).detail, /not installed on acme\/app, or there is no such repository/);
  });

  it('an answer that is none is a fault', async () => {
    for (const body of ['<html>', {}, [], { data: null }]) {
      const { client } = await world({ 'POST /graphql': { body } });
      await faultOf(ask(client));
    }
  });
});

it('no error and no line of the log holds a token or a key [G18]', async () => {
  const leak = `Authorization: token ${TOKEN} ${KEY} eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJl`;
  const routes: readonly Answers[] = [
    { 'GET /repos/acme/app': { status: 403, body: { message: leak } } },
    { 'GET /repos/acme/app': { status: 500, body: leak } },
    { 'GET /repos/acme/app': { status: 401, body: { message: leak } } },
    { 'GET /repos/acme/app': 'reset' },
    { 'GET /repos/acme/app': 'half' },
    { 'GET /repos/acme/app/installation': { status: 401, body: { message: leak } } },
    { 'POST /app/installations/5/access_tokens': { status: 422, body: { message: leak } } },
    { 'POST /app/installations/5/access_tokens': { status: 201, body: leak } },
    { 'POST /graphql': { body: { errors: [{ message: leak }] } } },
  ];
  for (const answers of routes) {
    const { client, logged } = await world(answers);
    const faults = [
      await read(client).then(
        () => undefined,
        (error: unknown) => error,
      ),
      await client.graphql({ repository: APP, query: '{ x }', urgency: 'read' }).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ];
    const log = createJsonLog('debug', (line) => (logged as string[]).push(line));
    for (const err of faults) log.error({ err }, 'It failed.');
    const words = `${logged.join('')}${JSON.stringify(faults)}${faults.map((fault) => (fault instanceof Error ? `${fault.stack}${fault.message}` : '')).join('')}`;
    for (const secret of [TOKEN, KEY.slice(40, 80), 'c2lnbmF0dXJl', 'PRIVATE KEY'])
      assert.ok(!words.includes(secret), words);
  }
  const broken = await world(
    {},
    { auth: { kind: 'app', appId: '1', privateKey: '-----BEGIN RSA PRIVATE KEY-----\nsecretsecret' } },
  );
  const fault = await faultOf(read(broken.client));
  assert.ok(!`${fault.stack}${fault.detail}`.includes('secretsecret'));
  assert.match(fault.detail, /the private key cannot be read/);
});
