import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../src/http/routes.ts';
import { pluck } from '../helpers/pluck.ts';
import { createClient, makeFolder, startHere, type TestServer, until } from './harness.ts';
import { caseOf, FAILURE, reportOf, upload } from './quarantine-world.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

/** Everything that a stranger must not learn has this word in it. */
const SECRET = 'canary';

interface Read {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

describe('a public repository', () => {
  let server: TestServer;
  let shown: TestQueue;
  let hidden: TestQueue;
  let numbers: Readonly<Record<'landed' | 'failed' | 'left' | 'testing' | 'waiting', number>>;
  let failedRun = '';

  /** A team uses two repositories, and tells secrets wherever a text can be told. Then one becomes public. */
  before(async () => {
    const SLUICE_DATA = await makeFolder();
    const first = await startHere({ SLUICE_DATA });
    const SLUICE_PORT = String(first.port);
    const { token } = await first.api.ok<{ token: string }>('createApiToken', {
      name: `${SECRET}-bot`,
      scopes: ['admin'],
    });
    const api = createClient({ url: `${first.url}/v1`, token });
    const honorQuarantine = 'ON';
    shown = await createQueue(first.api, { honorQuarantine, concurrency: 2, requiredStatuses: ['test'] });
    hidden = await createQueue(first.api);
    const mine: TestQueue = { ...shown, api };
    const as = (operation: string, number: number, more: object = {}) => api.ok(operation, shown.entry(number, more));
    const open = async () => {
      const number = await mine.openPullRequest();
      await as('submitPullRequest', number);
      return number;
    };
    const landed = await open();
    await shown.ci.report(await shown.ci.runOf(landed), 'SUCCESS', { summary: `${SECRET} summary` });
    await shown.untilEntry(landed, ({ state }) => state === 'MERGED');
    const failed = await open();
    const run = await shown.ci.runOf(failed);
    failedRun = run.testRunId;
    const job = { sha: run.testBranchSha, branch: run.testBranch, test_run_id: run.testRunId, check: 'test' };
    await upload(first.api, shown, job, reportOf(caseOf(`${SECRET} test`, FAILURE)));
    await shown.ci.report(run, 'FAILURE', { summary: `${SECRET} summary` });
    await shown.untilEntry(failed, ({ state }) => state === 'FAILED');
    const left = await open();
    await as('cancelPullRequest', left);
    const testing = await open();
    const current = await shown.ci.runOf(testing);
    await api.ok('reportCheck', {
      repo: shown.repo,
      testRunId: current.testRunId,
      name: 'test',
      status: 'IN_PROGRESS',
      summary: `${SECRET} progress`,
      url: `https://ci.test/${SECRET}`,
    });
    await shown.git.git(['branch', 'old', 'main']);
    await api.ok('createQueue', { repo: shown.repo, targetBranch: 'old' });
    await api.ok('deleteQueue', { repo: shown.repo, targetBranch: 'old' });
    await api.ok('updateQueue', {
      ...shown.ref,
      state: 'PAUSED',
      reason: `${SECRET} reason`,
      requiredStatuses: ['test', `${SECRET}-check`],
    });
    const waiting = await open();
    numbers = { landed, failed, left, testing, waiting };
    await first.stop();
    const name = `default/${shown.name}`;
    server = await startHere({
      SLUICE_DATA,
      SLUICE_PORT,
      SLUICE_PUBLIC_READ: name,
      SLUICE_TRUSTED_PROXIES: '127.0.0.1',
    });
  });
  after(async () => {
    await server.stop();
    await shown.close();
    await hidden.close();
  });

  let strangers = 0;

  /** A request of a browser without a cookie, each from an address of its own. */
  async function ask(
    name: string,
    body: object,
    more: Readonly<Record<string, string>> = {},
    mount = '/web/v1',
  ): Promise<Read> {
    const { method, path } = ROUTES.find(({ operation }) => operation.name === name)?.operation ?? assert.fail(name);
    strangers += 1;
    const headers = { 'x-organization': 'default', 'x-forwarded-for': `198.51.100.${strangers % 250}`, ...more };
    const url = `${server.url}${mount}${mount === '/web/v1' ? `/${name}` : path}`;
    const sent = method === 'GET' ? {} : { body: JSON.stringify(body) };
    const type = method === 'GET' ? {} : { 'content-type': 'application/json' };
    const stop = new AbortController();
    const response = await fetch(url, { method, headers: { ...type, ...headers }, ...sent, signal: stop.signal });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const text = isStream ? '' : await response.text();
    stop.abort();
    return { status: response.status, text, headers: response.headers };
  }

  const number = (prNumber: number) => ({ ...shown.ref, pr: { number: prNumber } });
  const whole = { includeTimeline: true, includeExplanation: true, includeForecast: true };

  /** The questions of the pages. */
  const questions = (): readonly (readonly [string, object])[] => [
    ['listQueues', {}],
    ['getQueue', { ...shown.ref, includeExplanation: true, includeForecast: true }],
    ['pollQueue', { ...shown.ref, includeExplanation: true, includeForecast: true }],
    ['pollPullRequest', { ...number(numbers.landed), ...whole }],
    ...Object.values(numbers).map((each) => ['getSubmittedPullRequest', { ...number(each), ...whole }] as const),
    [
      'getSubmittedPullRequests',
      { ...shown.ref, ...whole, prs: Object.values(numbers).map((each) => ({ number: each })) },
    ],
    ['listPullRequests', { ...shown.ref, includeExplanation: true, includeForecast: true }],
    ['getMergeQueueTestingDetails', { ...shown.ref, includeDecided: true }],
    ['getMergeQueueTestingDetails', { ...shown.ref, testRunId: failedRun }],
    ['getQueueHealth', { ...shown.ref, days: 7 }],
    ['listEvents', { ...shown.ref, types: ['landing.recorded'] }],
    ['streamEvents', {}],
  ];

  it('is read by a stranger through the page alone [A41] [A43]', async () => {
    for (const [name, body] of questions()) {
      const { status, text } = await ask(name, body);
      assert.equal(status, 200, `${name} ${text}`);
      for (const mount of ['/v1', '/trunk/v1']) {
        const { isOnlyOnV1 } = ROUTES.find(({ operation }) => operation.name === name)?.operation ?? {};
        if (mount === '/v1' || isOnlyOnV1 !== true) assert.equal((await ask(name, body, {}, mount)).status, 401, name);
      }
    }
  });

  it('shows a stranger these operations, and of all others none [A43]', async () => {
    const open = new Set(questions().map(([name]) => name));
    for (const { operation } of ROUTES) {
      if (open.has(operation.name) || operation.hasFiles) continue;
      const { status, text } = await ask(operation.name, operation.example.body as object);
      assert.equal(status, 401, `${operation.name} ${text}`);
      assert.match(text, /AUTHENTICATION_REQUIRED/, operation.name);
    }
  });

  it('shows a stranger nothing of the past, of the forge, and no other event [A43]', async () => {
    const at = new Date().toISOString();
    const refused: readonly (readonly [string, object])[] = [
      ['getQueue', { ...shown.ref, at }],
      ['pollPullRequest', { ...shown.ref, pr: { branch: 'topic' } }],
      ['getSubmittedPullRequest', { ...number(numbers.landed), at }],
      ['getSubmittedPullRequest', { ...shown.ref, pr: { branch: 'topic' } }],
      ['getMergeQueueTestingDetails', { ...shown.ref, at }],
      ['listEvents', { ...shown.ref }],
      ['listEvents', { types: ['landing.recorded'] }],
      ['listEvents', { ...shown.ref, types: ['queue.*'] }],
      ['listEvents', { ...shown.ref, types: ['landing.recorded', 'token.created'] }],
      ['listEvents', { ...shown.ref, types: ['landing.recorded'], audit: true }],
    ];
    for (const [name, body] of refused) assert.equal((await ask(name, body)).status, 401, JSON.stringify(body));
  });

  it('tells a stranger no name, no reason, no text of a failure and no test [A44]', async () => {
    const seen: string[] = [];
    for (const [name, body] of questions()) {
      const { text } = await ask(name, body);
      assert.ok(!text.includes(SECRET), `${name}: ${text}`);
      seen.push(text);
    }
    // The same questions with a token would tell them.
    const told = await Promise.all(
      questions()
        .filter(([name]) => name !== 'streamEvents')
        .map(async ([name, body]) => JSON.stringify(await server.api.ok(name, body))),
    );
    for (const word of ['-bot', ' reason', ' summary', ' progress', ' test', '-check']) {
      assert.ok(
        told.some((text) => text.includes(`${SECRET}${word}`)),
        `nothing tells of ${word}`,
      );
    }
    assert.ok(
      seen.some((text) => text.includes('by an administrator')),
      'the explanation of a pause',
    );
  });

  it('answers a stranger with these fields and no other [A44]', async () => {
    for (const [name, body] of questions()) {
      const { text } = await ask(name, body);
      if (text === '') continue;
      const fields = new Set<string>();
      collectFields(JSON.parse(text), '', fields);
      assert.deepEqual([...fields.difference(new Set(FIELDS[POLLED[name] ?? name]))], [], name);
    }
  });

  it('is all that a stranger finds [A41]', async () => {
    const { queues } = JSON.parse((await ask('listQueues', {})).text) as { queues: readonly { repo: object }[] };
    assert.deepEqual(pluck(queues, 'repo'), [shown.repo]);
    const missing = { repo: { ...shown.repo, name: 'nothing' }, targetBranch: 'main' };
    const answers = await Promise.all([ask('getQueue', hidden.ref), ask('getQueue', missing)]);
    const [one = '', other = ''] = answers.map(({ text }, index) =>
      text.replaceAll(index === 0 ? hidden.repo.name : 'nothing', 'X').replace(/"requestId":"[^"]*"/, ''),
    );
    assert.equal(answers[0]?.status, 404);
    assert.equal(one, other, 'a private repository looks like none');
    const gone = await ask('getQueue', { repo: shown.repo, targetBranch: 'old' });
    assert.deepEqual([gone.status, gone.text.includes(SECRET)], [404, false]);
    assert.equal((await ask('listQueues', {}, { 'x-organization': 'nobody' })).status, 401);
    assert.equal((await ask('listQueues', {}, { 'x-organization': '' })).status, 401);
    assert.equal((await ask('listQueues', {}, { origin: 'https://evil.test' })).status, 403);
  });

  it('is listed for the page [A46]', async () => {
    const list = await fetch(`${server.url}/web/sessions`);
    assert.deepEqual(await list.json(), {
      providers: [],
      publicRepositories: [{ organization: 'default', repo: shown.repo }],
      sessions: [],
    });
  });

  it('tells a stranger of changes, and not of what happened [A43] [A45]', async () => {
    const stop = new AbortController();
    const headers = { 'x-organization': 'default', 'x-forwarded-for': '203.0.113.20' };
    const open = () => fetch(`${server.url}/web/v1/streamEvents`, { headers, signal: stop.signal });
    const response = await open();
    const reader = response.body?.getReader();
    await server.api.ok('updateQueue', { ...hidden.ref, concurrency: 3 });
    await server.api.ok('updateQueue', { ...shown.ref, state: 'RUNNING' });
    let text = '';
    await until('the stream tells of the change', 20_000, async () => {
      const piece = await reader?.read();
      text += new TextDecoder().decode(piece?.value);
      return text.includes('queue.view') || undefined;
    });
    assert.match(text, new RegExp(`"name":"${shown.repo.name}"`));
    assert.doesNotMatch(text, /queue\.resumed|queue\.settings|"actor"/);
    assert.ok(!text.includes(hidden.repo.name));
    const opened = [];
    for (let index = 0; index < 10; index += 1) opened.push(await open());
    assert.deepEqual(pluck(opened, 'status'), [...Array<number>(9).fill(200), 429]);
    assert.equal(opened.at(-1)?.headers.get('retry-after'), '60');
    stop.abort();
  });
});

const words = (text: string) => text.split(' ');
const under = (name: string, fields: readonly string[]) => fields.map((field) => `${name}.${field}`);

const REPO = under('repo', ['host', 'owner', 'name']);
const REASON = words('code text prNumber check testRunId since url reasons');
const EXPLANATION = [...words('headline summary position next commands reasons'), ...under('reasons', REASON)];
const LIST_ENTRY = [
  ...words('id state stateChangedAt priorityValue priorityName usedDefaultPriorityName skipTheLine noBatch'),
  ...words('prNumber prTitle prSha prBaseBranch prAuthor forecast.text'),
  ...under('explanation', EXPLANATION),
];
const PROOF = words(
  'kind sha tree pushedSha pushedTree testedSha testedTree testRunId base composedWith excused waived',
);
const ENTRY = [
  ...LIST_ENTRY,
  ...words('forceEnqueued isCurrentlySubmittedToQueue verifiedByTestRun version landed.at'),
  ...under('readiness', words('hasImpactedTargets requiresImpactedTargets doesBaseBranchMatch gitHubMergeability')),
  ...under('timeline', words('at state reason text testRunId prNumber checks')),
  ...under('landed', PROOF),
];
const STATE = words('branch state stateSince stateUntil');
const RUN = [
  ...words('testRunId requiredStatuses requiredStatusesSource testBranch testBranchSha createdAt status statusChecks'),
  ...words('dependentPrs onTopOf purpose reuses version'),
  ...under('checkSuites', ['checkRuns', ...under('checkRuns', words('name url status conclusion startedAt'))]),
  ...under('testedPullRequests', words('prNumber prUrl title')),
];
const FIGURES = words('landed removed cancelled runs reusedTrees ciSeconds p50Seconds p95Seconds');
const COUNTS = under('counts', words('NOT_READY PENDING TESTING TESTS_PASSED PENDING_FAILURE'));

/** The fields that a stranger may get. */
/** A poll answers as the read does. */
const POLLED: Readonly<Record<string, string>> = { pollQueue: 'getQueue', pollPullRequest: 'getSubmittedPullRequest' };

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  listQueues: ['version', ...under('queues', [...REPO, ...STATE, ...COUNTS])],
  getQueue: ['version', ...STATE, 'forecast.text', ...under('enqueuedPullRequests', LIST_ENTRY)],
  getSubmittedPullRequest: ENTRY,
  getSubmittedPullRequests: ['version', 'notFound', ...under('pullRequests', ENTRY)],
  listPullRequests: ['version', 'nextCursor', ...under('pullRequests', LIST_ENTRY)],
  getMergeQueueTestingDetails: [...RUN, ...under('testRuns', RUN), 'searches'],
  getQueueHealth: [
    ...words('bucketSeconds fewestRunsPerDecided reasons.reason reasons.count buckets.from serialises'),
    ...under('buckets', FIGURES),
    ...under('total', FIGURES),
  ],
  listEvents: under('events', [...words('id type at targetBranch prNumber'), ...REPO, ...under('data', PROOF)]),
};

/** The paths of all values, without places in lists; reasons of reasons are reasons. */
function collectFields(value: unknown, path: string, into: Set<string>): void {
  if (Array.isArray(value)) {
    if (typeof value[0] !== 'object') into.add(path);
    else for (const each of value) collectFields(each, path, into);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value))
      collectFields(
        each,
        name === 'reasons' && path.endsWith('.reasons') ? path : path === '' ? name : `${path}.${name}`,
        into,
      );
  } else into.add(path);
}
