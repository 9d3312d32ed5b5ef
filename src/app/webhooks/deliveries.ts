import { randomUUID } from 'node:crypto';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as contract from '../../contract/webhooks.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Delivery, Webhook } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { actorFor, type FeedEvent } from '../core/feed-event.ts';
import { type Answer, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { chatBody, chatMessage } from './chat-message.ts';
import { isSuccess, sendTo } from './deliver.ts';
import { openSecrets } from './secrets.ts';
import { findWebhook } from './webhooks.ts';

export async function listWebhookDeliveries(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.listWebhookDeliveries>,
): Answer<ReplyOf<typeof contract.listWebhookDeliveries>> {
  const webhook = await findWebhook(app, caller, input.id);
  if (isRefusal(webhook)) return webhook;
  const { state, cursor, limit = 50 } = input;
  const [seq = '', id = ''] = cursor?.split('.') ?? [];
  const before = cursor === undefined ? undefined : { seq: Number(seq), id };
  const query = { webhookId: webhook.id, limit: limit + 1, ...present({ state, before }) };
  const rows = await app.store.webhookDeliveries.list(query);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasNext = rows.length > limit && last !== undefined;
  return { deliveries: page.map(viewDelivery), ...(hasNext ? { nextCursor: `${last.seq}.${last.id}` } : {}) };
}

function viewDelivery(delivery: Delivery) {
  const { id, seq, type, state, attempts, lastStatus, lastError } = delivery;
  return {
    ...{ id, eventId: `${seq}`, type, state, attempts, lastStatus, lastProblem: lastError },
    createdAt: formatInstant(delivery.createdAt),
    lastTriedAt: optionalInstant(delivery.triedAt),
    nextAttemptAt: optionalInstant(state === 'PENDING' ? delivery.dueAt : null),
  };
}

export async function replayWebhookDelivery(
  app: App,
  caller: Caller,
  { id, deliveryId }: RequestOf<typeof contract.replayWebhookDelivery>,
): Answer<Record<string, never>> {
  const webhook = await findEnabled(app, caller, id);
  if (isRefusal(webhook)) return webhook;
  const isFound = await app.store.webhookDeliveries.replay(webhook.id, deliveryId, app.clock.now());
  if (!isFound) {
    return refuse('WEBHOOK_DELIVERY_NOT_FOUND', `The webhook has no delivery with the id ${deliveryId}.`);
  }
  app.webhooks.signal.wake();
  return {};
}

async function findEnabled(app: App, caller: Caller, id: string): Promise<Webhook | Refusal> {
  const webhook = await findWebhook(app, caller, id);
  if (isRefusal(webhook) || webhook.disabledAt === null) return webhook;
  return refuse('WEBHOOK_DISABLED', `The webhook "${webhook.name}" is disabled. Enable it with updateWebhook first.`);
}

// SPEC X37
export async function replayWebhook(
  app: App,
  caller: Caller,
  { id, after }: { readonly id: string; readonly after: Instant },
): Answer<Record<string, never>> {
  const webhook = await findEnabled(app, caller, id);
  if (isRefusal(webhook)) return webhook;
  const { organizationId } = webhook;
  const query = { organizationId, repositoryIds: null, from: after, order: 'ASC', limit: 1 } as const;
  const [first] = await app.store.feed.list(query);
  if (first !== undefined && first.seq <= webhook.cursor) {
    await app.store.webhooks.update(webhook.id, { cursor: first.seq - 1 }, []);
    app.feed.wake();
  }
  return {};
}

// SPEC X38
export async function testWebhook(
  app: App,
  caller: Caller,
  { id: of }: { readonly id: string },
): Answer<ReplyOf<typeof contract.testWebhook>> {
  const webhook = await findWebhook(app, caller, of);
  return isRefusal(webhook) ? webhook : testOf(app, caller, webhook);
}

export async function testOf(
  app: App,
  caller: Caller,
  webhook: Webhook,
): Promise<ReplyOf<typeof contract.testWebhook>> {
  const now = app.clock.now();
  const opened = openSecrets(app, webhook, now);
  if (opened === undefined) return { delivered: false, problem: 'OTHER_SECRET_KEY' };
  const id = `msg_${randomUUID().replaceAll('-', '')}`;
  const body = JSON.stringify(testBody(caller, webhook, now));
  const result = await sendTo(app, webhook, { id, body, ...opened, at: now });
  const delivered = isSuccess(result);
  return result.kind === 'answered' ? { delivered, status: result.status } : { delivered, problem: result.problem };
}

function testBody(caller: Caller, { id, name, format }: Webhook, now: Instant): object {
  const event: FeedEvent = {
    id: '0',
    type: 'webhook.test',
    at: formatInstant(now),
    actor: actorFor(caller),
    text: `${caller.name} tests the webhook "${name}".`,
    data: { webhookId: id },
  };
  return format === 'STANDARD' ? event : chatBody(format, chatMessage(event, null));
}
