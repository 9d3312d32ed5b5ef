import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TestQueue, useServer } from '../../../test/e2e/test-queue.ts';
import type { QueueView } from '../../app/queue/queue-view.ts';

const DEFAULTS = {
  state: 'RUNNING',
  branch: 'main',
  mode: 'SINGLE',
  concurrency: 5,
  bisectionConcurrency: 5,
  testingTimeoutMinutes: 300,
  automaticSettings: ['bisectionConcurrency', 'testingTimeoutMinutes'],
  notReadyTimeoutHours: 0,
  priorityAgeingHours: 0,
  maxEntriesPerActor: 0,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: false,
  batch: false,
  batchingMaxWaitTimeMinutes: 5,
  batchingMinSize: 4,
  batchingRules: [],
  optimizationMode: 'OFF',
  runCost: 2,
  maxGroupSize: 64,
  directMergeMode: 'OFF',
  mergeMethod: 'SQUASH',
  landingMode: 'PUSH',
  exactLanding: false,
  reusePassedTrees: true,
  honorQuarantine: 'SHADOW',
  confirmFailures: 'AUTO',
  newFlakes: 'TELL',
  refuseUnchanged: false,
  createPrsForTestingBranches: false,
  testBranchConstructionMode: 'RENAME_TEMP_BRANCH',
  requiredStatuses: null,
  failFastStatuses: [],
  probeStatuses: [],
  freezes: [],
  allowedBotSubmitters: [],
  commentsEnabled: true,
  commandsEnabled: true,
  statusCheckEnabled: true,
  extensionEnabled: true,
  labelCommandsEnabled: true,
  stateLabelsEnabled: false,
  enqueueingLabel: 'trunk-merge-queue-submit',
};

const OTHERS = {
  state: 'PAUSED',
  mode: 'PARALLEL',
  concurrency: 1000,
  bisectionConcurrency: 0,
  testingTimeoutMinutes: 0,
  notReadyTimeoutHours: 720,
  priorityAgeingHours: 24,
  maxEntriesPerActor: 3,
  pendingFailureDepth: 3,
  canOptimisticallyMerge: true,
  batch: true,
  batchingMaxWaitTimeMinutes: 0,
  batchingMinSize: 1,
  batchingRules: [{ targetPattern: '//deploy/*', policy: 'ISOLATE' }],
  optimizationMode: 'ADAPTIVE',
  runCost: 0.25,
  maxGroupSize: 1,
  directMergeMode: 'ALWAYS',
  mergeMethod: 'MERGE_COMMIT',
  landingMode: 'PUSH',
  exactLanding: true,
  reusePassedTrees: false,
  honorQuarantine: 'ON',
  confirmFailures: 'NEVER',
  newFlakes: 'REMOVE',
  refuseUnchanged: true,
  createPrsForTestingBranches: true,
  testBranchConstructionMode: 'PUSH_NEW_BRANCH_FROM_TEMP',
  requiredStatuses: ['unit', 'lint'],
  failFastStatuses: ['test (*)'],
  probeStatuses: ['unit'],
  freezes: [
    {
      name: 'f',
      from: '2020-01-01T10:00',
      until: '2020-01-02T10:00',
      timeZone: 'Etc/UTC',
      repeat: 'NONE',
      allowUrgent: true,
    },
  ],
  allowedBotSubmitters: ['renovate[bot]'],
  commentsEnabled: false,
  commandsEnabled: false,
  statusCheckEnabled: false,
  extensionEnabled: false,
  labelCommandsEnabled: false,
  stateLabelsEnabled: true,
  enqueueingLabel: 'merge-me',
};

/** A new queue with OTHERS. Its largest group has one member. */
const LEARNED = {
  failureRate: 0.1,
  flakeRate: 0.05,
  groupSize: 1,
  text: 'Nothing is known about this queue yet.',
  unusedSettings: [
    ...['batch', 'batchingMinSize', 'batchingMaxWaitTimeMinutes'],
    ...['bisectionConcurrency', 'pendingFailureDepth', 'canOptimisticallyMerge'],
  ],
};

function lowerCased(settings: object): object {
  return JSON.parse(JSON.stringify(settings), (_key, value) =>
    typeof value === 'string' && /^[A-Z_]+$/.test(value) ? value.toLowerCase() : value,
  );
}

