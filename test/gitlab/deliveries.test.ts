// Payloads of the shape of GitLab's own (its Go client has one of each kind), with values of ours.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createGitlabForge } from '../../src/forge/gitlab/create-gitlab-forge.ts';
import type { WebhookHint } from '../../src/forge/hosting.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { headersOf } from '../fake/gitlab/webhooks.ts';
import { pluck } from '../helpers/pluck.ts';
import { silentLog } from '../helpers/silent-log.ts';

type Payload = Readonly<Record<string, unknown>>;
const FILE = new URL('../fixtures/gitlab/payloads.json', import.meta.url);
const PAYLOADS = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, Payload>>;
const TOKEN = 'the token of these deliveries';
const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** All others give none. */
const EXPECTED: Readonly<Record<string, readonly WebhookHint['kind'][]>> = {
  'web/merge_request': ['pull_request', 'label'],
  'web/service_merge_request': ['pull_request'],
  'web/pipeline': ['checks'],
  'web/job': ['checks'],
  'web/push': ['branch'],
  'system/merge_request': ['pull_request'],
};

const hostingOf = (webhookSecret: string | undefined) =>
  createGitlabForge({
    connection: {
      ...{ host: 'gitlab.test', url: 'http://gitlab.test', token: 'a token of nobody' },
      ...(webhookSecret !== undefined && { webhookSecret }),
    },
    clock: systemClock,
    log: silentLog,
    directory: 'unused',
  }).hosting;

const deliver = (payload: unknown, headers: Readonly<Record<string, string>>, secret: string | undefined = TOKEN) =>
  hostingOf(secret).readDelivery({
    headers: { 'x-gitlab-event': 'A Hook', 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(payload)),
  });

describe('deliveries of GitLab', () => {
  for (const [name, payload] of Object.entries(PAYLOADS)) {
    test(`${name} gives the hints for its kind, and none without proof [G181]`, () => {
      const answer = deliver(payload, { 'x-gitlab-token': TOKEN });
      assert.ok(answer.kind === 'hints', JSON.stringify(answer));
      assert.deepEqual(pluck(answer.hints, 'kind'), EXPECTED[name] ?? []);
      for (const hint of answer.hints) assert.deepEqual([hint.owner, hint.name], ['acme/tools', 'app']);
      assert.equal(deliver(payload, {}).kind, 'unsigned');
    });
  }

  test('a token must be the secret, whole, and a server without a secret believes none [G181]', () => {
    const payload = PAYLOADS['web/push'];
    for (const wrong of ['', `${TOKEN} `, TOKEN.slice(1), TOKEN.toUpperCase(), 'x'.repeat(100_000)])
      assert.equal(deliver(payload, { 'x-gitlab-token': wrong }).kind, 'unsigned');
    assert.equal(deliver(payload, { 'x-gitlab-token': '' }, '').kind, 'unsigned');
    const none = hostingOf(undefined).readDelivery({ headers: { 'x-gitlab-token': TOKEN }, body: Buffer.from('{}') });
    assert.equal(none.kind, 'unsigned');
  });

  test('a signature counts for its body, its id and five minutes, and its secret is no token [G181]', () => {
    const payload = PAYLOADS['web/push'];
    const body = JSON.stringify(payload);
    const headers = headersOf({ token: '', signingToken: SIGNING }, body);
    assert.equal(deliver(payload, headers, SIGNING).kind, 'hints');
    const twice = { ...headers, 'webhook-signature': `v1,${'A'.repeat(44)} ${headers['webhook-signature']}` };
    assert.equal(deliver(payload, twice, SIGNING).kind, 'hints', 'while a key is replaced, both sign');
    assert.equal(deliver({ ...payload, ref: 'refs/heads/evil' }, headers, SIGNING).kind, 'unsigned');
    assert.equal(deliver(payload, { ...headers, 'webhook-id': 'other' }, SIGNING).kind, 'unsigned');
    const old = { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 301) };
    assert.equal(deliver(payload, old, SIGNING).kind, 'unsigned');
    assert.equal(deliver(payload, { 'x-gitlab-token': SIGNING }, SIGNING).kind, 'unsigned');
  });

  test('a note commands once it is new, by a person, on a merge request, and has a command [G181]', () => {
    const payload = structuredClone(PAYLOADS['web/note_merge_request']) as Record<string, Record<string, unknown>>;
    const about = payload['object_attributes'] ?? {};
    const kinds = () => {
      const answer = deliver(payload, { 'x-gitlab-token': TOKEN });
      return answer.kind === 'hints' ? pluck(answer.hints, 'kind') : answer.kind;
    };
    assert.deepEqual(kinds(), [], 'it has no command');
    about['note'] = '/sluice merge';
    assert.deepEqual(kinds(), ['comment']);
    about['action'] = 'update';
    assert.deepEqual(kinds(), []);
    about['action'] = 'create';
    about['noteable_type'] = 'Issue';
    assert.deepEqual(kinds(), []);
  });

  test('bodies that are no payload are told apart or give no hints [G181]', () => {
    const proof = { 'x-gitlab-token': TOKEN };
    for (const odd of [{}, { object_kind: 'push' }, { object_kind: 'toString' }, { object_kind: 'note', project: 7 }])
      assert.deepEqual(deliver(odd, proof), { kind: 'hints', hints: [] });
    for (const odd of [[], 7, null]) assert.equal(deliver(odd, proof).kind, 'unreadable');
    for (const name of ['a', '/a', 'a/', 'a\0/b', `${'x'.repeat(2_000)}/b`]) {
      const project = { path_with_namespace: name };
      assert.deepEqual(deliver({ object_kind: 'push', ref: 'refs/heads/main', project }, proof), {
        kind: 'hints',
        hints: [],
      });
    }
  });
});
