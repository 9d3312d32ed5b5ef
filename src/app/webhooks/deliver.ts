import { formatInstant, type Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { SendResult } from '../../outgoing/outgoing.ts';
import type { Delivery, DeliverySettlement, Webhook } from '../../storage/webhooks.ts';
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
const SLOTS = 256;
/** The key of this server does not open the secret; that of another one may. */
const OTHER_KEY_MS = MINUTE_MS;

export type DeliveryWorker = LeasedWorker<Delivery, DeliverySettlement>;

/** Sends stored deliveries, at least once each. */
// SPEC X23
export function createDeliveryWorker(app: App, holder: string): DeliveryWorker {
  return new LeasedWorker<Delivery, DeliverySettlement>(app, holder, {
    name: 'webhook delivery',
    store: app.store.webhookDeliveries,
    listen: (wake) => app.webhooks.signal.listen(wake),
    slots: () => SLOTS,
    idOf: ({ id }) => id,
    run: (delivery) => attempt(app, delivery),
    settlementFor: (delivery, error, isStopped) => settlementFor(app, delivery, error, isStopped),
    onSettled: async (_delivery, { kind }) => {
      // A webhook may have been disabled, which is an event.
      if (kind === 'failed') app.feed.wake();
    },
  });
}

async function attempt(app: App, delivery: Delivery): Promise<DeliverySettlement> {
  const webhook = await app.store.webhooks.find(delivery.webhookId);
  const event = webhook && (await findEvent(app, webhook, delivery.seq));
  if (webhook === undefined || event === undefined || !isInReach(webhook, event)) return drop(app, 'EVENT_GONE');
  const now = app.clock.now();
  const opened = openSecrets(app, webhook, now);
  if (opened === undefined) {
    app.log.warn({ webhook: webhook.id }, 'webhook encrypted with another SLUICE_SECRET_KEY');
    return { kind: 'postpone', dueAt: now + OTHER_KEY_MS };
  }
  const body = await renderBody(app, webhook, { event, delivery });
  if (body === undefined) return drop(app, 'EVENT_GONE');
  const { mayReachPrivate } = webhook;
  const timestampSeconds = Math.floor(now / SECOND_MS);
  const message = { id: delivery.id, body: JSON.stringify(body), ...opened, timestampSeconds, mayReachPrivate };
  const result = await app.webhooks.sender.send(message);
  return settle(app, { webhook, delivery }, result);
}

function drop({ clock }: App, error: string): DeliverySettlement {
  return { kind: 'dropped', at: clock.now(), status: null, error };
}

async function findEvent({ store }: App, { organizationId }: Webhook, seq: number) {
  const query = { organizationId, repositoryIds: null, order: 'ASC', afterSeq: seq - 1, limit: 1 } as const;
  const [row] = await store.feed.list(query);
  return row?.seq === seq ? row : undefined;
}

interface Attempted {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

// SPEC X24, X25
function settle(app: App, { webhook, delivery }: Attempted, result: SendResult): DeliverySettlement {
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
