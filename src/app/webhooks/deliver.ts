import { formatInstant, type Instant, pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { OutgoingMessage, SendResult } from '../../outgoing/outgoing.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { Delivery, DeliverySettlement, Webhook, WebhookId } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { actEvent, SLUICE } from '../core/feed-event.ts';
import { LeasedWorker } from '../core/leased-worker.ts';
import { isInReach } from './make-deliveries.ts';
import { renderBody } from './render-body.ts';
import { openSecrets } from './secrets.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The delays before the second attempt and those after it. */
const RETRIES_MS: readonly number[] = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS],
];
const DISABLE_AFTER_MS = 5 * 24 * HOUR_MS;
/** Attempts at once on this server. Each endpoint has a small share of them. */
const SLOTS = 768;
/**
 * Claims follow each other by so much, and settlements are gathered for a time that grows to it with the attempts under way:
 * every commit waits for the disk, but an endpoint that catches up waits for every settlement.
 */
const GATHER_MS = 30;
const FIRST_GATHER_MS = 4;
const MANY_ATTEMPTS = 256;
/** The key of this server does not open the secret; that of another one may. It looks again after so long. */
const OTHER_KEY_MS = MINUTE_MS;

export type DeliveryWorker = LeasedWorker<Delivery, DeliverySettlement>;

// SPEC X23
export function createDeliveryWorker(app: App, holder: string): DeliveryWorker {
  const { webhookDeliveries } = app.store;
  const batches = new WeakMap<Delivery, Batch>();
  const unopened = new Unopened(app);
  const claim: typeof webhookDeliveries.claim = async (wish) => {
    const batch = new Batch(app);
    const deliveries = await webhookDeliveries.claim(wish, unopened.list());
    for (const delivery of deliveries) batches.set(delivery, batch);
    return deliveries;
  };
  // Settlements that come at about the same time share a commit.
  let turn: Promise<void> | undefined;
  let sending = 0;
  const settle: typeof webhookDeliveries.settle = async (...settlement) => {
    const busy = Math.min(1, sending / MANY_ATTEMPTS);
    const gatherMs = Math.max(FIRST_GATHER_MS, Math.round(GATHER_MS * busy));
    turn ??= pause(app.clock, gatherMs).then(() => {
      turn = undefined;
    });
    await turn;
    return webhookDeliveries.settle(...settlement);
  };
  return new LeasedWorker<Delivery, DeliverySettlement>(app, holder, {
    name: 'webhook delivery',
    store: {
      ...webhookDeliveries,
      claim,
      settle,
      findNextDueAt: () => webhookDeliveries.findNextDueAt(unopened.list()),
    },
    listen: (wake) => app.webhooks.signal.listen(wake),
    gatherMs: GATHER_MS,
    slots: () => SLOTS,
    idOf: ({ id }) => id,
    run: async (delivery) => {
      sending += 1;
      try {
        return await attempt(app, delivery, { batch: batches.get(delivery) ?? new Batch(app), unopened });
      } finally {
        sending -= 1;
      }
    },
    settlementFor: (delivery, error, isStopped) => settlementFor(app, delivery, error, isStopped),
    onSettled: async (_delivery, { kind }) => {
      // A webhook may have been disabled, which is an event.
      if (kind === 'failed') app.feed.wake();
    },
  });
}

/** Webhooks that another key encrypted: their deliveries are left to the servers that have it. */
class Unopened {
  readonly #app: App;
  readonly #until = new Map<WebhookId, Instant>();

  constructor(app: App) {
    this.#app = app;
  }

  add(id: WebhookId): void {
    this.#until.set(id, this.#app.clock.now() + OTHER_KEY_MS);
  }

  list(): ReadonlySet<WebhookId> {
    const now = this.#app.clock.now();
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
    return new Set(this.#until.keys());
  }
}

/** Deliveries that were claimed together are often of the same webhooks and events: each is read and rendered once. */
class Batch {
  readonly #app: App;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(app: App) {
    this.#app = app;
  }

  findWebhook(id: WebhookId) {
    return this.#once(`webhook ${id}`, async () => {
      const webhook = await this.#app.store.webhooks.find(id);
      return webhook && { webhook, opened: openSecrets(this.#app, webhook, this.#app.clock.now()) };
    });
  }

