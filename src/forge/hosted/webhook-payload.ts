import { isUtf8 } from 'node:buffer';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CheckReport, HintSubject, RepositoryName, WebhookHint } from '../hosting.ts';
import { instantOf } from './forge-text.ts';

/** One repository, or all of an owner with the name `*`. */
export type WebhookRepository = RepositoryName;

export function aboutPullRequest(place: WebhookRepository, number: number, payload: Payload): WebhookHint {
  const headSha = shaAt(payload, 'pull_request', 'head', 'sha');
  const changedAt = instantOf(textAt(payload, 'pull_request', 'updated_at'));
  // The key contains the head, so a late webhook about an older head does not replace a newer hint.
  return hint(place, `pull_request ${number} ${headSha ?? ''}`, {
    kind: 'pull_request',
    number: number as PrNumber,
    headSha,
    ...present({ changedAt }),
  });
}

/** Tags yield no hint. GitHub reports the deletion of a branch as a push. */
export function ofPush({ payload }: { readonly payload: Payload }): readonly WebhookHint[] {
  const place = placeOf(payload);
  const branch = /^refs\/heads\/(.+)$/s.exec(textAt(payload, 'ref') ?? '')?.[1];
  return place === undefined || branch === undefined
    ? []
    : [hint(place, `branch ${branch}`, { kind: 'branch', branch })];
}

interface FinishedCheck {
  readonly sha: Sha | undefined;
  readonly check: string | undefined;
  readonly startedAt: Instant | undefined;
  readonly report?: CheckReport | undefined;
}

export function ofCheck(payload: Payload, finished: FinishedCheck): readonly WebhookHint[] {
  const { sha, check, startedAt, report } = finished;
  const place = placeOf(payload);
  if (place === undefined || sha === undefined) return [];
  const attempt = check === undefined ? {} : present({ check, startedAt, report });
  const about = { kind: 'checks', sha, ...attempt } as const;
  return [hint(place, `checks ${sha}${check === undefined ? '' : ` ${check}`}`, about)];
}

export function accessTo(place: WebhookRepository): readonly WebhookHint[] {
  return [hint(place, 'access', { kind: 'access' })];
}

export function ofAccess({ payload }: { readonly payload: Payload }): readonly WebhookHint[] {
  const place = placeOf(payload);
  return place === undefined ? [] : accessTo(place);
}

export function hint(place: WebhookRepository, about: string, facts: HintSubject): WebhookHint {
  return { ...facts, ...place, key: `${place.owner}/${place.name} ${about}` };
}

/** In a push, older servers send only the owner's `name`. */
export function placeOf(payload: Payload): WebhookRepository | undefined {
  const name = textAt(payload, 'repository', 'name');
  const owner = textAt(payload, 'repository', 'owner', 'login') ?? textAt(payload, 'repository', 'owner', 'name');
  return owner === undefined || name === undefined ? undefined : { owner, name };
}

export function shaAt(value: unknown, ...names: readonly string[]): Sha | undefined {
  const sha = textAt(value, ...names);
  return sha !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha) ? (sha as Sha) : undefined;
}

export type Payload = Readonly<Record<string, unknown>>;

/** The payload of a signed delivery, or a sentence why there is none. A webhook may be set to send a form. */
export function parsePayload(body: Buffer, contentType: string): Payload | string {
  const json = contentType.startsWith('application/x-www-form-urlencoded') ? fromForm(body) : body;
  if (!isUtf8(json)) return 'It is not UTF-8.';
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

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows the names down. Undefined when one is missing. */
export function dig(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** Undefined for a text that is longer than any name, ref or id of a forge, or that a store cannot keep. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = dig(value, ...names);
  const isUsable =
    typeof found === 'string' && found !== '' && found.length <= 1_000 && !found.includes('\0') && found.isWellFormed();
  return isUsable ? found : undefined;
}

export function countAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = dig(value, ...names);
  return typeof found === 'number' && Number.isSafeInteger(found) && found > 0 ? found : undefined;
}
