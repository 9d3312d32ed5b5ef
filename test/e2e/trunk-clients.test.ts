// The requests of existing clients of the reference product, header by header, and their needs of the answers: its
// Terraform provider, its uploaders of impacted targets, and scripts, bots and dashboards around the queue.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { madeOnce } from '../helpers/made.ts';
import { useServer } from './test-queue.ts';

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
    const queue = madeOnce(() => aQueue({ mode: 'PARALLEL' }));
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

    for (const [what, headers] of [
      ['a wrong token', { 'x-api-token': 'wrong', 'x-forked-workflow-run-id': '' }],
      ['a blank token', { 'x-api-token': '', 'x-forked-workflow-run-id': '' }],
      ['a blank token and a run nobody can vouch for', { 'x-api-token': '', 'x-forked-workflow-run-id': '123456' }],
    ] as const) {
      test(`${what} is 401, which the action explains to bots`, async () => {
        assert.equal((await upload(headers, await bodyFor('ALL'))).status, 401);
      });
    }
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

    test('a stacked pull request that left the line is one that is not ready, and in no list of those queued [H25]', async () => {
      const queue = await aQueue();
      const lower = await queue.submitOne();
      const upper = await queue.openPullRequest();
      const message = `Change\n\nDepends-On: #${lower}`;
      await queue.git.commitTo(`refs/pull/${upper}/head`, await queue.headOf(lower), { files: { b: 'b' }, message });
      await read('submitPullRequest', queue.entry(upper));
      await read('cancelPullRequest', queue.entry(lower));
      const entry = await read('getSubmittedPullRequest', queue.entry(upper));
      assert.deepEqual(typesOf(entry, ROW), ROW);
      assert.deepEqual(pick(entry, ['state', 'isCurrentlySubmittedToQueue']), {
        state: 'not_ready',
        isCurrentlySubmittedToQueue: true,
      });
      assert.deepEqual((await read('getQueue', queue.ref))['enqueuedPullRequests'], []);
      const { events } = await queue.api.ok<{ events: Json[] }>('listEvents', { repo: queue.repo });
      const told = events.filter(({ prNumber }) => prNumber === upper);
      assert.deepEqual(
        told.map(({ type, data }) => [type, (data as Json)['reason']]),
        [
          ['pull_request.queued', 'PREREQUISITE_MERGE_ITEM_CANCELLED'],
          ['pull_request.testing', 'TEST_RUN_STARTED'],
          ['pull_request.queued', 'MERGE_ITEM_NOW_READY'],
          ['pull_request.submitted', 'API_REQUESTED'],
        ],
        'receivers know these reasons, and STACKED_PR_BELOW_LEFT is none of them',
      );
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
  });
});
