import { randomUUID } from 'node:crypto';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { chainDigest } from '../../lib/digest-chain.ts';
import { present } from '../../lib/present.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Caller } from './caller.ts';

export interface Actor {
  readonly kind: 'token' | 'person' | 'forge' | 'sluice';
  readonly name: string;
}

export const SLUICE: Actor = { kind: 'sluice', name: 'sluice' };

export function actorFor({ isPerson, name }: Pick<Caller, 'isPerson' | 'name'>): Actor {
  return { kind: isPerson === true ? 'person' : 'token', name };
}

/** Something that happened, before it has a place and a time. */
export interface Happening {
  readonly type: string;
  readonly actor: Actor;
  /** The sentence that people read. */
  readonly text: string;
  readonly data: object;
  readonly prNumber?: number;
}

type Place = Pick<FeedDraft, 'organizationId' | 'repositoryId' | 'queueId' | 'targetBranch' | 'testId'>;

/** An act of somebody that has no versioned source: a token was made, a repository registered. */
export function actEvent(
  at: Instant,
  { type, prNumber, ...body }: Happening,
  place: Partial<Place> & ({ readonly organizationId: OrganizationId } | Pick<FeedDraft, 'repositoryId'>),
): FeedDraft {
  const nowhere = { organizationId: null, repositoryId: null, queueId: null, targetBranch: null, testId: null };
  const named = { source: nextSource(at), version: 1, ordinal: 0 };
  return { ...nowhere, ...place, ...named, at, type, prNumber: prNumber ?? null, body: JSON.stringify(body) };
}

let acts = 0;

/** Acts of one server at one instant keep their order. */
function nextSource(at: Instant): string {
  acts += 1;
  return `act/${at}/${acts.toString(36).padStart(9, '0')}/${randomUUID()}`;
}

/** An event as the API shows it. */
export interface FeedEvent {
  /** Its place in the feed of the organization. */
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly actor: Actor;
  readonly repo?: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch?: string;
  readonly prNumber?: number;
  readonly testId?: string;
  readonly candidateId?: string;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The part of an event that is stored as JSON. */
export interface EventBody {
  readonly actor: Actor;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function viewEvent(row: Omit<FeedRow, 'digest'>): FeedEvent {
  const { actor, text, data } = JSON.parse(row.body) as EventBody;
  const { targetBranch, prNumber, testId } = row;
  return {
    id: `${row.seq}`,
    type: row.type,
    at: formatInstant(row.at),
    actor,
    ...present({
      repo: row.repo,
      targetBranch,
      prNumber,
      testId,
      candidateId: data['testRunId'] as string | undefined,
    }),
    text,
    data,
  };
}

const AUDITED = /^(?:landing|queue|organization|token|session|repository|webhook|alarm)\./;

/** Records of the audit never expire, and each seals the ones before it. */
function isAudited(type: string): boolean {
  return AUDITED.test(type);
}

/** The digest of a record: of the record as the API shows it, and of the digest before. Null for other events. */
// SPEC X6
export function seal(row: Omit<FeedRow, 'digest'>, previous: string | null): string | null {
  return isAudited(row.type) ? chainDigest(viewEvent(row), previous) : null;
}