/** Removes even the setting that other tests need. */
const WITHOUT_SETTINGS = { confirmFailures: undefined, requiredStatuses: undefined };

/** An admitted entry stays PENDING, unless it is urgent. */
const WAITING_FOR_A_BATCH = { batch: true, batchingMinSize: 10, batchingMaxWaitTimeMinutes: 60 };

/** The version changes with every answer that differs. */
async function withoutVersion(queue: TestQueue) {
  const { version: _, ...rest } = await queue.getQueue();
  return rest;
}

describe('queues over /v1', () => {
  const world = useServer();
  const { aQueue } = world;
  const statesOf = async (queue: TestQueue) =>
    (await queue.getQueue()).enqueuedPullRequests.map((entry) => [entry.prNumber, entry.state]);

  test('a queue made without settings has the defaults, every one of them', async () => {
    const queue = await aQueue(WITHOUT_SETTINGS);
    assert.deepEqual(await withoutVersion(queue), { ...DEFAULTS, alarms: [], enqueuedPullRequests: [] });
  });

  test('createQueue takes every setting and answers the queue, with statistics if it is ADAPTIVE [K22]', async () => {
    const queue = await aQueue();
    const ref = { ...queue.ref, targetBranch: 'release' };
    await queue.git.commit('release', { files: { 'r.txt': 'r\n' } });
    const created = await queue.api.ok('createQueue', { ...ref, ...OTHERS });
    const learned = LEARNED;
    const automaticSettings: string[] = [];
    assert.deepEqual(created, {
      ...OTHERS,
      automaticSettings,
      branch: 'release',
      learned,
      alarms: [],
      enqueuedPullRequests: [],
    });
    const { version: _, ...queueThen } = await queue.api.ok<QueueView>('getQueue', ref);
    assert.deepEqual(queueThen, created);
  });

  test('updateQueue takes every setting, enums in either case, and answers the queue without its entries', async () => {
    const queue = await aQueue();
    const { stateSince, ...updated } = await queue.update(lowerCased(OTHERS));
    assert.deepEqual(updated, { ...OTHERS, automaticSettings: [], stateBy: 'admin', branch: 'main', learned: LEARNED });
    assert.deepEqual(await withoutVersion(queue), { ...updated, stateSince, alarms: [], enqueuedPullRequests: [] });
  });

  test('a second queue for a branch is refused, and the first stays as it was [Q1]', async () => {
    const queue = await aQueue({ concurrency: 7, confirmFailures: undefined });
    await queue.api.refused('409 QUEUE_ALREADY_EXISTS', 'createQueue', { ...queue.ref, concurrency: 9 });
    assert.equal((await queue.getQueue()).concurrency, 7);
  });

  test('a queue needs a branch that exists [Q1]', async () => {
    const queue = await aQueue();
    for (const targetBranch of ['nowhere', 'a..b', '-x', 'refs/heads/main', 'a b', '.lock']) {
      await queue.api.refused('422 BRANCH_NOT_FOUND', 'createQueue', { ...queue.ref, targetBranch });
    }
  });

  const OUT_OF_RANGE: readonly [string, unknown][] = [
    ['concurrency', 0],
    ['concurrency', 1001],
    ['concurrency', 1.5],
    ['concurrency', '5'],
    ['concurrency', -1],
    ['concurrency', 1e300],
    ['concurrency', null],
    ['bisectionConcurrency', 1001],
    ['testingTimeoutMinutes', -1],
    ['pendingFailureDepth', 1001],
    ['batchingMinSize', 0],
    ['batchingMaxWaitTimeMinutes', 10_081],
    ['notReadyTimeoutHours', 721],
    ['priorityAgeingHours', 721],
    ['maxEntriesPerActor', 501],
    ['runCost', 0.09],
    ['runCost', 100.5],
    ['runCost', '2'],
    ['maxGroupSize', 0],
    ['batch', 'true'],
    ['batch', 1],
    ['mode', 'DOUBLE'],
    ['mode', 'Single'],
    ['state', 'SWITCHING_MODES'],
    ['mergeMethod', 'OCTOPUS'],
    ['landingMode', 'API'],
    ['requiredStatuses', 'unit'],
    ['requiredStatuses', ['unit', 'unit']],
    ['requiredStatuses', ['']],
    ['requiredStatuses', Array.from({ length: 101 }, (_, index) => `check ${index}`)],
    ['batchingRules', [{ targetPattern: '*', policy: 'ISOLATE' }]],
    ['batchingRules', [{ targetPattern: '//a', policy: 'JOIN' }]],
    ['enqueueingLabel', ''],
    ['enqueueingLabel', 'x'.repeat(101)],
    ['enqueueingLabel', 'trunk-testing'],
    ['deleteRequiredStatuses', 'yes'],
  ];
  test('a value out of range changes nothing at all [S2] [S5] [S6]', async () => {
    const queue = await aQueue(WITHOUT_SETTINGS);
    for (const [name, value] of OUT_OF_RANGE) {
      const body = { ...queue.ref, stateLabelsEnabled: true, [name]: value };
      const problem = await queue.api.refused('400 VALIDATION_FAILED', 'updateQueue', body);
      assert.ok(
        problem.errors?.some((error) => error.path.startsWith(`/${name}`)),
        `${name}: ${JSON.stringify(problem)}`,
      );
    }
    assert.deepEqual(await withoutVersion(queue), { ...DEFAULTS, alarms: [], enqueuedPullRequests: [] });
  });

  test('a refused createQueue creates nothing', async () => {
    const queue = await aQueue();
    await queue.git.commit('other', { files: { 'o.txt': 'o\n' } });
    const ref = { ...queue.ref, targetBranch: 'other' };
    await queue.api.refused('400 VALIDATION_FAILED', 'createQueue', { ...ref, concurrency: 0 });
    await queue.api.refused('404 QUEUE_NOT_FOUND', 'getQueue', ref);
  });

  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'x'.repeat(10_000)]) {
    test(`a setting called ${name.slice(0, 20)} is unknown like any other`, async () => {
      const queue = await aQueue();
      const problem = await queue.api.refused('400 VALIDATION_FAILED', 'updateQueue', { ...queue.ref, [name]: 1 });
      assert.equal(problem.errors?.[0]?.path, `/${name}`);
    });
  }

  test('unknown keys are passed over by every other operation', async () => {
    const queue = await aQueue();
    assert.equal((await queue.api.post('getQueue', { ...queue.ref, colour: 'red' })).status, 200);
  });

  test('requiredStatuses: null without an override, [] is kept, deleteRequiredStatuses goes back to null [S4]', async () => {
    const queue = await aQueue(WITHOUT_SETTINGS);
    assert.equal((await queue.getQueue()).requiredStatuses, null);
    assert.deepEqual((await queue.update({ requiredStatuses: [] })).requiredStatuses, []);
    assert.deepEqual((await queue.getQueue()).requiredStatuses, []);
    assert.deepEqual((await queue.update({ requiredStatuses: ['a'] })).requiredStatuses, ['a']);
    assert.deepEqual((await queue.update({ deleteRequiredStatuses: false })).requiredStatuses, ['a']);
    assert.equal((await queue.update({ deleteRequiredStatuses: true })).requiredStatuses, null);
    await queue.update({ requiredStatuses: ['a'] });
    assert.equal((await queue.update({ requiredStatuses: null })).requiredStatuses, null);
  });

  test('bisectionConcurrency reads as concurrency while it is unset, and null unsets it [S3]', async () => {
    const queue = await aQueue();
    assert.equal((await queue.update({ concurrency: 9 })).bisectionConcurrency, 9);
    assert.equal((await queue.update({ bisectionConcurrency: 2 })).bisectionConcurrency, 2);
    assert.equal((await queue.update({ concurrency: 3 })).bisectionConcurrency, 2);
    assert.equal((await queue.update({ bisectionConcurrency: null })).bisectionConcurrency, 3);
  });

  test('testingTimeoutMinutes reads as what holds while it is unset, also where 300 is set, and null unsets it [S7] [S8]', async () => {
    const queue = await aQueue();
    const read = ({ testingTimeoutMinutes, automaticSettings }: Partial<QueueView>) =>
      `${testingTimeoutMinutes} ${automaticSettings?.join()}`;
    assert.equal(read(await queue.getQueue()), '300 bisectionConcurrency,testingTimeoutMinutes');
    for (const minutes of [0, 45, 300])
      assert.equal(read(await queue.update({ testingTimeoutMinutes: minutes })), `${minutes} bisectionConcurrency`);
    assert.equal(read(await queue.getQueue()), '300 bisectionConcurrency');
    const trunk = await world.server.trunk.ok<QueueView>('getQueue', queue.ref);
    assert.equal(read(trunk), '300 undefined');
    const unset = await queue.update({ testingTimeoutMinutes: null });
    assert.equal(read(unset), '300 bisectionConcurrency,testingTimeoutMinutes');
  });

  test('deleteQueue: refused while anything is in it, then {}, then not found', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    await queue.api.refused('409 QUEUE_NOT_EMPTY', 'deleteQueue', queue.ref);
    await queue.api.ok('cancelPullRequest', queue.entry(number));
    assert.deepEqual(await queue.api.ok('deleteQueue', queue.ref), {});
    for (const operation of ['deleteQueue', 'getQueue', 'updateQueue']) {
      await queue.api.refused('404 QUEUE_NOT_FOUND', operation, queue.ref);
    }
  });

  test('a NOT_READY entry keeps a queue from being deleted', async () => {
    const queue = await aQueue({ state: 'PAUSED' });
    await queue.submit(await queue.openPullRequest());
    await queue.api.refused('409 QUEUE_NOT_EMPTY', 'deleteQueue', queue.ref);
  });

  test('a deleted queue says so, can be made again, and remembers nothing [Q12]', async () => {
    const queue = await aQueue({ concurrency: 9 });
    const number = await queue.submitOne();
    await queue.api.ok('cancelPullRequest', queue.entry(number));
    await queue.api.ok('deleteQueue', queue.ref);
    const gone = await queue.api.refused('404 QUEUE_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(number));
    assert.match(
      gone.detail,
      new RegExp(`was deleted by admin at .*Z\\. Pull request #${number} ended in it as CANCELLED`),
    );
    assert.equal((await queue.api.ok<QueueView>('createQueue', queue.ref)).concurrency, 5);
    await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(number));
  });

  test('getQueue lists pending entries by priority and admission, then those not ready', async () => {
    const queue = await aQueue(WAITING_FOR_A_BATCH);
    await queue.git.commit('main', { files: { 'a.txt': 'changed\n' } });
    const conflicting = await queue.git.openPullRequest('main', { files: { 'a.txt': 'mine\n' } });
    await queue.git.commit('main', { files: { 'a.txt': 'theirs\n' } });
    const [a, b, c] = [await queue.openPullRequest(), await queue.openPullRequest(), await queue.openPullRequest()];
    await queue.submit(conflicting.number, { priority: 'urgent' });
    await queue.submit(a);
    await queue.submit(b, { priority: 'low' });
    await queue.submit(c, { priority: 'high' });
    assert.deepEqual(await statesOf(queue), [
      [c, 'PENDING'],
      [a, 'PENDING'],
      [b, 'PENDING'],
      [conflicting.number, 'NOT_READY'],
    ]);
    await queue.submit(b, { priority: 0 });
    assert.deepEqual((await statesOf(queue))[0], [b, 'TESTING']);
  });

  test('a pause says who paused the queue, why and until when, and refuses an end in the past [Q10] [Q11]', async () => {
    const queue = await aQueue();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await queue.update({ state: 'PAUSED', reason: 'release 4.2', until });
    const { stateBy, stateReason, stateUntil } = await queue.api.ok<QueueView>('getQueue', queue.ref);
    assert.deepEqual([stateBy, stateReason, stateUntil], ['admin', 'release 4.2', until]);
    for (const wrong of [
      { state: 'PAUSED', until: '2020-01-01T00:00:00Z' },
      { state: 'DRAINING', until },
      { reason: 'nothing' },
      { state: 'PAUSED', reason: 'x'.repeat(501) },
    ])
      await queue.api.refused('400 VALIDATION_FAILED', 'updateQueue', { ...queue.ref, ...wrong });
  });

  test('freezes are kept with their defaults, shown while they hold, and refused as a whole with a sentence [Q14] [Q22] [X51]', async () => {
    const queue = await aQueue();
    const local = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 16);
    const [from, until] = [local(-3_600_000), local(3_600_000)];
    await queue.update({ freezes: [{ name: 'release', from, until }] });
    const { freezes, frozen } = await queue.api.ok<QueueView>('getQueue', queue.ref);
    const defaults = { timeZone: 'UTC', repeat: 'NONE', allowUrgent: false };
    assert.deepEqual(freezes, [{ name: 'release', from, until, ...defaults }]);
    assert.deepEqual([frozen?.name, frozen?.until, frozen?.allowUrgent], ['release', `${until}:00.000Z`, false]);
    assert.match(frozen?.text ?? '', /^Frozen until .* \(release\): nothing lands, tests go on\. Since /);
    const trunk = await world.server.trunk.ok<QueueView>('getQueue', queue.ref);
    assert.equal(trunk.frozen, undefined);
    const wrong = { name: 'wrong', from, until, timeZone: 'Europe/Atlantis' };
    const body = await queue.api.refused('400 VALIDATION_FAILED', 'updateQueue', {
      ...queue.ref,
      freezes: [...freezes, wrong],
    });
    assert.match(JSON.stringify(body), /time zone .*Europe.Atlantis.* is unknown: write an IANA name/);
    await queue.update({ freezes: [] });
    const names = async () => (await queue.getQueue()).freezes.map(({ name }) => name).sort();
    const added = ['a', 'b', 'c'].map((name) => ({ addFreeze: { name, from, until } }));
    await Promise.all(added.map((change) => queue.update(change)));
    assert.deepEqual(await names(), ['a', 'b', 'c']);
    await Promise.all([queue.update({ removeFreeze: 'a' }), queue.update({ addFreeze: { name: 'b', from, until } })]);
    assert.deepEqual(await names(), ['b', 'c']);
    for (const [change, sentence] of [
      [{ removeFreeze: 'x' }, /names no freeze of the queue: it has "c", "b"/],
      [{ addFreeze: { name: 'x', from: until, until: from } }, /until must be later than its from/],
      [{ addFreeze: { name: 'x', from, until }, freezes: [] }, /goes without addFreeze/],
    ] as const) {
      const problem = await queue.api.refused('400 VALIDATION_FAILED', 'updateQueue', { ...queue.ref, ...change });
      assert.match(problem.detail, sentence);
    }
    await queue.update({ freezes: [] });
    assert.equal((await queue.api.ok<QueueView>('getQueue', queue.ref)).frozen, undefined);
  });

  describe('a change of mode', () => {
    test('waits for the admitted entries, refuses writes meanwhile, then happens', async () => {
      const queue = await aQueue();
      const [inside, late] = [await queue.openPullRequest(), await queue.openPullRequest()];
      await queue.submit(inside);
      const switching = await queue.update({ mode: 'PARALLEL' });
      assert.deepEqual([switching.state, switching.mode], ['SWITCHING_MODES', 'SINGLE']);
      await queue.api.refused('409 MODE_CHANGE_IN_PROGRESS', 'updateQueue', { ...queue.ref, concurrency: 3 });
      assert.equal((await queue.update({ state: 'PAUSED' })).state, 'PAUSED');
      assert.equal((await queue.update({ state: 'RUNNING' })).state, 'SWITCHING_MODES');
      assert.equal((await queue.submit(late)).state, 'NOT_READY');
      const { explanation } = await queue.get(late, { includeExplanation: true });
      assert.equal(explanation?.reasons[0]?.code, 'QUEUE_SWITCHING_MODES');
      await queue.api.ok('cancelPullRequest', queue.entry(inside));
      const { state, mode, concurrency } = await queue.getQueue();
      assert.deepEqual([state, mode, concurrency], ['RUNNING', 'PARALLEL', 5]);
      // Submitted before the switch, so it counts as impacting all.
      assert.equal((await queue.get(late)).state, 'TESTING');
    });
  });

  test('listQueues answers each with its repository and counts', async () => {
    const queue = await aQueue({ confirmFailures: undefined });
    await queue.submit(await queue.openPullRequest());
    const { queues } = await queue.api.ok<{ queues: object[] }>('listQueues', { repo: queue.repo });
    const counts = { NOT_READY: 0, PENDING: 0, TESTING: 1, TESTS_PASSED: 0, PENDING_FAILURE: 0 };
    assert.deepEqual(queues, [{ ...DEFAULTS, requiredStatuses: ['test'], repo: queue.repo, alarms: [], counts }]);
    const all = await queue.api.ok<{ queues: object[] }>('listQueues', {});
    assert.ok(all.queues.length > 1);
  });

  describe('metrics', () => {
    const metrics = (query: string) => world.server.api.send(`getMergeQueueMetrics${query}`);

    test('are plain text with all families, for every repository or one', async () => {
      const queue = await aQueue();
      await queue.submit(await queue.openPullRequest());
      const one = await metrics(`?repo=acme/${queue.repo.name}&repoHost=local`);
      assert.equal(one.status, 200);
      assert.equal(one.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      const labels = `repo="acme/${queue.repo.name}",branch="main",queue_type="main",repo_host="local"`;
      assert.ok(one.text.includes(`mq_depth_current{${labels}} 1\n`), one.text.slice(0, 500));
      assert.deepEqual(
        [...one.text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`).toSorted(),
        [
          'mq_alarms_total counter',
          'mq_awaiting_mergeability gauge',
          'mq_depth_current gauge',
          'mq_pr_conclusions_1h_total gauge',
          'mq_pr_restarts_1h_total gauge',
          'mq_pr_state_duration_1h_seconds histogram',
          'mq_pr_test_duration_1h_seconds histogram',
          'mq_pr_time_in_queue_1h_seconds histogram',
          'mq_pr_wait_duration_1h_seconds histogram',
          'mq_queue_held gauge',
          'mq_testing_slots_active gauge',
          'sluice_candidates_total counter',
          'sluice_ci_seconds_total counter',
          'sluice_failed_runs_total counter',
          'sluice_flaky_tests gauge',
          'sluice_pull_requests_total counter',
          'sluice_queue_frozen gauge',
          'sluice_queue_paused gauge',
          'sluice_reused_trees_total counter',
          'sluice_tests gauge',
          'sluice_time_in_queue_seconds histogram',
          'sluice_uploads_waiting gauge',
          'sluice_waived_total counter',
        ],
      );
      assert.equal(new Set([...one.text.matchAll(/repo="([^"]*)"/g)].map(([, name]) => name)).size, 1);
      const all = await metrics('');
      assert.ok(new Set([...all.text.matchAll(/repo="([^"]*)"/g)].map(([, name]) => name)).size > 1);
    });

    test('count what left within the hour [M3]', async () => {
      const queue = await aQueue();
      const number = await queue.submitOne();
      await queue.api.ok('cancelPullRequest', queue.entry(number));
      const { text } = await metrics(`?repo=acme/${queue.repo.name}&repoHost=local`);
      const labels = `repo="acme/${queue.repo.name}",branch="main",queue_type="main",repo_host="local"`;
      assert.ok(text.includes(`mq_pr_conclusions_1h_total{${labels},conclusion="cancelled"} 1\n`), text);
      assert.ok(text.includes(`mq_depth_current{${labels}} 0\n`));
    });

    for (const [query, expected] of [
      ['?repo=acme/app-1', 400],
      ['?repoHost=local', 400],
      ['?repo=app-1&repoHost=local', 400],
      ['?repo=&repoHost=', 400],
      ['?repo=acme/app-1&repo=acme/app-2&repoHost=local', 400],
      ['?repo=acme/%00&repoHost=local', 400],
      ['?repo=acme/a&repoHost=%00', 400],
      ['?repo=acme/nothing&repoHost=local', 404],
      ['?repo=acme/app-1&repoHost=github.com', 404],
      ['?repo=../..&repoHost=local', 404],
      [`?repo=a/${'x'.repeat(9_000)}&repoHost=local`, 400],
    ] as const) {
      test(`${query.slice(0, 50)} is ${expected} [M2]`, async () => {
        const answer = await metrics(query);
        assert.equal(answer.status, expected, answer.text);
        assert.equal(answer.headers.get('content-type'), 'application/problem+json');
      });
    }
  });
});
