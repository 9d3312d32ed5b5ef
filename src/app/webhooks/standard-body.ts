import { V2_STATUS_CHANGED } from '../../contract/events.ts';
import type { Evidence } from '../../flaky/core/state.ts';
import { present } from '../../lib/present.ts';
import type { FeedEvent } from '../core/feed-event.ts';
import { type TestView, viewEvidence } from '../tests/test-view.ts';

export interface BodyFacts {
  /** A page about the pull request. */
  readonly detailsUrl: string;
  readonly testBranch?: string | undefined;
  /** The test of a `test_case` event as it is now, and its repository. */
  readonly test?: { readonly view: TestView; readonly repositoryId: string } | undefined;
}

type Data = Readonly<Record<string, unknown>>;
type ReasonField = 'submitted_reason' | 'queued_reason' | 'failure_reason' | 'cancellation_reason' | 'merged_reason';

/** The reasons that receivers know. Others are left out, because the field is optional and its values are not. */
const REASONS: Readonly<Record<ReasonField, ReadonlySet<string>>> = {
  submitted_reason: new Set(['USER_REQUESTED', 'TRUNK_ADMIN_REQUESTED', 'API_REQUESTED']),
  queued_reason: new Set([
    ...['MANUAL_PUSH_TO_TARGET_BRANCH', 'MERGE_ITEM_NOW_READY', 'SKIP_THE_LINE_INTERRUPTED'],
    ...['CANCELLED', 'FAILED', 'MANUALLY_MERGED'].map((end) => `PREREQUISITE_MERGE_ITEM_${end}`),
    ...['TESTS_RESTARTED_BY_USER', 'TESTS_RESTARTED_BY_API_REQUEST'],
    ...['BISECTION_REQUIRED', 'BISECTION_TEST_RUN_PASSED'],
  ]),
  cancellation_reason: new Set([
    ...['USER_REQUESTED', 'TRUNK_ADMIN_REQUESTED', 'NOT_READY_TIMEOUT_EXPIRED', 'PR_MERGED_INTO_OTHER_BRANCH'],
    ...['PR_CLOSED', 'PR_PUSHED_TO', 'PR_BASE_BRANCH_CHANGED', 'PR_CONVERTED_TO_DRAFT'],
  ]),
  merged_reason: new Set(['MERGE_GRAPH_MERGE', 'MANUAL_MERGE', 'MERGE_GRAPH_DIRECT_MERGE']),
  failure_reason: new Set([
    ...['INVALID_EVENT', 'MERGE_CONFLICT', 'CONFIG_NOT_FOUND', 'CONFIG_PARSING_FAILURE'].map(startReason),
    ...['CONFIG_MISSING_REQUIRED_STATUSES', 'CONFIG_BAD_REQUIRED_STATUSES', 'CONFIG_BAD_VERSION'].map(startReason),
    ...['NO_REQUIRED_STATUSES', 'RETRY_EXHAUSTED', 'DRAFT_PRS_NOT_ALLOWED'].map(startReason),
    startReason('PERMISSIONS_BLOCK_TEST_BRANCH'),
    ...['TEST_RUN_REQUIRED_STATUS_FAILED', 'TEST_RUN_TIMEOUT', 'TEST_RUN_FAILED_BY_OPTIMIZATION'],
    ...['GITHUB_API_MERGE_PR_FAILED', 'GITHUB_API_DIRECT_MERGE_PR_FAILED', 'PR_UPDATED_AT_MERGE_TIME'],
    ...['GITHUB_API_BRANCH_PROTECTION_UNMET', 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS'],
    ...['GITHUB_API_RATE_LIMIT_EXCEEDED', 'GITHUB_API_REPEATED_SERVER_ERRORS'],
  ]),
};

function startReason(rest: string): string {
  return `START_TEST_RUN_${rest}`;
}

/** The fields that a word of an event adds to the common ones. */
const EXTRAS: Readonly<Record<string, { reason?: ReasonField; hasRun?: true; hasBisection?: true }>> = {
  submitted: { reason: 'submitted_reason' },
  queued: { reason: 'queued_reason' },
  testing: { hasRun: true, hasBisection: true },
  pending_failure: { reason: 'failure_reason', hasRun: true },
  failed: { reason: 'failure_reason', hasRun: true, hasBisection: true },
  canceled: { reason: 'cancellation_reason', hasRun: true, hasBisection: true },
  merged: { reason: 'merged_reason', hasRun: true },
};

// SPEC X34
export function standardBody(type: string, event: FeedEvent, facts: BodyFacts): object {
  const [family = '', word = ''] = type.split('.');
  if (family === 'pull_request') return pullRequestBody(word, event, facts);
  if (family === 'pull_request_batch') return batchBody(word, event, facts);
  const { test } = facts;
  if (test === undefined) return event;
  if (type === V2_STATUS_CHANGED) return secondStatusBody(event, test);
  switch (word) {
    case 'status_changed':
      return statusBody(event, test.view);
    case 'monitor_status_changed':
      return monitorBody(event, test);
    case 'quarantining_setting_changed':
      return settingBody(event, test.view);
    default:
      return event;
  }
}

function commonFields({ type, at, repo, targetBranch }: FeedEvent, word: string) {
  return { type, action: word, status: word, repository: repo, target_branch: targetBranch, timestamp: at };
}

function reasonField({ data }: FeedEvent, field: ReasonField | undefined): object {
  const reason = String(data['reason']);
  return field !== undefined && REASONS[field].has(reason) ? { [field]: reason } : {};
}

function pullRequestBody(word: string, event: FeedEvent, { detailsUrl, testBranch }: BodyFacts): object {
  const { reason, hasRun, hasBisection } = EXTRAS[word] ?? {};
  const { data, actor, prNumber } = event;
  const run = { test_branch: testBranch, test_branch_sha: data['testBranchSha'], batched: data['isBatch'] };
  return {
    ...commonFields(event, word),
    author: data['author'] ?? actor.name,
    http_details_url: detailsUrl,
    pr_number: prNumber,
    ...(hasRun ? present(run) : {}),
    ...(hasBisection ? { is_bisection: data['isBisection'] === true } : {}),
    ...reasonField(event, reason),
  };
}

function batchBody(word: string, event: FeedEvent, { testBranch }: BodyFacts): object {
  const { reason, hasBisection } = EXTRAS[word] ?? {};
  const { data } = event;
  return {
    ...commonFields(event, word),
    pr_numbers: data['moved'] ?? data['prNumbers'],
    pr_numbers_in_batch: data['prNumbers'],
    test_branch: testBranch,
    test_branch_sha: data['testBranchSha'],
    ...(hasBisection ? { is_bisection: data['isBisection'] === true } : {}),
    ...reasonField(event, reason),
  };
}

function statusBody({ type, at, data }: FeedEvent, test: TestView): object {
  const current = { value: lower(data['to']), reason: data['reason'] ?? '', timestamp: at };
  const change = { previous_status: lower(data['from']), current_status: current };
  return { type, test_case: wholeTest(test), status_change: change };
}

function lower(value: unknown): string {
  return String(value).toLowerCase();
}

/** The reference product spells the status of a test in small letters. */
function wholeTest({ status, ...rest }: TestView): object {
  return { ...rest, status: { ...status, value: lower(status.value) } };
}

function secondStatusBody({ at, data }: FeedEvent, { view, repositoryId }: NonNullable<BodyFacts['test']>): object {
  const [monitor] = (data['active'] ?? []) as readonly Data[];
  const by = monitor && {
    monitor_id: monitor['monitorId'],
    monitor_type: monitor['type'],
    monitor_status: 'active',
  };
  return {
    type: V2_STATUS_CHANGED,
    timestamp: at,
    previous_status: String(data['from']).toUpperCase(),
    new_status: String(data['to']).toUpperCase(),
    triggered_by: by ?? null,
    repository: { id: repositoryId, html_url: view.repository.html_url },
    test_case: shortTest(view),
  };
}

function monitorBody(event: FeedEvent, { view, repositoryId }: NonNullable<BodyFacts['test']>): object {
  const { type, at, data } = event;
  return {
    type,
    timestamp: at,
    monitor: { id: data['monitorId'], type: data['type'], status: data['status'] },
    evidence: data['evidence'] === undefined ? {} : viewEvidence(data['evidence'] as Evidence),
    repository: { id: repositoryId, html_url: view.repository.html_url },
    test_case: shortTest(view),
  };
}

function shortTest({ id, name, classname, file_path, html_url, codeowners, quarantined, variant }: TestView): object {
  return {
    ...{ id, name, classname: classname ?? null, file_path: file_path ?? null },
    ...{ html_url, codeowners, quarantined, variant },
  };
}

function settingBody({ type, at, actor, data }: FeedEvent, test: TestView): object {
  return {
    type,
    test_case: wholeTest(test),
    quarantine_setting_changed: {
      // A token has a name and no address.
      actor: { full_name: actor.name, email: '' },
      reason: data['reason'] ?? null,
      timestamp: at,
      previous_quarantining_setting: data['from'],
      updated_quarantining_setting: data['to'],
    },
  };
}
