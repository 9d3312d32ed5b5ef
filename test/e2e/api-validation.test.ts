import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { problemOf } from './harness.ts';
import { type TestQueue, useServer } from './test-queue.ts';

/** Every input here is refused and changes nothing. Each table ends with a check that the server still works. */
describe('bad input', () => {
  let queue: TestQueue;
  let number: number;
  let untouched: unknown;
  // Stands before the server's own hook, which stops it.
  after(async () => assert.deepEqual(await queue.getQueue(), untouched));
  const world = useServer();
  before(async () => {
    queue = await world.aQueue();
    number = await queue.openPullRequest();
    await queue.submit(number);
    untouched = await queue.getQueue();
  });

  const refusedAt = async (operation: string, body: unknown, path: string) => {
    const problem = await queue.api.refused('400 VALIDATION_FAILED', operation, body);
    const paths = problem.errors?.map((error) => error.path);
    assert.ok(paths?.includes(path), `${path} is not among ${JSON.stringify(problem)}`);
  };
  const WRONG_TEXTS = [undefined, null, 7, true, [], {}, ''];
  const LONG = 'x'.repeat(10_000);

  describe('a repository', () => {
    for (const field of ['host', 'owner', 'name']) {
      test(`${field} missing or of another type is refused`, async () => {
        for (const value of WRONG_TEXTS) {
          await refusedAt('getQueue', { ...queue.ref, repo: { ...queue.repo, [field]: value } }, `/repo/${field}`);
        }
      });
    }

    for (const [field, values] of Object.entries({
      host: ['a/b', '..', 'a b', '-a', 'a_b', 'http://a', 'a:123456', LONG, 'a\n', '.', 'é.example'],
      owner: ['a/../b', '/a', 'a//b', 'a/-b', LONG, 'a\nb', 'a%2fb', 'a/~b'],
      name: ['a/b', '..', '.', 'a b', '-a', LONG, 'a\\b', 'a:b', 'a\tb', 'a?b'],
    })) {
      test(`${field} with characters that a name does not have is refused`, async () => {
        for (const value of values) {
          await refusedAt('getQueue', { ...queue.ref, repo: { ...queue.repo, [field]: value } }, `/repo/${field}`);
        }
      });
    }

    test('that is missing, null or not an object is refused', async () => {
      for (const repo of [undefined, null, 'local/acme/app', 7, []]) {
        const body = { ...queue.ref, repo };
        const problem = await queue.api.refused('400 VALIDATION_FAILED', 'getQueue', body);
        assert.ok(
          problem.errors?.every((error) => error.path.startsWith('/repo')),
          JSON.stringify(problem),
        );
      }
    });

    test('names that are allowed and unknown are not found', async () => {
      for (const repo of [
        { host: 'git.example:8443', owner: 'group/sub.group/a_b', name: '.github' },
        { host: 'local', owner: 'acme', name: 'APP-1' },
        { host: 'bitbucket.acme.test:7999', owner: '~ann', name: 'app' },
        { host: 'dev.azure.com', owner: 'acme/my%20project/_git', name: 'my%20app' },
        { host: 'local', owner: 'constructor', name: '__proto__' },
        { host: 'local', owner: 'a'.repeat(255), name: 'b'.repeat(255) },
      ]) {
        await queue.api.refused('404 REPOSITORY_NOT_FOUND', 'getQueue', { ...queue.ref, repo });
      }
    });
  });

  describe('a target branch', () => {
    test('that is missing, of another type, too long or with control characters is refused', async () => {
      for (const targetBranch of [...WRONG_TEXTS, LONG, 'a\nb', 'a\u007f', '\u0001']) {
        await refusedAt('getQueue', { ...queue.ref, targetBranch }, '/targetBranch');
        await refusedAt('submitPullRequest', { ...queue.entry(number), targetBranch }, '/targetBranch');
      }
    });

    test('of any other name is a queue that is not there', async () => {
      for (const targetBranch of ['..', '-rf', ' main', "'; DROP TABLE queues; --", '😀', '%6dain']) {
        await queue.api.refused('404 QUEUE_NOT_FOUND', 'getQueue', { ...queue.ref, targetBranch });
      }
    });
  });

  const PR_OPERATIONS = [
    ['submitPullRequest', {}],
    ['cancelPullRequest', {}],
    ['restartTestsOnPullRequest', {}],
    ['setImpactedTargets', { impactedTargets: [] }],
  ] as const;
  const WRONG_NUMBERS = [undefined, null, 0, 1.5, 4_294_967_296, '01', [1]];
  for (const [operation, more] of PR_OPERATIONS) {
    test(`${operation} refuses a pr.number that is missing, of another type, negative, fractional or huge`, async () => {
      for (const wrong of WRONG_NUMBERS) {
        await refusedAt(operation, { ...queue.ref, ...more, pr: { number: wrong } }, '/pr/number');
      }
      for (const pr of [undefined, null, 7, '7', []]) {
        const problem = await queue.api.refused('400 VALIDATION_FAILED', operation, { ...queue.ref, ...more, pr });
        assert.ok(
          problem.errors?.every((error) => error.path.startsWith('/pr')),
          JSON.stringify(problem),
        );
      }
    });
  }

  for (const [operation, field, values] of [
    ['submitPullRequest', 'priority', [-1, 256, 1.5, '256', 'highest', '', true, [], {}, '-1', '1e1', LONG]],
    ['submitPullRequest', 'noBatch', ['true', 1, null, [], {}]],
    ['getSubmittedPullRequest', 'includeTimeline', ['yes', 1, null]],
    ['getSubmittedPullRequest', 'includeExplanation', ['yes', 1, null]],
    [
      'setImpactedTargets',
      'impactedTargets',
      [undefined, null, 'all', 'SOME', 7, {}, [7], [null], ['x'.repeat(10_001)], [['a']]],
    ],
  ] as const) {
    test(`${operation} refuses values of ${field} that do not fit`, async () => {
      for (const value of values) await refusedAt(operation, queue.entry(number, { [field]: value }), `/${field}`);
    });
  }

  test('setImpactedTargets refuses a pr.sha that is no commit id', async () => {
    for (const sha of ['', 'abc', 'g'.repeat(40), 'a'.repeat(39), 'a'.repeat(41), 7, null, `${'a'.repeat(40)}\n`]) {
      await refusedAt('setImpactedTargets', { ...queue.ref, pr: { number, sha }, impactedTargets: [] }, '/pr/sha');
    }
  });

  for (const [operation, field, values] of [
    ['listPullRequests', 'state', ['Pending', 'GONE', '', 7, null, []]],
    ['listPullRequests', 'take', [0, -1, 101, 1.5, '5', null]],
    ['listPullRequests', 'cursor', ['', 'x', 7, `${'0'.repeat(36)}`, null]],
    [
      'listPullRequests',
      'since',
      ['2026-09-17', '2026-09-17T10:16:02', 'yesterday', 1, '2026-02-30T00:00:00Z', '2026-12-31T23:59:60Z'],
    ],
    ['listPullRequests', 'until', ['', '2026-13-01T00:00:00Z', '2026-09-17 10:16:02', '2026-09-17T25:00:00Z']],
    [
      'getSubmittedPullRequests',
      'prs',
      [undefined, [], [{}], [{ number: 0 }], {}, Array.from({ length: 51 }, () => ({ number: 1 }))],
    ],
    ['listMergeQueueTestingResults', 'since', [undefined, '2026-09-17', null]],
    ['listMergeQueueTestingResults', 'offset', [-1, 1.5, 1_000_001, '0']],
    ['getMergeQueueTestingDetails', 'testRunId', ['', 7, null, LONG]],
  ] as const) {
    test(`${operation} refuses values of ${field} that do not fit`, async () => {
      const valid = operation === 'listMergeQueueTestingResults' ? { since: new Date().toISOString() } : {};
      for (const value of values) {
        const body = { ...queue.ref, ...valid, [field]: value };
        const problem = await queue.api.refused('400 VALIDATION_FAILED', operation, body);
        assert.ok(
          problem.errors?.some((error) => error.path.startsWith(`/${field}`)),
          `${value}: ${JSON.stringify(problem)}`,
        );
      }
    });
  }

  for (const [operation, fields] of Object.entries({
    createApiToken: {
      name: [undefined, '', 7, 'x'.repeat(101), 'a\nb'],
      scopes: [undefined, [], ['all'], ['READ'], 'read', [7]],
      repositories: [[], [{}], 'all', [{ host: 'local', owner: 'acme' }]],
      expiresAt: ['tomorrow', 7, '2999-01-01', '2999-01-01T00:00:00'],
    },
    revokeApiToken: { id: [undefined, '', 'x', 7, 'g'.repeat(36)] },
    registerRepository: {
      git: ['', 7, LONG, 'a\nb'],
      checks: [
        {},
        [{}],
        [{ name: 'a' }],
        [{ name: 'a', command: '' }],
        [{ name: 'a', command: 'b', timeoutMinutes: 0 }],
      ],
      junit: ['*.xml', [''], [7]],
    },
  })) {
    test(`${operation} refuses every field that does not fit [H1]`, async () => {
      const valid = { name: 'x', scopes: ['read'], repo: queue.repo };
      for (const [field, values] of Object.entries(fields)) {
        for (const value of values) {
          const problem = await queue.api.refused('400 VALIDATION_FAILED', operation, { ...valid, [field]: value });
          assert.ok(
            problem.errors?.some((error) => error.path.startsWith(`/${field}`)),
            `${value}: ${JSON.stringify(problem)}`,
          );
        }
      }
    });
  }

  test('a body that is JSON but no object is refused', async () => {
    for (const body of [null, true, 7, 'text', [], [{}]]) {
      for (const operation of [
        'getQueue',
        'submitPullRequest',
        'createQueue',
        'listRepositories',
        'getSubmittedPullRequest',
      ]) {
        const problem = await queue.api.refused('400 VALIDATION_FAILED', operation, body);
        assert.match(problem.detail, /^The body /);
      }
    }
  });

  test('JSON that no honest client sends is malformed', async () => {
    for (const body of ['{"repo":', '{"a":1,"a":1}', Uint8Array.of(0xff, 0xfe)]) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      for (const operation of ['getQueue', 'updateQueue'])
        problemOf(await queue.api.send(operation, init), '400 MALFORMED_JSON');
    }
  });

  describe('content types', () => {
    const send = (headers: Record<string, string>, body: string | undefined = JSON.stringify(queue.ref)) =>
      queue.api.send('getQueue', { method: 'POST', headers, ...(body === undefined ? {} : { body }) });

    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json; charset=utf8',
    ]) {
      test(`${type} is JSON`, async () => {
        assert.equal((await send({ 'content-type': type })).status, 200);
      });
    }

    for (const type of [
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'application/xml',
      'json',
      '*/*',
      'application/json; charset=latin1',
      'application/jsonx',
    ]) {
      test(`${type} is not [H5]`, async () => {
        problemOf(await send({ 'content-type': type }), '415 UNSUPPORTED_MEDIA_TYPE');
      });
    }

    test('a body without a type is not', async () => {
      const body = new Blob([JSON.stringify(queue.ref)]);
      problemOf(await queue.api.send('getQueue', { method: 'POST', body }), '415 UNSUPPORTED_MEDIA_TYPE');
    });

    test('no body at all is an invalid one', async () => {
      problemOf(await queue.api.send('getQueue', { method: 'POST' }), '400 VALIDATION_FAILED');
      const typed = await queue.api.send('getQueue', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      problemOf(typed, '400 MALFORMED_JSON');
    });
  });

  describe('routes', () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', 'nothing'],
      ['POST', 'nothing'],
      ['POST', 'getqueue'],
      ['POST', 'getQueue/'],
      ['POST', '/getQueue'],
      ['POST', 'getQueue/x'],
      ['GET', '../v2/getQueue'],
      ['GET', '../..%2f..%2fetc/passwd'],
      ['GET', '%zz'],
      ['GET', '%00'],
      ['DELETE', '../-/x'],
    ] as const) {
      test(`${method} ${path || '/v1/'} is not found, with any body [H6]`, async () => {
        problemOf(await queue.api.send(path, { method }), '404 ROUTE_NOT_FOUND');
        if (method === 'GET') return;
        for (const type of ['application/json', 'text/plain', 'nonsense']) {
          const answer = await queue.api.send(path, { method, headers: { 'content-type': type }, body: '{"half' });
          problemOf(answer, '404 ROUTE_NOT_FOUND');
        }
      });
    }

    for (const [method, path, allow] of [
      ['GET', 'getQueue', 'POST'],
      ['PUT', 'getQueue', 'POST'],
      ['DELETE', 'getQueue', 'POST'],
      ['PATCH', 'flaky-tests/get-test-details', 'POST'],
      ['OPTIONS', 'getQueue', 'POST'],
      ['POST', 'getMergeQueueMetrics', 'GET, HEAD'],
      ['POST', '../healthz', 'GET, HEAD'],
      ['PUT', '../trunk/v1/getQueue', 'POST'],
    ] as const) {
      test(`${method} ${path} is not allowed, ${allow} is [H6]`, async () => {
        for (const body of [undefined, '{"half']) {
          const init =
            method === 'GET' || body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } };
          const answer = await queue.api.send(path, { method, ...init });
          problemOf(answer, '405 METHOD_NOT_ALLOWED');
          assert.equal(answer.headers.get('allow'), allow);
        }
      });
    }

    test('HEAD answers as GET would, without the body', async () => {
      const answer = await queue.api.send('../healthz', { method: 'HEAD' });
      assert.deepEqual([answer.status, answer.text], [200, '']);
    });

    test("a proxy's request id is kept, and a strange one is not", async () => {
      const kept = await queue.api.send('getQueue', { headers: { 'x-request-id': 'edge-7f.A_1' } });
      assert.equal(kept.headers.get('x-request-id'), 'edge-7f.A_1');
      for (const strange of ['a b', 'x'.repeat(65), '<script>']) {
        const answer = await queue.api.send('getQueue', { headers: { 'x-request-id': strange } });
        assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f]+-[0-9a-z]+$/);
      }
    });
  });
});
