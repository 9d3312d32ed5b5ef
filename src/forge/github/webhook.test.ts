import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Prng } from '../../lib/prng.ts';
import type { DeliveryAnswer } from '../hosting.ts';
import { createCredentials } from './api/credentials.ts';
import { createGithubDeliveryReader } from './webhook.ts';

const SECRET = 'it’s a secret';
const OWN_APP = 4_711;
const { readDelivery: read } = createGithubDeliveryReader({ secret: () => SECRET, ownAppId: OWN_APP });

type Json = Record<string, unknown>;

function sign(body: string | Buffer, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

function deliver(event: string, payload: unknown, headers: Record<string, string | undefined> = {}): DeliveryAnswer {
  const body = Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));
  return read({ body, headers: { 'x-hub-signature-256': sign(body), 'x-github-event': event, ...headers } });
}

/** Formats hints as text: kind, then key. */
function told(event: string, payload: unknown): string[] {
  const answer = deliver(event, payload);
  assert.equal(answer.kind, 'hints');
  return (answer.kind === 'hints' ? answer.hints : []).map(({ kind, key }) =>
    key.startsWith('comment:') ? key : `${kind} | ${key}`,
  );
}

interface Definition {
  readonly name: string;
  readonly examples: readonly Json[];
}

function readExamples(edition: string): readonly Definition[] {
  const file = new URL(`../${edition}/index.json`, import.meta.resolve('@octokit/webhooks-examples'));
  return JSON.parse(readFileSync(file, 'utf8')) as Definition[];
}

const EXAMPLES = readExamples('api.github.com');

function examplesOf(name: string): readonly Json[] {
  return EXAMPLES.find((definition) => definition.name === name)?.examples ?? [];
}

