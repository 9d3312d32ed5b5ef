import type { PrNumber } from '../../engine/model/pull-request.ts';
import { present } from '../../lib/present.ts';
import { instantOf, mayCommand } from '../hosted/forge-text.ts';
import { aboutPullRequest, hint, ofCheck, ofRef, type WebhookRepository } from '../hosted/webhook-hints.ts';
import { countAt, dig, type Payload, shaAt, textAt } from '../hosted/webhook-payload.ts';
import type { WebhookHint } from '../hosting.ts';
import { reportOfJob } from './checks.ts';

interface Event {
  readonly payload: Payload;
  readonly place: WebhookRepository;
  /** The account of this server caused it. */
  readonly isOwn: boolean;
}

// SPEC G181
export function hintsOf(payload: Payload, ownId: number | undefined): readonly WebhookHint[] {
  const kind = textAt(payload, 'object_kind') ?? '';
  const read = Object.hasOwn(READERS, kind) ? READERS[kind] : undefined;
  const place = placeOf(payload);
  if (read === undefined || place === undefined) return [];
  const isOwn = ownId !== undefined && (countAt(payload, 'user', 'id') ?? countAt(payload, 'user_id')) === ownId;
  const id = countAt(payload, 'project', 'id') ?? countAt(payload, 'project_id');
  const forgeId = id === undefined ? undefined : String(id);
  return read({ payload, place, isOwn }).map((each) => ({ ...each, ...present({ forgeId }) }));
}

const READERS: Readonly<Record<string, (event: Event) => readonly WebhookHint[]>> = {
  merge_request: ofMergeRequest,
  note: ofNote,
  push: ofPush,
  pipeline: ofPipeline,
  build: ofJob,
};

/** The events of jobs name the project by its address alone. */
function placeOf(payload: Payload): WebhookRepository | undefined {
  const homepage = textAt(payload, 'repository', 'homepage') ?? '';
  const address = URL.canParse(homepage) ? decodeURI(new URL(homepage).pathname).slice(1) : undefined;
  const path = textAt(payload, 'project', 'path_with_namespace') ?? address;
  const [, owner, name] = /^(.+)\/([^/]+)$/.exec(path ?? '') ?? [];
  return owner === undefined || name === undefined ? undefined : { owner, name };
}

const MAX_LABELS = 100;
/** A change of these alone changes nothing that a queue depends on. */
const IDLE = [
  'updated_at',
  'updated_by_id',
  'assignees',
  'reviewers',
  'milestone_id',
  'total_time_spent',
  'time_estimate',
];

/** This server knows its own acts: labels, drafts for test branches, landings. */
function ofMergeRequest({ payload, place, isOwn }: Event): readonly WebhookHint[] {
  const number = countAt(payload, 'object_attributes', 'iid');
  if (isOwn || number === undefined) return [];
  const changes = Object.keys(dig(payload, 'changes') ?? {});
  const isUpdate = textAt(payload, 'object_attributes', 'action') === 'update';
  const isPush = textAt(payload, 'object_attributes', 'oldrev') !== undefined;
  const labels = isUpdate ? labelsChanged(payload) : titlesIn(dig(payload, 'labels'));
  const hints = [...new Set(labels)]
    .slice(0, MAX_LABELS)
    .map((label) => hint(place, `label ${number} ${label}`, { kind: 'label', number: number as PrNumber, label }));
  const others = changes.filter((name) => name !== 'labels' && !IDLE.includes(name));
  if (isUpdate && !isPush && changes.length > 0 && others.length === 0) return hints;
  const headSha = shaAt(payload, 'object_attributes', 'last_commit', 'id');
  const changedAt = instantOf(textAt(payload, 'object_attributes', 'updated_at'));
  return [aboutPullRequest(place, number, { headSha, changedAt }), ...hints];
}

function labelsChanged(payload: Payload): readonly string[] {
  const [before, after] = ['previous', 'current'].map((side) => titlesIn(dig(payload, 'changes', 'labels', side)));
  const changed = [
    ...(before ?? []).filter((label) => !after?.includes(label)),
    ...(after ?? []).filter((label) => !before?.includes(label)),
  ];
  return changed;
}

function titlesIn(labels: unknown): readonly string[] {
  return Array.isArray(labels) ? labels.flatMap((label) => textAt(label, 'title') ?? []) : [];
}

/** Only new notes can command, and only those with a command in the text yield a hint. */
function ofNote({ payload, place, isOwn }: Event): readonly WebhookHint[] {
  const number = countAt(payload, 'merge_request', 'iid');
  const about = dig(payload, 'object_attributes');
  const id = countAt(about, 'id');
  if (isOwn || number === undefined || id === undefined || textAt(about, 'noteable_type') !== 'MergeRequest') return [];
  // Older servers do not say that it is new.
  if ((textAt(about, 'action') ?? 'create') !== 'create' || dig(about, 'system') === true) return [];
  const body = dig(about, 'note');
  if (typeof body === 'string' && !mayCommand(body)) return [];
  const author = textAt(payload, 'user', 'username');
  const facts = { kind: 'comment', number: number as PrNumber, commentId: String(id), ...present({ author }) } as const;
  return [{ ...facts, ...place, key: `comment:${id}` }];
}

function ofPush({ payload, place }: Event): readonly WebhookHint[] {
  return ofRef(place, textAt(payload, 'ref'));
}

const ENDED = ['success', 'failed', 'canceled', 'skipped'];

/** It may also be of statuses of another CI, which have no events of their own. */
function ofPipeline({ payload, place }: Event): readonly WebhookHint[] {
  const about = dig(payload, 'object_attributes');
  if (!ENDED.includes(textAt(about, 'status') ?? '')) return [];
  return ofCheck(place, { sha: shaAt(about, 'sha'), check: undefined, startedAt: undefined });
}

function ofJob({ payload, place }: Event): readonly WebhookHint[] {
  const [status = '', name] = [textAt(payload, 'build_status'), textAt(payload, 'build_name')];
  const createdAt = textAt(payload, 'build_created_at');
  if (!ENDED.includes(status) || name === undefined) return [];
  const report =
    createdAt === undefined ? undefined : reportOfJob({ name, status, created_at: createdAt, web_url: '' });
  return ofCheck(place, { sha: shaAt(payload, 'sha'), check: name, startedAt: undefined, report });
}