  findEvent({ organizationId }: Webhook, seq: number): Promise<FeedRow | undefined> {
    return this.#once(`event ${organizationId} ${seq}`, async () => {
      const query = { organizationId, repositoryIds: null, order: 'ASC', afterSeq: seq - 1, limit: 1 } as const;
      const [row] = await this.#app.store.feed.list(query);
      return row?.seq === seq ? row : undefined;
    });
  }

  /** Chat messages are made for one webhook. */
  render(webhook: Webhook, event: FeedRow, delivery: Delivery): Promise<string | undefined> {
    const { organizationId, format } = webhook;
    const of = format === 'STANDARD' ? organizationId : webhook.id;
    return this.#once(`body ${of} ${event.seq} ${delivery.type}`, async () => {
      const body = await renderBody(this.#app, webhook, { event, delivery });
      return body && JSON.stringify(body);
    });
  }

  #once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(key) as Promise<T> | undefined;
    const made = known ?? make();
    if (known === undefined) this.#made.set(key, made);
    return made;
  }
}

async function attempt(
  app: App,
  delivery: Delivery,
  { batch, unopened }: { readonly batch: Batch; readonly unopened: Unopened },
): Promise<DeliverySettlement> {
  const { webhook, opened } = (await batch.findWebhook(delivery.webhookId)) ?? {};
  const event = webhook && (await batch.findEvent(webhook, delivery.seq));
  if (webhook === undefined || event === undefined || !isInReach(webhook, event)) return drop(app, 'EVENT_GONE');
  const now = app.clock.now();
  if (opened === undefined) {
    app.log.warn({ webhook: webhook.id }, 'webhook encrypted with another SLUICE_SECRET_KEY');
    unopened.add(webhook.id);
    return { kind: 'postpone', dueAt: delivery.dueAt };
  }
  const body = await batch.render(webhook, event, delivery);
  if (body === undefined) return drop(app, 'EVENT_GONE');
  const result = await sendTo(app, webhook, { id: delivery.id, body, ...opened, at: now });
  return outcomeOf(app, { webhook, delivery }, result);
}

interface Ready extends Pick<OutgoingMessage, 'id' | 'body' | 'url' | 'secrets'> {
  readonly at: Instant;
}

/** The address of a personal message is written as a URL: `mailto:ada@acme.dev`, `slack:U012AB3CD`. */
export function sendTo(app: App, { format, mayReachPrivate }: Webhook, ready: Ready): Promise<SendResult> {
  const { at, ...message } = ready;
  const { url, id, body } = message;
  if (format === 'EMAIL' || format === 'SLACK_MEMBER')
    return app.webhooks.people.send({ id, body, format, address: url.slice(url.indexOf(':') + 1) });
  return app.webhooks.sender.send({ ...message, timestampSeconds: Math.floor(at / SECOND_MS), mayReachPrivate });
}

function drop({ clock }: App, error: string): DeliverySettlement {
  return { kind: 'dropped', at: clock.now(), status: null, error };
}

interface Attempted {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

// SPEC X24, X25
function outcomeOf(app: App, { webhook, delivery }: Attempted, result: SendResult): DeliverySettlement {
  const at = app.clock.now();
  const [status, error] = result.kind === 'answered' ? [result.status, null] : [null, result.problem];
  const isDelivered = isSuccess(result);
  app.webhooks.attempts[isDelivered ? 'delivered' : 'failed'] += 1;
  if (isDelivered) return { kind: 'delivered', at, status, error };
  const isAborted = result.kind === 'answered' && result.isAborted;
  const dueAt = isAborted ? null : nextAttempt(delivery.attempts, at);
  app.log.info({ webhook: webhook.id, delivery: delivery.id, status, error }, 'webhook delivery failed');
  return { kind: 'failed', at, status, error, dueAt, disable: disabling(webhook, at) };
}

export function isSuccess(result: SendResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status < 300;
}

function nextAttempt(attempts: number, at: Instant): Instant | null {
  const delayMs = RETRIES_MS[attempts];
  return delayMs === undefined ? null : at + delayMs;
}

/** Takes effect only where nothing but failures came in that time. */
// SPEC X26
function disabling({ id, name, organizationId }: Webhook, at: Instant) {
  const failingSince = at - DISABLE_AFTER_MS;
  const text = `The webhook "${name}" is disabled: every delivery has failed since ${formatInstant(failingSince)}.`;
  const happening = { type: 'webhook.disabled', actor: SLUICE, text, data: { webhookId: id, name } };
  return { failingSince, feed: [actEvent(at, happening, { organizationId })] };
}

function settlementFor(app: App, delivery: Delivery, error: unknown, isStopped: boolean): DeliverySettlement {
  const at = app.clock.now();
  if (isStopped || (error instanceof Fault && error.code === 'SHUTTING_DOWN')) {
    return { kind: 'postpone', dueAt: delivery.dueAt };
  }
  app.log.warn({ err: error, delivery: delivery.id }, 'could not send a webhook delivery');
  // A failure of ours is no reason to disable the endpoint.
  const disable = { failingSince: Number.MIN_SAFE_INTEGER, feed: [] };
  return { kind: 'failed', at, status: null, error: 'INTERNAL', dueAt: nextAttempt(delivery.attempts, at), disable };
}
