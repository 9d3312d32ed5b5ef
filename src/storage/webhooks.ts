import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { OrganizationId } from './accounts.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { LeasedWork, Postponement, WorkClaim } from './leased-work.ts';
import type { RepositoryId } from './repositories.ts';

export type WebhookId = Brand<string, 'WebhookId'>;

export const WEBHOOK_FORMATS = ['STANDARD', 'SLACK', 'TEAMS'] as const;
/** Direct messages to one person. */
export const PERSONAL_FORMATS = ['EMAIL', 'SLACK_MEMBER'] as const;
export type PersonalFormat = (typeof PERSONAL_FORMATS)[number];
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number] | PersonalFormat;

/** An account at a forge; on plain git, the name of authors of commits. */
export interface Account {
  readonly host: string;
  readonly login: string;
}

/** An endpoint outside that is told of events. Address and secrets are encrypted before they come here. */
export interface Webhook {
  readonly id: WebhookId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly format: WebhookFormat;
  /** Types of events, and families such as `queue.*`. */
  readonly types: readonly string[];
  /** Never more than its maker's token reached. Null: all of the organization, and events without a repository. */
  readonly repositoryIds: readonly RepositoryId[] | null;
  /** Of events of pull requests, only those of this author. Null: of all. */
  readonly account: Account | null;
  /** Its maker had the scope `instance`. */
  readonly mayReachPrivate: boolean;
  readonly url: string;
  /** The address without its secret parts. */
  readonly maskedUrl: string;
  readonly secret: string;
  /** The secret before the last rotation, valid until then. */
  readonly oldSecret: string | null;
  readonly oldSecretUntil: Instant | null;
  /** The place in the feed up to which deliveries were made. */
  readonly cursor: number;
  /** The first failure since the last success. */
  readonly failingSince: Instant | null;
  readonly disabledAt: Instant | null;
  readonly createdBy: string;
  readonly createdAt: Instant;
}

export type WebhookChange = Omit<Webhook, 'id' | 'organizationId' | 'createdBy' | 'createdAt'>;

export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface NewDelivery {
  /** The same on every attempt. It follows from webhook, event and type. */
  readonly id: string;
  /** The place of its event in the feed. */
  readonly seq: number;
  readonly type: string;
  /** First attempts of one line follow each other: events about one pull request. */
  readonly line: string;
  /** The pull requests that one message tells of, where it stands for several events. */
  readonly prNumbers: readonly number[] | null;
}

export interface Delivery extends NewDelivery {
  readonly webhookId: WebhookId;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAt: Instant;
  readonly createdAt: Instant;
  readonly triedAt: Instant | null;
  readonly lastStatus: number | null;
  /** The reason for the last failure, where there was no status. Nothing of an answer is stored. */
  readonly lastError: string | null;
}

export type DeliveryKey = Pick<Delivery, 'id'>;

interface Attempt {
  readonly at: Instant;
  readonly status: number | null;
  readonly error: string | null;
}

export type DeliverySettlement =
  | ({ readonly kind: 'delivered' } & Attempt)
  | ({
      readonly kind: 'failed';
      /** Null: no further attempt. */
      readonly dueAt: Instant | null;
      /** Disables the webhook, with the event, if it has only failed since then. */
      readonly disable: { readonly failingSince: Instant; readonly feed: readonly FeedDraft[] };
    } & Attempt)
  /** Given up without an attempt, for example because the event has expired. */
  | ({ readonly kind: 'dropped' } & Attempt)
  | Postponement;

/** New deliveries of a webhook, and the place in the feed that they reach to. */
export interface CursorMove {
  readonly webhookId: WebhookId;
  readonly from: number;
  readonly to: number;
  readonly deliveries: readonly NewDelivery[];
}

export interface DeliveryQuery {
  readonly webhookId: WebhookId;
  readonly state?: DeliveryState;
  /** Exclusive, of the page before. */
  readonly before?: { readonly seq: number; readonly id: string };
  readonly limit: number;
}

export interface WebhookStore {
  insert(webhook: Webhook, feed: readonly FeedDraft[]): Promise<void>;
  /** In order of creation. */
  list(organizationId: OrganizationId): Promise<readonly Webhook[]>;
  /** Of all organizations, those that are not disabled. */
  listEnabled(): Promise<readonly Webhook[]>;
  find(id: WebhookId): Promise<Webhook | undefined>;
  /** Changes the fields that are given. False (and no event) if there is no such webhook. */
  update(id: WebhookId, change: Partial<WebhookChange>, feed: readonly FeedDraft[]): Promise<boolean>;
  /** With its deliveries. False (and no event) if there is no such webhook. */
  remove(id: WebhookId, feed: readonly FeedDraft[]): Promise<boolean>;
  /** Each only if the cursor is still at `from`: several servers may try it. A delivery that is there begins anew. */
  move(moves: readonly CursorMove[], at: Instant): Promise<void>;
  /** Deliveries that were not tried yet, by webhook. */
  countUntried(): Promise<ReadonlyMap<WebhookId, number>>;
}

/** Claims get, of each webhook, as many deliveries as its share has room for: one that hangs holds up no other. */
export interface DeliveryStore extends LeasedWork<Delivery, DeliveryKey, DeliverySettlement> {
  /** Leaves out the webhooks that the server cannot send to. */
  claim(claim: WorkClaim, without?: ReadonlySet<string>): Promise<readonly Delivery[]>;
  findNextDueAt(without?: ReadonlySet<string>): Promise<Instant | undefined>;
  /** Newest first. */
  list(query: DeliveryQuery): Promise<readonly Delivery[]>;
  /** Begins it anew. False if the webhook has no such delivery. */
  replay(webhookId: WebhookId, id: string, at: Instant): Promise<boolean>;
  /** Deliveries of all webhooks that wait, before their first attempt and after it, and when the oldest was made. */
  measure(): Promise<{ readonly untried: number; readonly retrying: number; readonly oldestAt: Instant | null }>;
  /** Removes deliveries from before `before` that have ended, `limit` at most; returns how many. */
  expire(before: Instant, limit: number): Promise<number>;
}
