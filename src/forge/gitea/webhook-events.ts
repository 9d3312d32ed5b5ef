import type { PrNumber } from '../../engine/model/pull-request.ts';
import { present } from '../../lib/present.ts';
import { mayCommand } from '../hosted/forge-text.ts';
import { checkIn, ofAccess, ofPush, placeOf, pullRequestIn } from '../hosted/github-payload.ts';
import { hint } from '../hosted/webhook-hints.ts';
import { countAt, dig, type Payload, shaAt, textAt } from '../hosted/webhook-payload.ts';
import type { CheckReport, WebhookHint } from '../hosting.ts';
import { reportOf } from './statuses.ts';

interface Event {
  readonly payload: Payload;
  readonly action: string | undefined;
  /** The account of this server caused it. */
  readonly isOwn: boolean;
}

// SPEC G168
export function hintsOf(event: string, payload: Payload, ownId: number | undefined): readonly WebhookHint[] {
  const read = Object.hasOwn(READERS, event) ? READERS[event] : undefined;
  const isOwn = ownId !== undefined && countAt(payload, 'sender', 'id') === ownId;
  const hints = read?.({ payload, action: textAt(payload, 'action'), isOwn }) ?? [];
  const id = countAt(payload, 'repository', 'id');
  return id === undefined ? hints : hints.map((each) => ({ ...each, forgeId: String(id) }));
}

const READERS: Readonly<Record<string, (event: Event) => readonly WebhookHint[]>> = {
  pull_request: ofPullRequest,
  pull_request_approved: ofPullRequest,
  pull_request_rejected: ofPullRequest,
  pull_request_comment: ofPullRequest,
  issue_comment: ofComment,
  push: ofPush,
  create: ofBranch,
  delete: ofBranch,
  status: ofStatus,
  repository: ofAccess,
};

/** These actions change nothing that a queue depends on. */
const IDLE_ACTIONS: readonly (string | undefined)[] = ['assigned', 'unassigned', 'milestoned', 'demilestoned'];

/** This server knows its own acts: labels, pull requests for test branches, landings. */
function ofPullRequest({ payload, action, isOwn }: Event): readonly WebhookHint[] {
  const place = isOwn ? undefined : placeOf(payload);
  const number = countAt(payload, 'pull_request', 'number') ?? countAt(payload, 'number');
  if (place === undefined || number === undefined || IDLE_ACTIONS.includes(action)) return [];
  const about = pullRequestIn(place, number, payload);
  // Gitea does not say which label it was.
  const isLabel = action === 'label_updated' || action === 'label_cleared';
  return isLabel ? [hint(place, `label ${number}`, { kind: 'label', number: number as PrNumber })] : [about];
}

/** Only new comments can command, and only those with a command in the text yield a hint. */
function ofComment({ payload, action, isOwn }: Event): readonly WebhookHint[] {
  const place = isOwn ? undefined : placeOf(payload);
  const number = countAt(payload, 'issue', 'number');
  const id = countAt(payload, 'comment', 'id');
  if (place === undefined || number === undefined || id === undefined) return [];
  if (action !== 'created' || dig(payload, 'is_pull') !== true) return [];
  const body = dig(payload, 'comment', 'body');
  if (typeof body === 'string' && !mayCommand(body)) return [];
  const author = textAt(payload, 'comment', 'user', 'login');
  const about = { kind: 'comment', number: number as PrNumber, commentId: String(id) } as const;
  return [{ ...about, ...present({ author }), ...place, key: `comment:${id}` }];
}

/** The creation and the deletion of a branch name it without `refs/heads/`. */
function ofBranch({ payload }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  const branch = textAt(payload, 'ref');
  if (place === undefined || branch === undefined || textAt(payload, 'ref_type') !== 'branch') return [];
  return [hint(place, `branch ${branch}`, { kind: 'branch', branch })];
}

function ofStatus({ payload, isOwn }: Event): readonly WebhookHint[] {
  const state = textAt(payload, 'state');
  if (isOwn || state === 'pending') return [];
  const check = textAt(payload, 'context');
  const report = check === undefined || state === undefined ? undefined : reportIn(payload, check, state);
  return checkIn(payload, { sha: shaAt(payload, 'sha'), check, startedAt: undefined, report });
}

/** The account that set the status is the sender. */
function reportIn(payload: Payload, context: string, status: string): CheckReport | undefined {
  const [id, senderId, login] = [
    countAt(payload, 'id'),
    countAt(payload, 'sender', 'id'),
    textAt(payload, 'sender', 'login'),
  ];
  const created = textAt(payload, 'created_at');
  if (id === undefined || senderId === undefined || login === undefined || created === undefined) return undefined;
  return reportOf(
    {
      id,
      status,
      context,
      description: textAt(payload, 'description') ?? null,
      target_url: textAt(payload, 'target_url') ?? null,
      creator: { id: senderId, login },
      created_at: created,
    },
    [],
  );
}
