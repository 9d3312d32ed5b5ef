import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { createGiteaDeliveryReader } from './webhook.ts';
import { hintsOf } from './webhook-events.ts';

const repository = { name: 'app', owner: { login: 'acme' } };
const sha = 'a'.repeat(40);
const about = (event: string, payload: Readonly<Record<string, unknown>>) =>
  hintsOf(event, { repository, ...payload }, 3).map(({ key: _, owner: __, name: ___, ...rest }) => rest);

describe('webhooks of Gitea', () => {
  it('webhooks say which objects to read again [G168]', () => {
    const pull_request = { number: 7, head: { sha }, updated_at: '2026-01-02T03:04:05Z' };
    const changedAt = Date.UTC(2026, 0, 2, 3, 4, 5);
    const pull = { kind: 'pull_request', number: 7, headSha: sha, changedAt };
    assert.deepEqual(about('pull_request', { action: 'synchronized', pull_request }), [pull]);
    assert.deepEqual(about('pull_request_approved', { action: 'reviewed', pull_request }), [pull]);
    assert.deepEqual(about('pull_request', { action: 'label_updated', pull_request }), [{ kind: 'label', number: 7 }]);
    assert.deepEqual(about('pull_request', { action: 'assigned', pull_request }), []);
    assert.deepEqual(about('push', { ref: 'refs/heads/release/1' }), [{ kind: 'branch', branch: 'release/1' }]);
    assert.deepEqual(about('delete', { ref: 'main', ref_type: 'branch' }), [{ kind: 'branch', branch: 'main' }]);
    assert.deepEqual(about('create', { ref: 'v1', ref_type: 'tag' }), []);
    assert.deepEqual(about('status', { sha, state: 'success', context: 'ci' }), [{ kind: 'checks', sha, check: 'ci' }]);
    assert.deepEqual(about('status', { sha, state: 'pending', context: 'ci' }), []);
    const sender = { id: 4, login: 'bot' };
    const told = { sha, state: 'success', context: 'ci', id: 9, created_at: '2026-01-02T03:04:05Z', sender };
    const report = {
      name: 'ci',
      reporter: 'bot',
      reporterId: '4',
      status: 'COMPLETED',
      conclusion: 'SUCCESS',
      startedAt: changedAt,
      url: undefined,
      summary: undefined,
    };
    assert.deepEqual(about('status', told), [{ kind: 'checks', sha, check: 'ci', report }]);
    assert.deepEqual(about('repository', { action: 'deleted' }), [{ kind: 'access' }]);
    assert.deepEqual(about('fork', {}), []);
    assert.deepEqual(about('toString', {}), []);
  });

  it('webhooks tell of new comments with a command on pull requests alone [G168]', () => {
    const comment = { id: 9, body: '/sluice merge', user: { login: 'ada' } };
    const payload = { action: 'created', is_pull: true, issue: { number: 7 }, comment };
    assert.deepEqual(about('issue_comment', payload), [{ kind: 'comment', number: 7, commentId: '9', author: 'ada' }]);
    assert.deepEqual(about('issue_comment', { ...payload, is_pull: false }), []);
    assert.deepEqual(about('issue_comment', { ...payload, sender: { id: 3 } }), [], 'it is our own');
    assert.deepEqual(about('issue_comment', { ...payload, action: 'edited' }), []);
    assert.deepEqual(about('issue_comment', { ...payload, comment: { ...comment, body: 'thanks' } }), []);
  });

  it('webhooks are believed by their own signature, and an empty one of a hook without a secret never fits [G168]', () => {
    const body = Buffer.from(JSON.stringify({ repository, ref: 'refs/heads/main' }));
    const hintsOfAny = (event: string, payload: object) => hintsOf(event, payload as never, 3);
    const { readDelivery: read } = createGiteaDeliveryReader(hintsOfAny, { secret: () => 'a long secret' });
    const events = { 'x-gitea-event': 'push', 'x-github-event': 'status' };
    const signed = (signature: string | undefined) => ({ ...events, 'x-gitea-signature': signature });
    const hmac = (secret: string) => createHmac('sha256', secret).update(body).digest('hex');
    const answer = read({ headers: signed(hmac('a long secret')), body });
    assert.equal(answer.kind === 'hints' && answer.hints[0]?.kind, 'branch');
    for (const wrong of ['', undefined, 'a'.repeat(64)])
      assert.equal(read({ headers: signed(wrong), body }).kind, 'unsigned');
    const none = createGiteaDeliveryReader(hintsOfAny, { secret: () => undefined });
    assert.equal(none.readDelivery({ headers: signed(hmac('')), body }).kind, 'unsigned');
  });
});
