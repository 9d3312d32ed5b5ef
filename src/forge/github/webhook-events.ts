import { isUtf8 } from 'node:buffer';
import type { PrNumber } from '../../engine/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { HintSubject, RepositoryName, WebhookHint } from '../hosting.ts';
import { instantOf } from './checks.ts';
import { mayCommand } from './permissions.ts';

interface Event {
  readonly payload: Payload;
  readonly action: string | undefined;
  readonly ownAppId: number | undefined;
}

/** One repository, or all of an owner with the name `*`. */
type WebhookRepository = RepositoryName;

type Read = (event: Event) => readonly WebhookHint[];

/** Turns a webhook into hints for queues. Other events yield none. */
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
  if (action !== 'labeled' && action !== 'unlabeled') return [aboutPullRequest(place, number, payload)];
  const label = textAt(payload, 'label', 'name');
  if (label === undefined) return [];
  return [hint(place, `label ${number} ${label}`, { kind: 'label', number: number as PrNumber, label })];
}

/** Reviews and resolved threads change whether the pull request can be merged. */
function ofReview({ payload }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  const number = countAt(payload, 'pull_request', 'number');
  return place === undefined || number === undefined ? [] : [aboutPullRequest(place, number, payload)];
}

function aboutPullRequest(place: WebhookRepository, number: number, payload: Payload): WebhookHint {
  const headSha = shaAt(payload, 'pull_request', 'head', 'sha');
  const changedAt = instantOf(textAt(payload, 'pull_request', 'updated_at'));
  // The key contains the head, so a late webhook about an older head does not replace a newer hint.
  return hint(place, `pull_request ${number} ${headSha ?? ''}`, {
    kind: 'pull_request',
    number: number as PrNumber,
    headSha,
    ...(changedAt === undefined ? {} : { changedAt }),
  });
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
    ...(author === undefined ? {} : { author }),
  } as const;
  return [{ ...about, ...place, key: `comment:${id}` }];
}

/** Tags yield no hint. GitHub also reports the deletion of a branch as a push. */
function ofPush({ payload }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  const branch = /^refs\/heads\/(.+)$/s.exec(textAt(payload, 'ref') ?? '')?.[1];
  return place === undefined || branch === undefined
    ? []
    : [hint(place, `branch ${branch}`, { kind: 'branch', branch })];
}

/** Only finished checks yield a hint. The next poll sees a check that started. */
function ofCheckRun({ payload, ownAppId }: Event): readonly WebhookHint[] {
  const run = dig(payload, 'check_run');
  if (textAt(run, 'status') !== 'completed' || isOwn(dig(run, 'app'), ownAppId)) return [];
  return ofCheck(payload, {
    sha: shaAt(run, 'head_sha'),
    check: textAt(run, 'name'),
    startedAt: instantOf(textAt(run, 'started_at')),
  });
}

function ofStatus({ payload }: Event): readonly WebhookHint[] {
  if (textAt(payload, 'state') === 'pending') return [];
  return ofCheck(payload, { sha: shaAt(payload, 'sha'), check: textAt(payload, 'context'), startedAt: undefined });
}

interface FinishedCheck {
  readonly sha: Sha | undefined;
  readonly check: string | undefined;
  readonly startedAt: Instant | undefined;
}

function ofCheck(payload: Payload, { sha, check, startedAt }: FinishedCheck): readonly WebhookHint[] {
  const place = placeOf(payload);
  if (place === undefined || sha === undefined) return [];
  const attempt = startedAt === undefined ? {} : { startedAt };
  const about = { kind: 'checks', sha, ...(check === undefined ? {} : { check, ...attempt }) } as const;
  return [hint(place, `checks ${sha}${check === undefined ? '' : ` ${check}`}`, about)];
}

function ofFinished({ payload, action, ownAppId }: Event, subject: string): readonly WebhookHint[] {
  const of = dig(payload, subject);
  if (action !== 'completed' || isOwn(dig(of, 'app'), ownAppId)) return [];
  return ofCheck(payload, { sha: shaAt(of, 'head_sha'), check: undefined, startedAt: undefined });
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

function ofAccess({ payload }: Event): readonly WebhookHint[] {
  const place = placeOf(payload);
  return place === undefined ? [] : accessTo(place);
}

function ofInstallation({ payload }: Event): readonly WebhookHint[] {
  const owner = textAt(payload, 'installation', 'account', 'login');
  return owner === undefined ? [] : accessTo({ owner, name: '*' });
}

function accessTo(place: WebhookRepository): readonly WebhookHint[] {
  return [hint(place, 'access', { kind: 'access' })];
}

/** An organization's rules and permissions apply to all its repositories. */
function ofRules({ payload }: Event): readonly WebhookHint[] {
  const owner = textAt(payload, 'organization', 'login');
  const place = placeOf(payload) ?? (owner === undefined ? undefined : { owner, name: '*' });
  return place === undefined ? [] : [hint(place, 'rules', { kind: 'rules' })];
}

function hint(place: WebhookRepository, about: string, facts: HintSubject): WebhookHint {
  return { ...facts, ...place, key: `${place.owner}/${place.name} ${about}` };
}

/** In a push, older servers send only the owner's `name`. */
function placeOf(payload: Payload): WebhookRepository | undefined {
  const name = textAt(payload, 'repository', 'name');
  const owner = textAt(payload, 'repository', 'owner', 'login') ?? textAt(payload, 'repository', 'owner', 'name');
  return owner === undefined || name === undefined ? undefined : { owner, name };
}

function isOwn(app: unknown, ownAppId: number | undefined): boolean {
  return ownAppId !== undefined && countAt(app, 'id') === ownAppId;
}

function shaAt(value: unknown, ...names: readonly string[]): Sha | undefined {
  const sha = textAt(value, ...names);
  return sha !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha) ? (sha as Sha) : undefined;
}

/** A bound against deeply nested input. GitHub's payloads are much flatter. */
const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

type Payload = Readonly<Record<string, unknown>>;

/**
 * Answers the payload of a signed delivery, or a sentence why it cannot be read. A repository's webhook may be set to
 * send a form.
 */
export function parsePayload(body: Buffer, contentType: string): Payload | string {
  const json = contentType.startsWith('application/x-www-form-urlencoded') ? fromForm(body) : body;
  if (!isUtf8(json)) return 'It is not UTF-8.';
  if (isTooDeep(json)) return `It is nested more than ${MAX_DEPTH} levels deep.`;
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isObject(value) ? value : 'It is not a JSON object.';
  } catch {
    return 'It is not JSON.';
  }
}

function fromForm(body: Buffer): Buffer {
  return Buffer.from(new URLSearchParams(body.toString('utf8')).get('payload') ?? '', 'utf8');
}

function isTooDeep(json: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (CLOSING.has(byte)) depth -= 1;
  }
  return false;
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows the names down. Undefined when one is missing. */
function dig(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** Undefined for a text that is longer than any name, ref or id of GitHub, or that a store cannot keep. */
function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = dig(value, ...names);
  const isUsable =
    typeof found === 'string' && found !== '' && found.length <= 1_000 && !found.includes('\0') && found.isWellFormed();
  return isUsable ? found : undefined;
}

function countAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = dig(value, ...names);
  return typeof found === 'number' && Number.isSafeInteger(found) && found > 0 ? found : undefined;
}
