import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EVENT_TYPES, V2_STATUS_CHANGED } from '../../contract/events.ts';
import type { FeedEvent } from '../core/feed-event.ts';
import type { TestView } from '../tests/test-view.ts';
import { chatMessage, slackBody, teamsBody } from './chat-message.ts';
import { standardBody } from './standard-body.ts';

const REPO = { host: 'github.com', owner: 'acme', name: 'app' };
const AT = '2026-09-17T10:16:02.000Z';
const EVIDENCE = {
  runs: [{ at: 0, sha: 'c', branch: 'main', uploadId: 'u', job: '', prNumber: 7 }],
  figures: { windowHours: 3 },
};
const FACTS = { detailsUrl: 'https://github.com/acme/app/pull/7', testBranch: 'sluice/pr-7/run' };
const RUN = { testRunId: 'run', isBatch: true, prNumbers: [7, 8, 9], testBranchSha: 'abc', isBisection: true };

function anEvent(type: string, values: Partial<FeedEvent> = {}): FeedEvent {
  const data = { reason: 'X', author: 'ada', title: 'A <b>', url: FACTS.detailsUrl, ...RUN, ...values.data };
  const actor = { kind: 'sluice', name: 'sluice' } as const;
  const about = type.startsWith('pull_request.') ? { prNumber: 7 } : {};
  return { id: '12', type, at: AT, actor, repo: REPO, targetBranch: 'main', ...about, text: '#7: x', ...values, data };
}

const bodyOf = (type: string, reason = 'X', data: object = {}) =>
  standardBody(type, anEvent(type, { data: { reason, ...data } }), FACTS);

const COMMON = { repository: REPO, target_branch: 'main', timestamp: AT };
const BRANCH = { test_branch: 'sluice/pr-7/run', test_branch_sha: 'abc' };

describe('the body of a pull request event [X34]', () => {
  const common = (word: string) => ({
    ...{ type: `pull_request.${word}`, action: word, status: word, ...COMMON },
    ...{ author: 'ada', http_details_url: FACTS.detailsUrl, pr_number: 7 },
  });
  const run = { ...BRANCH, batched: true };
  const bisection = { is_bisection: true };
  for (const [word, reason, extra] of [
    ['submitted', 'API_REQUESTED', { submitted_reason: 'API_REQUESTED' }],
    ['queued', 'BISECTION_REQUIRED', { queued_reason: 'BISECTION_REQUIRED' }],
    ['testing', 'TEST_RUN_STARTED', { ...run, ...bisection }],
    ['pending_failure', 'TEST_RUN_TIMEOUT', { ...run, failure_reason: 'TEST_RUN_TIMEOUT' }],
    [
      'failed',
      'START_TEST_RUN_MERGE_CONFLICT',
      { ...run, ...bisection, failure_reason: 'START_TEST_RUN_MERGE_CONFLICT' },
    ],
    ['canceled', 'PR_CLOSED', { ...run, ...bisection, cancellation_reason: 'PR_CLOSED' }],
    ['merged', 'MERGE_GRAPH_MERGE', { ...run, merged_reason: 'MERGE_GRAPH_MERGE' }],
  ] as const) {
    test(word, () => {
      assert.deepEqual(bodyOf(`pull_request.${word}`, reason), { ...common(word), ...extra });
    });
  }

  test('leaves out a reason that receivers do not know, and a run that was not', () => {
    const queued = bodyOf('pull_request.queued', 'TARGET_BRANCH_GREEN');
    assert.deepEqual(queued, common('queued'));
    assert.deepEqual(bodyOf('pull_request.submitted', 'STACKED_PR_BELOW_LEFT'), common('submitted'));
    const event = { ...anEvent('pull_request.canceled'), data: { reason: 'PR_CLOSED', isBisection: false } };
    const body = standardBody(event.type, event, { detailsUrl: FACTS.detailsUrl });
    const { author: _, ...rest } = common('canceled');
    assert.deepEqual(body, { ...rest, author: 'sluice', is_bisection: false, cancellation_reason: 'PR_CLOSED' });
  });
});

