import type { PrNumber } from '../../engine/model/pull-request.ts';
import { present } from '../../lib/present.ts';
import { instantOf, mayCommand } from '../hosted/forge-text.ts';
import { checkIn, ofAccess, ofPush, placeOf, pullRequestIn } from '../hosted/github-payload.ts';
import { accessTo, hint } from '../hosted/webhook-hints.ts';
import { countAt, dig, type Payload, shaAt, textAt } from '../hosted/webhook-payload.ts';
import type { WebhookHint } from '../hosting.ts';

interface Event {
  readonly payload: Payload;
  readonly action: string | undefined;
  readonly ownAppId: number | undefined;
}

type Read = (event: Event) => readonly WebhookHint[];

export function hintsOf(event: string, payload: Payload, ownAppId: number | undefined): readonly WebhookHint[] {
  const read = Object.hasOwn(READERS, event) ? READERS[event] : undefined;
  return read?.({ payload, action: textAt(payload, 'action'), ownAppId }) ?? [];
}

const READERS: Readonly<Record<string, Read>> = {
  pull_request: ofPullRequest,
  pull_request_review: ofReview,
  pull_request_review_thread: ofReview,
  issue_comment: ofComment,
  push: ofPush,
  check_run: ofCheckRun,
  check_suite: (event) => ofFinished(event, 'check_suite'),
  workflow_run: (event) => ofFinished(event, 'workflow_run'),
  status: ofStatus,
  repository: ofRepository,
  public: ofAccess,
  installation: ofInstallation,
  installation_repositories: ofInstallation,
  branch_protection_rule: ofRules,
  branch_protection_configuration: ofRules,
  repository_ruleset: ofRules,
  member: ofRules,
  membership: ofRules,
  organization: ofRules,
  team: ofRules,
  team_add: ofRules,
};

/** These actions change nothing that a queue depends on. */
const IDLE_ACTIONS: readonly (string | undefined)[] = [
  ...['assigned', 'unassigned', 'locked', 'unlocked', 'milestoned', 'demilestoned', 'enqueued', 'dequeued'],
  ...['auto_merge_enabled', 'auto_merge_disabled', 'review_requested', 'review_request_removed'],
];

function ofPullRequest({ payload, action }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  const number = countAt(payload, 'pull_request', 'number') ?? countAt(payload, 'number');
  if (place === undefined || number === undefined || IDLE_ACTIONS.includes(action)) return [];
  if (action !== 'labeled' && action !== 'unlabeled') return [pullRequestIn(place, number, payload)];
  const label = textAt(payload, 'label', 'name');
  if (label === undefined) return [];
  return [hint(place, `label ${number} ${label}`, { kind: 'label', number: number as PrNumber, label })];
}

/** Reviews and resolved threads change whether the pull request can be merged. */
function ofReview({ payload }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  const number = countAt(payload, 'pull_request', 'number');
  return place === undefined || number === undefined ? [] : [pullRequestIn(place, number, payload)];
}

/** Only new comments can command, and only those with a command in the text yield a hint. */
function ofComment({ payload, action, ownAppId }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  const number = countAt(payload, 'issue', 'number');
  const id = countAt(payload, 'comment', 'id');
  const nodeId = textAt(payload, 'comment', 'node_id');
  if (place === undefined || number === undefined || id === undefined || nodeId === undefined) return [];
  const isOfPullRequest = dig(payload, 'issue', 'pull_request') !== undefined;
  if (
    action !== 'created' ||
    !isOfPullRequest ||
    isOwn(dig(payload, 'comment', 'performed_via_github_app'), ownAppId)
  ) {
    return [];
  }
  const body = dig(payload, 'comment', 'body');
  if (typeof body === 'string' && !mayCommand(body)) return [];
  const author = textAt(payload, 'comment', 'user', 'login');
  const about = {
    kind: 'comment',
    number: number as PrNumber,
    commentId: String(id),
    nodeId,
    ...present({ author }),
  } as const;
  return [{ ...about, ...place, key: `comment:${id}` }];
}

/** Only finished checks yield a hint. The next poll sees a check that started. */
function ofCheckRun({ payload, ownAppId }: Event): readonly WebhookHint[] {
  const run = dig(payload, 'check_run');
  if (textAt(run, 'status') !== 'completed' || isOwn(dig(run, 'app'), ownAppId)) return [];
  return checkIn(payload, {
    sha: shaAt(run, 'head_sha'),
    check: textAt(run, 'name'),
    startedAt: instantOf(textAt(run, 'started_at')),
  });
}

function ofStatus({ payload }: Event): readonly WebhookHint[] {
  if (textAt(payload, 'state') === 'pending') return [];
  return checkIn(payload, { sha: shaAt(payload, 'sha'), check: textAt(payload, 'context'), startedAt: undefined });
}

function ofFinished({ payload, action, ownAppId }: Event, subject: string): readonly WebhookHint[] {
  const of = dig(payload, subject);
  if (action !== 'completed' || isOwn(dig(of, 'app'), ownAppId)) return [];
  return checkIn(payload, { sha: shaAt(of, 'head_sha'), check: undefined, startedAt: undefined });
}

/** The server knows the repository by its former name. A lookup of that name answers the present one. */
function ofRepository({ payload, action }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  if (place === undefined) return [];
  const formerName = textAt(payload, 'changes', 'repository', 'name', 'from');
  const from = dig(payload, 'changes', 'owner', 'from');
  const formerOwner = textAt(from, 'user', 'login') ?? textAt(from, 'organization', 'login');
  if (action === 'renamed' && formerName !== undefined) return accessTo({ ...place, name: formerName });
  if (action === 'transferred' && formerOwner !== undefined) return accessTo({ ...place, owner: formerOwner });
  return accessTo(place);
}

function ofInstallation({ payload }: Event): readonly WebhookHint[] {
  const owner = textAt(payload, 'installation', 'account', 'login');
  return owner === undefined ? [] : accessTo({ owner, name: '*' });
}

/** An organization's rules and permissions apply to all its repositories. */
function ofRules({ payload }: Event): readonly WebhookHint[] {
  const owner = textAt(payload, 'organization', 'login');
  const place = placeOf(payload) ?? (owner === undefined ? undefined : { owner, name: '*' });
  return place === undefined ? [] : [hint(place, 'rules', { kind: 'rules' })];
}

function isOwn(app: unknown, ownAppId: number | undefined): boolean {
  return ownAppId !== undefined && countAt(app, 'id') === ownAppId;
}