describe('deliveries of GitHub', () => {
  test('only a delivery signed with the secret is read [G30]', () => {
    const payload = { ref: 'refs/heads/main', repository: { name: 'app', owner: { login: 'acme' } } };
    const body = Buffer.from(JSON.stringify(payload));
    const signed = (signature: string | undefined) =>
      deliver('push', payload, { 'x-hub-signature-256': signature }).kind;
    assert.equal(signed(sign(body)), 'hints');
    assert.equal(signed(undefined), 'unsigned');
    assert.equal(signed(''), 'unsigned');
    assert.equal(signed(sign(body, 'another')), 'unsigned');
    assert.equal(signed(sign(`${body} `)), 'unsigned');
    assert.equal(signed(sign(body).toUpperCase()), 'unsigned');
    assert.equal(signed(sign(body).replace('sha256=', '')), 'unsigned');
    assert.equal(signed(sign(body).slice(0, -1)), 'unsigned');
    const sha1 = createHmac('sha1', SECRET).update(body).digest('hex');
    assert.equal(signed(`sha1=${sha1}`), 'unsigned');
    assert.equal(signed(`sha256=${sha1}`), 'unsigned');
  });

  test('no delivery is believed without a secret, not even one signed with nothing [G30]', () => {
    for (const secret of [undefined, '']) {
      const body = Buffer.from('{}');
      const headers = { 'x-hub-signature-256': sign(body, ''), 'x-github-event': 'push' };
      const { readDelivery: readAny } = createGithubDeliveryReader({ secret: () => secret, ownAppId: undefined });
      assert.deepEqual(readAny({ body, headers }), { kind: 'unsigned' });
    }
  });

  test('a secret that was changed is read again, and not for everybody who tries [G91]', async () => {
    const auth = { kind: 'token', token: 'ghp_0123456789', webhookSecret: 'the old one' } as const;
    let [reads, now] = [0, 0];
    const reload = async () => {
      reads += 1;
      return { ...auth, webhookSecret: SECRET };
    };
    const credentials = createCredentials({ host: 'github.com', apiUrl: '', webUrl: '', auth, reload });
    const { readDelivery: readIt } = createGithubDeliveryReader({
      secret: () => credentials.current().webhookSecret,
      onMismatch: () => credentials.rereadSecret(now),
      ownAppId: undefined,
    });
    const body = Buffer.from('{}');
    const send = (secret: string) =>
      readIt({ body, headers: { 'x-hub-signature-256': sign(body, secret), 'x-github-event': 'push' } }).kind;
    assert.equal(send(SECRET), 'unsigned');
    await setImmediate();
    assert.equal(send(SECRET), 'hints');
    for (let tries = 0; tries < 100; tries += 1) {
      assert.equal(send('a stranger’s'), 'unsigned');
      await setImmediate();
    }
    assert.equal(reads, 1);
    now = 60_000;
    send('a stranger’s');
    assert.equal(reads, 2);
  });

  test('every example that GitHub publishes is read, and one that is the same says the same', () => {
    const editions = ['api.github.com', 'ghes-31', 'ghes-35'].map(readExamples);
    for (const { name, examples } of editions.flat()) {
      for (const example of examples) assert.deepEqual(told(name, example), told(name, structuredClone(example)), name);
    }
  });

  test('deliveries about pull requests say where to look', () => {
    const place = 'Codertocat/Hello-World';
    const byAction = (name: string, action: string) =>
      examplesOf(name)
        .filter((example) => example['action'] === action)
        .flatMap((example) => told(name, example));
    const main = ['opened', 'reopened', 'synchronize', 'closed', 'converted_to_draft', 'ready_for_review'];
    for (const action of main) {
      const texts = byAction('pull_request', action);
      assert.ok(
        texts.some((text) => /^pull_request \| [^ ]+ pull_request \d+ [0-9a-f]{40}$/.test(text)),
        action,
      );
    }
    for (const action of ['labeled', 'unlabeled']) {
      const texts = byAction('pull_request', action);
      assert.ok(texts.length > 0 && texts.every((text) => /^label \| [^ ]+ label \d+ .+$/.test(text)), action);
    }
    for (const action of ['assigned', 'locked', 'review_requested', 'auto_merge_enabled']) {
      assert.deepEqual(byAction('pull_request', action), [], action);
    }
    for (const action of ['submitted', 'dismissed']) {
      const texts = byAction('pull_request_review', action);
      assert.ok(
        texts.some((text) => text.startsWith(`pull_request | ${place} pull_request 2 `)),
        action,
      );
    }
  });

  test('every other event that matters says where to look', () => {
    const saysOf = (name: string) => new Set(examplesOf(name).flatMap((example) => told(name, example)));
    assert.ok([...saysOf('push')].some((text) => text.startsWith('branch | Codertocat/Hello-World branch ')));
    assert.ok([...saysOf('check_run')].some((text) => /^checks \| .+ checks [0-9a-f]{40} .+$/.test(text)));
    assert.ok([...saysOf('check_suite')].some((text) => /^checks \| .+ checks [0-9a-f]{40}$/.test(text)));
    assert.ok([...saysOf('workflow_run')].some((text) => /^checks \| .+ checks [0-9a-f]{40}$/.test(text)));
    assert.ok([...saysOf('status')].some((text) => /^checks \| .+ checks [0-9a-f]{40} default$/.test(text)));
    assert.ok([...saysOf('installation')].every((text) => /^access \| [\w-]+\/\* access$/.test(text)));
    assert.ok(saysOf('installation_repositories').size > 0);
    assert.ok([...saysOf('repository')].every((text) => text.startsWith('access | ')));
    assert.ok([...saysOf('branch_protection_rule')].every((text) => text.startsWith('rules | ')));
    assert.ok(saysOf('member').size > 0);
    for (const name of ['star', 'issues', 'ping', 'fork', 'release']) assert.equal(saysOf(name).size, 0, name);
  });

  test('an unknown event gives no hint', () => {
    const payload = { repository: { name: 'app', owner: { login: 'acme' } } };
    for (const event of ['of_tomorrow', 'constructor', '__proto__', 'toString', '']) {
      assert.deepEqual(told(event, payload), []);
    }
  });
});

const REPOSITORY = { name: 'app', owner: { login: 'acme' } };

