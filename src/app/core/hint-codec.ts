import { hash } from 'node:crypto';
import type { Notice } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import type { NoticeRow } from '../../storage/notices.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';

/** Longer ones would be too long for an index. */
const MAX_KEY_LENGTH = 500;
/** A commit's checks often finish together, and what they belong to right after them. */
const SETTLING_MS = 2_000;

/** How far a repository was looked at without being told of anything. */
export interface LookState {
  readonly repositoryId: RepositoryId;
  /** What changed after it has not been seen. */
  readonly since: Instant;
}

export const LOOK_KIND = 'look';

/** Our clock may be ahead of the forge's. */
export const CLOCK_LEEWAY_MS = 60_000;

/** Of a repository that was never looked at: what changed from about now on is new. */
export function firstLook(repositoryId: RepositoryId, now: Instant): LookState {
  return { repositoryId, since: now - CLOCK_LEEWAY_MS };
}

/** One of our repositories, which several organizations may have, and which may be renamed before somebody looks. */
export interface PlacedNotice {
  readonly repositoryId: RepositoryId;
  readonly notice: Notice;
}

export function encodeNotice(
  repository: Repository,
  notice: Notice,
  now: Instant,
  delayMs = delayOf(notice),
): NoticeRow {
  const { id: repositoryId, host } = repository;
  const key = notice.key.length <= MAX_KEY_LENGTH ? notice.key : hash('sha256', notice.key);
  return {
    host,
    key: `${key} ${repositoryId}`,
    kind: notice.kind,
    body: JSON.stringify({ repositoryId, notice } satisfies PlacedNotice),
    receivedAt: now,
    dueAt: now + delayMs,
  };
}

export function decodeNotice({ body }: Pick<NoticeRow, 'body'>): PlacedNotice {
  return JSON.parse(body) as PlacedNotice;
}

export function encodeLook(
  host: string,
  state: LookState,
  { now, dueAt }: { now: Instant; dueAt: Instant },
): NoticeRow {
  return {
    host,
    key: `${LOOK_KIND} ${state.repositoryId}`,
    kind: LOOK_KIND,
    body: encodeLookState(state),
    receivedAt: now,
    dueAt,
  };
}

export function encodeLookState({ repositoryId, since }: LookState): string {
  return JSON.stringify({ repositoryId, since });
}

export function decodeLookState({ body }: Pick<NoticeRow, 'body'>): LookState {
  return JSON.parse(body) as LookState;
}

function delayOf(notice: Notice): number {
  return notice.kind === 'checks' && notice.check === undefined ? SETTLING_MS : 0;
}
