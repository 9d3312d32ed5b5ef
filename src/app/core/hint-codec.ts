import { hash } from 'node:crypto';
import type { WebhookHint } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import type { HintRow } from '../../storage/hints.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';

/** A longer key would not fit into an index. */
const MAX_KEY_LENGTH = 500;
/** The checks of a commit often finish together, and the pull request changes right after them. */
const SETTLING_MS = 2_000;

/** How far the poller has read a repository. */
interface PollState {
  readonly repositoryId: RepositoryId;
  /** Changes after this instant have not been read. */
  readonly since: Instant;
}

export const POLL_KIND = 'look';

/** This server's clock may be ahead of the forge's. */
export const CLOCK_LEEWAY_MS = 60_000;

/** A repository that was never polled starts at about now: older changes are not new. */
export function firstPoll(repositoryId: RepositoryId, now: Instant): PollState {
  return { repositoryId, since: now - CLOCK_LEEWAY_MS };
}

/** Names one of our repositories by id: several organizations may have it, and it may be renamed before the poll. */
export interface StoredHintBody {
  readonly repositoryId: RepositoryId;
  readonly hint: WebhookHint;
}

// SPEC G129
export function encodeHint(repository: Repository, hint: WebhookHint, now: Instant, delayMs = delayOf(hint)): HintRow {
  const { id: repositoryId, host } = repository;
  const key = hint.key.length <= MAX_KEY_LENGTH ? hint.key : hash('sha256', hint.key);
  return {
    host,
    key: `${key} ${repositoryId}`,
    kind: hint.kind,
    body: JSON.stringify({ repositoryId, hint } satisfies StoredHintBody),
    receivedAt: now,
    dueAt: now + delayMs,
  };
}

export function decodeHint({ body }: Pick<HintRow, 'body'>): StoredHintBody {
  return JSON.parse(body) as StoredHintBody;
}

export function encodePoll(host: string, state: PollState, { now, dueAt }: { now: Instant; dueAt: Instant }): HintRow {
  return {
    host,
    key: `${POLL_KIND} ${state.repositoryId}`,
    kind: POLL_KIND,
    body: encodePollState(state),
    receivedAt: now,
    dueAt,
  };
}

export function encodePollState({ repositoryId, since }: PollState): string {
  return JSON.stringify({ repositoryId, since });
}

export function decodePollState({ body }: Pick<HintRow, 'body'>): PollState {
  return JSON.parse(body) as PollState;
}

function delayOf(hint: WebhookHint): number {
  return hint.kind === 'checks' && hint.check === undefined ? SETTLING_MS : 0;
}