describe('the subject of a delivery', () => {
  const push = (ref: unknown) => told('push', { ref, repository: REPOSITORY });

  test('branches are pushed to, also when they are deleted; tags are not branches', () => {
    assert.deepEqual(push('refs/heads/release/1.x'), ['branch | acme/app branch release/1.x']);
    assert.deepEqual(push('refs/tags/v1'), []);
    assert.deepEqual(push('refs/heads/'), []);
    assert.deepEqual(push(`refs/heads/${'x'.repeat(2_000)}`), []);
    assert.deepEqual(push('refs/heads/a\0b'), []);
    assert.deepEqual(told('push', { ref: 'refs/heads/a', repository: { name: 'app', owner: { name: 'acme' } } }), [
      'branch | acme/app branch a',
    ]);
  });

  const comment = (values: Json, action = 'created', issue: Json = { number: 7, pull_request: {} }) =>
    told('issue_comment', {
      action,
      issue,
      repository: REPOSITORY,
      comment: { id: 99, node_id: 'IC_99', body: '/sluice merge', ...values },
    });

  test('a new comment on a pull request that holds a command is looked at, once [G130]', () => {
    assert.deepEqual(comment({}), ['comment:99']);
    assert.deepEqual(comment({ body: 'hm\n /TRUNK merge' }), ['comment:99']);
    assert.deepEqual(comment({ body: `${'x'.repeat(60_000)}\n/sluice merge` }), ['comment:99']);
    assert.deepEqual(comment({ body: 'nice work' }), []);
    assert.deepEqual(comment({}, 'edited'), []);
    assert.deepEqual(comment({}, 'deleted'), []);
    assert.deepEqual(comment({}, 'created', { number: 7 }), []);
    assert.deepEqual(comment({ performed_via_github_app: { id: OWN_APP } }), []);
    assert.deepEqual(comment({ performed_via_github_app: { id: 1 } }), ['comment:99']);
  });

  const sha = 'a'.repeat(40);
  const run = (values: Json) =>
    deliver('check_run', {
      repository: REPOSITORY,
      check_run: { head_sha: sha, name: 'unit', status: 'completed', started_at: '2026-01-01T00:00:00Z', ...values },
    });

  test('a check that finished is looked at; our own is not', () => {
    assert.deepEqual(run({}), {
      kind: 'hints',
      hints: [
        {
          ...{ kind: 'checks', sha, check: 'unit', startedAt: Date.UTC(2026, 0, 1) },
          ...{ owner: 'acme', name: 'app', key: `acme/app checks ${sha} unit` },
        },
      ],
    });
    assert.deepEqual(run({ status: 'in_progress' }), { kind: 'hints', hints: [] });
    assert.deepEqual(run({ app: { id: OWN_APP } }), { kind: 'hints', hints: [] });
    assert.deepEqual(run({ head_sha: 'HEAD' }), { kind: 'hints', hints: [] });
  });

  test('a renamed or transferred repository is looked for under its former name [G36]', () => {
    const renamed = { action: 'renamed', repository: REPOSITORY, changes: { repository: { name: { from: 'old' } } } };
    assert.deepEqual(told('repository', renamed), ['access | acme/old access']);
    for (const kind of ['user', 'organization']) {
      const from = { [kind]: { login: 'before' } };
      const transferred = { action: 'transferred', repository: REPOSITORY, changes: { owner: { from } } };
      assert.deepEqual(told('repository', transferred), ['access | before/app access']);
    }
  });

  test('rules of an organization are those of all its repositories', () => {
    assert.deepEqual(told('repository_ruleset', { organization: { login: 'acme' } }), ['rules | acme/* rules']);
    assert.deepEqual(told('repository_ruleset', { repository: REPOSITORY }), ['rules | acme/app rules']);
  });
});

describe('deliveries that cannot be read', () => {
  const answerTo = (body: string | Buffer, headers = {}) => deliver('push', Buffer.from(body), headers).kind;

  test('an unreadable delivery is told apart from one that is not signed', () => {
    for (const body of ['', '{', 'null', '[]', '"a"', Buffer.from([0xff, 0xfe])])
      assert.equal(answerTo(body), 'unreadable');
    assert.equal(answerTo(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 'unreadable');
    assert.equal(answerTo(`{"a":"${'['.repeat(1_000)}\\"["}`), 'hints');
    assert.equal(deliver('push', {}, { 'x-github-event': undefined }).kind, 'unreadable');
  });

  test('a webhook that is set to send forms is read as well', () => {
    const payload = { ref: 'refs/heads/main', repository: REPOSITORY };
    const form = `payload=${encodeURIComponent(JSON.stringify(payload))}`;
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal(answerTo(form, type), 'hints');
    assert.equal(answerTo('other=1', type), 'unreadable');
  });

  test('payloads with anything in any place do no harm', () => {
    const prng = new Prng('webhooks');
    const odd = [null, 0, -1, 1.5, '', 'x', '\ud800', '\0', true, [], {}, { login: 1 }, 'x'.repeat(5_000), 2 ** 60];
    const spoil = (value: unknown): unknown => {
      if (prng.integer(8) === 0) return odd[prng.integer(odd.length)];
      if (Array.isArray(value)) return value.map(spoil);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, spoil(part)]));
    };
    for (const { name, examples } of EXAMPLES) {
      for (const example of examples) {
        for (let round = 0; round < 5; round += 1) {
          const answer = deliver(name, spoil(example));
          if (answer.kind !== 'hints') continue;
          for (const { key } of answer.hints) assert.ok(key.isWellFormed() && !key.includes('\0'));
        }
      }
    }
  });
});
