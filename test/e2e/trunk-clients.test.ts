// The requests of existing clients of the reference product, header by header, and their needs of the answers: its
// Terraform provider, its uploaders of impacted targets, and scripts, bots and dashboards around the queue.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { before, describe, test } from 'node:test';
import { aFailure, aTest, NOON } from '../helpers/store-rows.ts';
import { createInProcess } from '../worlds/server/in-process.ts';
import { type TestQueue, useServer } from './test-queue.ts';

type Json = Record<string, unknown>;

interface Sent {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly json: Json;
}

/** One POST with exactly these headers, blank ones too; fetch would add its own and refuse some. */
async function send(url: string, headers: Readonly<Record<string, string>>, body: unknown): Promise<Sent> {
  const bytes = Buffer.from(JSON.stringify(body));
  const outgoing = request(url, { method: 'POST', headers: { ...headers, 'content-length': bytes.length } });
  if (headers['expect'] === undefined) outgoing.end(bytes);
  else outgoing.once('continue', () => outgoing.end(bytes)).flushHeaders();
  const [response] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  outgoing.destroy();
  const type = String(response.headers['content-type']);
  return { status: response.statusCode, type, text, json: JSON.parse(text) as Json };
}

/** The fields that a strictly typed client reads of each row of a queue. */
const ROW = {
  id: 'string',
  state: 'string',
  stateChangedAt: 'string',
  priorityValue: 'number',
  priorityName: 'string',
  usedDefaultPriorityName: 'string',
  skipTheLine: 'boolean',
  noBatch: 'boolean',
  prTitle: 'string',
  prNumber: 'number',
  prSha: 'string',
  prBaseBranch: 'string',
  prAuthor: 'string',
} as const;

const READINESS = {
  hasImpactedTargets: 'boolean',
  requiresImpactedTargets: 'boolean',
  doesBaseBranchMatch: 'boolean',
  gitHubMergeability: 'string',
} as const;

/** The attributes of the Terraform resource by their names on the wire, each with two possible values. */
const ATTRIBUTES: Readonly<Record<string, readonly [unknown, unknown]>> = {
  mode: ['parallel', 'single'],
  concurrency: [9, 4],
  state: ['paused', 'draining'],
  testingTimeoutMinutes: [45, 1],
  pendingFailureDepth: [2, 0],
  canOptimisticallyMerge: [true, false],
  batch: [true, false],
  batchingMaxWaitTimeMinutes: [7, 1],
  batchingMinSize: [3, 1],
  mergeMethod: ['merge_commit', 'rebase'],
  commentsEnabled: [false, true],
  commandsEnabled: [false, true],
  createPrsForTestingBranches: [true, false],
  statusCheckEnabled: [false, true],
  directMergeMode: ['always', 'off'],
  optimizationMode: ['bisection_skip_redundant_tests', 'off'],
  bisectionConcurrency: [3, 1],
  extensionEnabled: [false, true],
  enqueueingLabel: ['land-it', 'ship'],
  labelCommandsEnabled: [false, true],
  stateLabelsEnabled: [true, false],
  requiredStatuses: [['ci/build', 'ci/test'], []],
};

function typesOf(value: object, expected: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(Object.keys(expected).map((name) => [name, typeof (value as Json)[name]]));
}

function pick(value: Json, names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, value[name]]));
}