describe('the body of a batch event [X34]', () => {
  for (const [word, reason, extra] of [
    ['submitted', 'X', {}],
    ['queued', 'BISECTION_TEST_RUN_PASSED', { queued_reason: 'BISECTION_TEST_RUN_PASSED' }],
    ['testing', 'X', { is_bisection: true }],
    ['pending_failure', 'TEST_RUN_TIMEOUT', { failure_reason: 'TEST_RUN_TIMEOUT' }],
    ['failed', 'TEST_RUN_TIMEOUT', { failure_reason: 'TEST_RUN_TIMEOUT', is_bisection: true }],
    ['canceled', 'USER_REQUESTED', { cancellation_reason: 'USER_REQUESTED', is_bisection: true }],
    ['merged', 'MANUAL_MERGE', { merged_reason: 'MANUAL_MERGE' }],
  ] as const) {
    test(word, () => {
      const type = `pull_request_batch.${word}`;
      assert.deepEqual(bodyOf(type, reason, { moved: [7, 8] }), {
        ...{ type, action: word, status: word, ...COMMON, ...BRANCH },
        ...{ pr_numbers: [7, 8], pr_numbers_in_batch: [7, 8, 9] },
        ...extra,
      });
    });
  }
});

const VIEW = {
  id: 'test-1',
  repository: { html_url: 'https://github.com/acme/app' },
  html_url: 'https://sluice.test/acme/flaky-tests/test/test-1',
  name: 'pays',
  classname: 'shop',
  file_path: 'pay.ts',
  variant: '',
  status: { value: 'FLAKY', reason: 'r', timestamp: AT },
  codeowners: ['@shop'],
  quarantined: true,
  most_common_failures: [],
  failure_rate_last_7d: 0.5,
  failure_rate_last_24h: 1,
  pull_requests_impacted_last_7d: 2,
} as const satisfies TestView;

describe('the body of an event of a test [X34]', () => {
  const test7 = { view: VIEW, repositoryId: 'repo-1' };
  const bodyOfTest = (type: string, data: object, of = type) =>
    standardBody(type, { ...anEvent(of), data: { ...data } }, { detailsUrl: '', test: test7 });
  const whole = { ...VIEW, status: { ...VIEW.status, value: 'flaky' } };
  const { id, name, classname, file_path, html_url, codeowners, quarantined, variant } = VIEW;
  const short = { id, name, classname, file_path, html_url, codeowners, quarantined, variant };
  const repository = { id: 'repo-1', html_url: VIEW.repository.html_url };
  const active = [{ monitorId: 'm1', type: 'pass_on_retry' }];

  test('of status_changed has the whole test, and its status before and after', () => {
    assert.deepEqual(bodyOfTest('test_case.status_changed', { from: 'HEALTHY', to: 'FLAKY', reason: 'it flips' }), {
      type: 'test_case.status_changed',
      test_case: whole,
      status_change: {
        previous_status: 'healthy',
        current_status: { value: 'flaky', reason: 'it flips', timestamp: AT },
      },
    });
  });

  test('of v2 status_changed names the monitor that triggered it, or none', () => {
    const change = { from: 'HEALTHY', to: 'FLAKY', active };
    const body = {
      ...{ type: V2_STATUS_CHANGED, timestamp: AT, previous_status: 'HEALTHY', new_status: 'FLAKY' },
      triggered_by: { monitor_id: 'm1', monitor_type: 'pass_on_retry', monitor_status: 'active' },
      ...{ repository, test_case: short },
    };
    assert.deepEqual(bodyOfTest(V2_STATUS_CHANGED, change, 'test_case.status_changed'), body);
    const healed = bodyOfTest(V2_STATUS_CHANGED, { from: 'FLAKY', to: 'HEALTHY', active: [] });
    assert.equal((healed as typeof body).triggered_by, null);
  });

  test('of monitor_status_changed has the monitor, its new status and the evidence', () => {
    const run = { at: '1970-01-01T00:00:00.000Z', sha: 'c', branch: 'main', upload_id: 'u', pr_number: 7 };
    const evidence = { runs: [run], figures: [{ name: 'window_hours', value: 3 }] };
    const data = { monitorId: 'm1', type: 'pass_on_retry', status: 'resolved', evidence: EVIDENCE };
    assert.deepEqual(bodyOfTest('test_case.monitor_status_changed', data), {
      ...{ type: 'test_case.monitor_status_changed', timestamp: AT },
      monitor: { id: 'm1', type: 'pass_on_retry', status: 'resolved' },
      ...{ evidence, repository, test_case: short },
    });
  });

  test('of quarantining_setting_changed has the actor, and the setting before and after', () => {
    const data = { from: 'UNSPECIFIED', to: 'ALWAYS_QUARANTINE' };
    assert.deepEqual(bodyOfTest('test_case.quarantining_setting_changed', data), {
      type: 'test_case.quarantining_setting_changed',
      test_case: whole,
      quarantine_setting_changed: {
        actor: { full_name: 'sluice', email: '' },
        reason: null,
        timestamp: AT,
        previous_quarantining_setting: 'UNSPECIFIED',
        updated_quarantining_setting: 'ALWAYS_QUARANTINE',
      },
    });
  });
});