describe('clients of the reference product on /trunk/v1', () => {
  const world = useServer();
  const { aQueue } = world;
  const urlOf = (operation: string) => `${world.server.url}/trunk/v1/${operation}`;

  describe('the Terraform provider', () => {
    const call = (operation: string, body: unknown) =>
      send(
        urlOf(operation),
        {
          'user-agent': 'Go-http-client/1.1',
          'content-type': 'application/json',
          'x-api-token': world.server.token,
          'x-source': 'terraform',
          'accept-encoding': 'gzip',
        },
        body,
      );
    /** The client decodes only 2xx answers, and retries on 5xx. */
    const read = async (operation: string, body: unknown) => {
      const { status, text, json } = await call(operation, body);
      assert.equal(status, 200, text);
      return json;
    };
    const attributesOf = (queue: Json) => pick(queue, Object.keys(ATTRIBUTES));
    /** A registered repository without a queue, as before `terraform apply`. */
    const aTarget = async () => {
      const { ref, git } = await aQueue();
      await world.server.api.ok('deleteQueue', ref);
      return { ref, git };
    };

    test('creates a queue in two calls, and reads it as the second one answered it', async () => {
      const { ref } = await aTarget();
      await read('createQueue', ref);
      const updated = await read('updateQueue', { ...ref, deleteRequiredStatuses: true });
      const types = Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, [value]]) => [name, typeof value]));
      assert.deepEqual(typesOf(updated, types), types);
      assert.equal(updated['requiredStatuses'], null, 'an empty list would be a difference to the plan');
      for (const [name, type] of Object.entries(types)) {
        if (type === 'number') assert.ok(Number.isInteger(updated[name]), `${name} is decoded into an int`);
      }
      assert.deepEqual(attributesOf(await read('getQueue', ref)), attributesOf(updated));
    });

    test('creates one with mode and concurrency, and sends both again', async () => {
      const { ref } = await aTarget();
      await read('createQueue', { ...ref, mode: 'parallel', concurrency: 7 });
      const chosen = { mode: 'parallel', concurrency: 7 };
      const updated = await read('updateQueue', { ...ref, ...chosen, deleteRequiredStatuses: true });
      assert.deepEqual(pick(updated, ['mode', 'concurrency', 'state']), { ...chosen, state: 'running' });
    });

    for (const turn of [0, 1] as const) {
      test(`reads every attribute back as it was applied (values ${turn + 1} of 2)`, async () => {
        const { ref } = await aQueue();
        const plan = Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, values]) => [name, values[turn]]));
        assert.deepEqual(attributesOf(await read('updateQueue', { ...ref, ...plan })), plan);
        assert.deepEqual(attributesOf(await read('getQueue', ref)), plan);
      });
    }

    test('finds nothing changed but the one attribute it applied, or calls the result inconsistent [H27]', async () => {
      const { ref } = await aQueue();
      let expected = attributesOf(await read('getQueue', ref));
      for (const [name, [value]] of Object.entries(ATTRIBUTES)) {
        expected = { ...expected, [name]: value };
        const statuses = expected['requiredStatuses'];
        const override = statuses === null ? { deleteRequiredStatuses: true } : { requiredStatuses: statuses };
        const updated = await read('updateQueue', { ...ref, ...override, [name]: value });
        assert.deepEqual(attributesOf(updated), expected, name);
      }
    });

    test('goes back to the default required statuses: null', async () => {
      const { ref } = await aQueue({ requiredStatuses: ['ci/build'] });
      const updated = await read('updateQueue', { ...ref, deleteRequiredStatuses: true });
      assert.equal(updated['requiredStatuses'], null);
    });

    test('sees settings that others changed, in its own spelling', async () => {
      const { ref } = await aQueue();
      await world.server.api.ok('updateQueue', {
        ...ref,
        mergeMethod: 'MERGE_COMMIT',
        state: 'DRAINING',
        concurrency: 2,
      });
      const drifted = { mergeMethod: 'merge_commit', state: 'draining', concurrency: 2 };
      assert.deepEqual(pick(await read('getQueue', ref), Object.keys(drifted)), drifted);
    });

    test('may write enums in either case [H8]', async () => {
      const { ref } = await aQueue();
      for (const state of ['paused', 'PAUSED'])
        assert.equal((await read('updateQueue', { ...ref, state }))['state'], 'paused');
    });

    test('proposes an import where there is a queue (409), also of a branch with slashes in its name', async () => {
      const { ref, git } = await aTarget();
      await git.commit('release/1', { files: { 'b.txt': 'b\n' }, message: 'Release' });
      const release = { ...ref, targetBranch: 'release/1' };
      await read('createQueue', release);
      assert.equal((await call('createQueue', release)).status, 409);
      assert.equal((await read('getQueue', release))['branch'], 'release/1');
    });

    test('forgets a queue that is gone (404), without asking again', async () => {
      const { ref } = await aTarget();
      assert.equal((await call('getQueue', ref)).status, 404);
      const elsewhere = { ...ref, repo: { ...ref.repo, name: 'nowhere' } };
      assert.equal((await call('getQueue', elsewhere)).status, 404);
    });

    test('asks to drain a queue that is not empty (400), and deletes an empty one', async () => {
      const queue = await aQueue();
      const number = await queue.submitOne();
      assert.equal((await call('deleteQueue', queue.ref)).status, 400);
      await world.server.api.ok('cancelPullRequest', queue.entry(number));
      assert.equal((await call('deleteQueue', queue.ref)).status, 200);
      assert.equal((await call('getQueue', queue.ref)).status, 404);
    });

    test('shows the text of a refusal: it says which attribute is wrong', async () => {
      const { ref } = await aQueue();
      const { status, text } = await call('updateQueue', { ...ref, concurrency: 5000 });
      assert.equal(status, 400);
      assert.match(text, /concurrency must be a whole number from 1 to 1000/);
    });
  });

  describe('uploaders of impacted targets', () => {
    const upload = (headers: Readonly<Record<string, string>>, body: unknown) =>
      send(urlOf('setImpactedTargets'), { accept: '*/*', 'content-type': 'application/json', ...headers }, body);
    let queue: TestQueue;
    before(async () => {
      queue = await aQueue({ mode: 'PARALLEL' });
    });
    /** The GitHub action writes the number with jq's --arg: as a string. */
    const bodyFor = async (impactedTargets: unknown) => {
      const number = await queue.openPullRequest();
      const pr = { number: String(number), sha: await queue.headOf(number) };
      return { repo: queue.repo, pr, targetBranch: 'main', impactedTargets };
    };

    for (const [what, impactedTargets, expected] of [
      ['a list', ['//app:lib', '//app:server'], { impactsAll: false, count: 2 }],
      ['an empty list', [], { impactsAll: false, count: 0 }],
      ['a list with an empty name, from deps=[]', [''], { impactsAll: false, count: 1 }],
      ['ALL', 'ALL', { impactsAll: true, count: null }],
      ['the older IMPACTS_ALL', 'IMPACTS_ALL', { impactsAll: true, count: null }],
    ] as const) {
      test(`the action takes exactly 200 for success: ${what}, with a blank run id [H23]`, async () => {
        const body = await bodyFor(impactedTargets);
        const answer = await upload({ 'x-api-token': world.server.token, 'x-forked-workflow-run-id': '' }, body);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(pick(answer.json['impactedTargets'] as Json, ['impactsAll', 'count']), expected);
      });
    }

    test('a list of several megabytes is taken, announced with Expect: 100-continue as curl does [H24]', async () => {
      const targets = Array.from({ length: 90_000 }, (_, index) => `//some/quite/long/package/path:target-${index}`);
      const body = await bodyFor(targets);
      const headers = { 'x-api-token': world.server.token, 'x-forked-workflow-run-id': '', expect: '100-continue' };
      const answer = await upload(headers, body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal((answer.json['impactedTargets'] as Json)['count'], 90_000);
    });

    test('a token counts where a run id comes along', async () => {
      const body = await bodyFor(['//a']);
      const answer = await upload({ 'x-api-token': world.server.token, 'x-forked-workflow-run-id': '123456' }, body);
      assert.equal(answer.status, 200, answer.text);
    });

    for (const [what, headers] of [
      ['a wrong token', { 'x-api-token': 'wrong', 'x-forked-workflow-run-id': '' }],
      ['a blank token', { 'x-api-token': '', 'x-forked-workflow-run-id': '' }],
      ['a blank token and a run nobody can vouch for', { 'x-api-token': '', 'x-forked-workflow-run-id': '123456' }],
    ] as const) {
      test(`${what} is 401, which the action explains to bots`, async () => {
        assert.equal((await upload(headers, await bodyFor('ALL'))).status, 401);
      });
    }

    test('a token for targets alone is enough; the same token may not submit (403)', async () => {
      const made = await world.server.api.ok<{ token: string }>('createApiToken', { name: 'ci', scopes: ['targets'] });
      const body = await bodyFor(['//a']);
      assert.equal((await upload({ 'x-api-token': made.token }, body)).status, 200);
      const headers = { 'content-type': 'application/json', 'x-api-token': made.token };
      const { repo, pr, targetBranch } = body;
      assert.equal((await send(urlOf('submitPullRequest'), headers, { repo, pr, targetBranch })).status, 403);
    });

    test('a branch without a queue is 404', async () => {
      const body = { ...(await bodyFor(['//a'])), targetBranch: 'other' };
      assert.equal((await upload({ 'x-api-token': world.server.token }, body)).status, 404);
    });
  });

  describe('scripts, bots and dashboards around the queue', () => {
    const call = (operation: string, body: unknown) =>
      send(urlOf(operation), { 'content-type': 'application/json', 'x-api-token': world.server.token }, body);
    const read = async (operation: string, body: unknown) => {
      const { status, type, text, json } = await call(operation, body);
      assert.equal(status, 200, text);
      assert.match(type, /^application\/json\b/);
      return json;
    };

    for (const [what, more] of [
      ['nothing but the pull request', {}],
      ['a name', { priority: 'medium' }],
      ['a number', { priority: 10, noBatch: false }],
      ['null', { priority: null }],
    ] as const) {
      test(`submit with a priority of ${what}: JSON, and once more is no error`, async () => {
        const queue = await aQueue();
        const body = queue.entry(await queue.openPullRequest(), more);
        assert.equal((await read('submitPullRequest', body))['state'], 'testing');
        assert.equal((await read('submitPullRequest', body))['state'], 'testing');
      });
    }

    test('cancel answers JSON, is no error the second time, and is 404 for an unsubmitted pull request', async () => {
      const queue = await aQueue();
      const number = await queue.submitOne();
      assert.equal((await read('cancelPullRequest', queue.entry(number)))['state'], 'cancelled');
      assert.equal((await read('cancelPullRequest', queue.entry(number)))['state'], 'cancelled');
      const other = await queue.openPullRequest();
      assert.equal((await call('cancelPullRequest', queue.entry(other))).status, 404);
    });

    test('a pull request that was never submitted reads as 404, as do a test run and a queue that are not there', async () => {
      const queue = await aQueue();
      const number = await queue.openPullRequest();
      assert.equal((await call('getSubmittedPullRequest', queue.entry(number))).status, 404);
      assert.equal((await call('getMergeQueueTestingDetails', { ...queue.ref, testRunId: 'run-id' })).status, 404);
      assert.equal((await call('getQueue', { ...queue.ref, targetBranch: 'other' })).status, 404);
    });

    test('every field that typed clients require of an entry has its type', async () => {
      const queue = await aQueue();
      const number = await queue.submitOne();
      const entry = await read('getSubmittedPullRequest', queue.entry(number));
      assert.deepEqual(typesOf(entry, ROW), ROW);
      assert.deepEqual(typesOf(entry['readiness'] as object, READINESS), READINESS);
      const flags = { forceEnqueued: false, isCurrentlySubmittedToQueue: true, verifiedByTestRun: null };
      assert.deepEqual(pick(entry, Object.keys(flags)), flags);
      assert.match(String(entry['stateChangedAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    test('every field that typed clients require of a queue has its type, the newer settings too', async () => {
      const queue = await aQueue({ requiredStatuses: ['ci'] });
      await queue.submit(await queue.openPullRequest());
      const found = await read('getQueue', queue.ref);
      const types = Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, [value]]) => [name, typeof value]));
      const newer = { branch: 'string', testBranchConstructionMode: 'string', notReadyTimeoutHours: 'number' };
      assert.deepEqual(typesOf(found, { ...types, ...newer }), { ...types, ...newer });
      for (const name of ['requiredStatuses', 'allowedBotSubmitters', 'batchingRules', 'enqueuedPullRequests']) {
        assert.ok(Array.isArray(found[name]), name);
      }
      const [row] = found['enqueuedPullRequests'] as Json[];
      assert.deepEqual(typesOf(row as Json, ROW), ROW);
    });

    test('a sync of all pull requests reads pages by cursor, none after the last, and since in whole seconds', async () => {
      const queue = await aQueue();
      for (let count = 0; count < 3; count += 1) await queue.submit(await queue.openPullRequest());
      const numbers: unknown[] = [];
      let cursor: unknown;
      for (let pages = 0; pages < 5; pages += 1) {
        const page = await read('listPullRequests', { ...queue.ref, take: 2, ...(cursor ? { cursor } : {}) });
        numbers.push(...(page['pullRequests'] as Json[]).map((row) => row['prNumber']));
        cursor = page['nextCursor'];
        if (cursor === undefined) break;
      }
      assert.deepEqual(numbers.sort(), [1, 2, 3]);
      const since = `${new Date(Date.now() - 60_000).toISOString().slice(0, 19)}Z`;
      await read('cancelPullRequest', queue.entry(2));
      const left = await read('listPullRequests', { ...queue.ref, since, take: 100 });
      assert.deepEqual(
        (left['pullRequests'] as Json[]).map((row) => [row['prNumber'], row['state']]),
        [[2, 'cancelled']],
      );
    });

    test('credentials are probed with one quarantined test: 200, or 401', async () => {
      const { repo } = await aQueue();
      const body = { repo, org_url_slug: 'default', page_query: { page_size: 1, page_token: '' } };
      const page = await read('flaky-tests/list-quarantined-tests', body);
      assert.deepEqual(page['quarantined_tests'], []);
      const headers = { 'content-type': 'application/json', 'x-api-token': 'wrong' };
      assert.equal((await send(urlOf('flaky-tests/list-quarantined-tests'), headers, body)).status, 401);
    });
  });
});

describe('readers of flaky tests on /trunk/v1', () => {
  test('walk a list until the next token is empty, and match JUnit cases against rows', async (context) => {
    const world = await createInProcess();
    context.after(() => world.close());
    const quarantine = { quarantineOverride: 'ALWAYS_QUARANTINE', quarantinedAt: NOON } as const;
    const tests = Array.from({ length: 5 }, () => aTest(world.repository.id, quarantine));
    await world.apply(tests);
    const found: Json[] = [];
    let token = '';
    do {
      const body = { ...world.scope, page_query: { page_size: 2, page_token: token } };
      const answer = await world.ok<{ quarantined_tests: Json[]; page: Json }>(
        '/trunk/v1/flaky-tests/list-quarantined-tests',
        body,
      );
      found.push(...answer.quarantined_tests);
      const counts = { total_rows: 'number', total_pages: 'number', page_index: 'number' };
      assert.deepEqual(typesOf(answer.page, counts), counts);
      token = String(answer.page['next_page_token']);
    } while (token !== '' && found.length < 10);
    assert.deepEqual(found.map((row) => row['test_case_id']).sort(), tests.map((each) => each.id).sort());
    const fixed = { name: 'adds numbers', classname: 'MathTest', parent: 'math', file: 'math.test.ts' };
    assert.deepEqual(pick(found[0] as Json, Object.keys(fixed)), fixed);
    assert.equal(found[0]?.['quarantine_setting'], 'ALWAYS_QUARANTINE');
  });

  test('decide over tickets by a lower-case status, instants of RFC 3339 and a rate from 0 to 1; 404 is a test unknown', async (context) => {
    const world = await createInProcess();
    context.after(() => world.close());
    const flaky = aTest(world.repository.id, { status: 'FLAKY' });
    await world.apply([flaky], [aFailure(flaky.id)]);
    const url = '/trunk/v1/flaky-tests/get-test-details';
    const { test: read } = await world.ok<{ test: Json }>(url, { ...world.scope, test_id: flaky.id });
    const instant = new Date(NOON).toISOString();
    assert.deepEqual(pick(read['status'] as Json, ['value', 'timestamp']), { value: 'flaky', timestamp: instant });
    assert.deepEqual(read['most_common_failures'], [
      { summary: 'expected 2', occurrence_count: 1, last_occurrence: instant },
    ]);
    assert.deepEqual(pick(read, ['failure_rate_last_7d', 'quarantined']), {
      failure_rate_last_7d: 1,
      quarantined: false,
    });
    const gone = { ...world.scope, test_id: '00000000-0000-4000-8000-000000000000' };
    await world.refused('404 TEST_NOT_FOUND', url, gone);
  });

  test('name FLAKY and BROKEN in upper case and read them in lower case', async (context) => {
    const world = await createInProcess();
    context.after(() => world.close());
    for (const status of ['FLAKY', 'BROKEN'] as const) await world.apply([aTest(world.repository.id, { status })]);
    for (const status of ['FLAKY', 'BROKEN']) {
      const body = { ...world.scope, status, page_query: { page_size: 100, page_token: '' } };
      const { tests } = await world.ok<{ tests: { status: Json }[] }>(
        '/trunk/v1/flaky-tests/list-unhealthy-tests',
        body,
      );
      assert.deepEqual(
        tests.map((each) => each.status['value']),
        [status.toLowerCase()],
      );
    }
  });

  test('ask for failures week by week, in whole seconds: exactly seven days are allowed', async (context) => {
    const world = await createInProcess();
    context.after(() => world.close());
    const body = {
      ...world.scope,
      start_time: '2023-11-08T00:00:00Z',
      end_time: '2023-11-15T00:00:00Z',
      page_query: { page_size: 100, page_token: '' },
    };
    const failing = aTest(world.repository.id);
    await world.apply([failing], [aFailure(failing.id)]);
    const { tests } = await world.ok<{ tests: Json[] }>('/trunk/v1/flaky-tests/list-failing-tests', body);
    assert.deepEqual(
      tests.map((each) => each['id']),
      [failing.id],
    );
  });
});