test('every other type is sent as listEvents shows it [X34]', () => {
  const own = EVENT_TYPES.filter((type) => !/^(?:pull_request|pull_request_batch|test_case)\./.test(type));
  assert.ok(own.length > 15);
  for (const type of own) assert.deepEqual(bodyOf(type), anEvent(type));
});

describe('a message to people [X35]', () => {
  const event = anEvent('pull_request.failed', { text: '#7: Removed: <test> failed & more.' });

  test('has sentence, place, link and next step, with the markup of Slack escaped', () => {
    const message = chatMessage(event, null);
    assert.deepEqual(slackBody(message), {
      text: 'acme/app (main) #7: Removed: &lt;test&gt; failed &amp; more. Read what to do: sluice pr status.',
      blocks: [
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: '*acme/app (main)* #7: Removed: &lt;test&gt; failed &amp; more.\n<https://github.com/acme/app/pull/7|#7 A &lt;b&gt;>\n_Read what to do: sluice pr status._',
          },
        },
      ],
      unfurl_links: false,
    });
  });

  test('is an adaptive card for Teams', () => {
    const message = chatMessage(anEvent('pull_request.failed', { text: '#7: a_b [c]' }), null);
    const body = teamsBody(message) as { attachments: [{ contentType: string; content: Record<string, unknown> }] };
    const [{ contentType, content }] = body.attachments;
    assert.equal(contentType, 'application/vnd.microsoft.card.adaptive');
    const texts = (content['body'] as { text: string }[]).map(({ text }) => text);
    assert.deepEqual(texts, ['acme/app (main)', '#7: a\\_b \\[c\\]', 'Read what to do: sluice pr status.']);
    assert.deepEqual(content['actions'], [
      { type: 'Action.OpenUrl', title: '#7 A <b>', url: 'https://github.com/acme/app/pull/7' },
    ]);
  });

  test('names all pull requests that it stands for, and needs neither link nor step', () => {
    assert.equal(
      chatMessage(event, [7, 8, 9]).sentence,
      '#7, #8, #9 were removed from the queue for main: their batch failed.',
    );
    const bare: FeedEvent = { id: '1', type: 'token.created', at: AT, actor: event.actor, text: 'A token.', data: {} };
    assert.deepEqual(chatMessage(bare, null), { sentence: 'A token.', where: '' });
    assert.equal((slackBody(chatMessage(bare, null)) as { text: string }).text, 'A token.');
  });
});
