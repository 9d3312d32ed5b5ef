import { randomUUID } from 'node:crypto';
import { WEBHOOK_TYPES } from '../../contract/events.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as contract from '../../contract/webhooks.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { Webhook, WebhookChange, WebhookId } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope, mayManage } from '../core/caller.ts';
import { actEvent, actorFor } from '../core/feed-event.ts';
import { findRepositories } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { expandTypes } from '../feed/list-events.ts';
import { findOtherKey, hasOtherKey, isUsableSecret, makeSecret, maskUrl, sealPart } from './secrets.ts';

const MAX_WEBHOOKS = 100;
const ROTATION_MS = 24 * 3_600_000;

type WebhookView = ReplyOf<typeof contract.listWebhooks>['webhooks'][number];
type WithSecret = WebhookView & { readonly secret: string };

type UpdateWebhook = RequestOf<typeof contract.updateWebhook>;
type WebhookWishes = Omit<UpdateWebhook, 'id' | 'enabled'>;

export async function createWebhook(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.createWebhook>,
): Answer<WithSecret> {
  const id = randomUUID() as WebhookId;
  const secret = input.secret ?? makeSecret();
  if (!isUsableSecret(secret)) return badSecret();
  const checked = await checkWishes(app, caller, id, input);
  if (isRefusal(checked)) return checked;
  const { id: organizationId } = caller.organization;
  if ((await app.store.webhooks.list(organizationId)).length >= MAX_WEBHOOKS) {
    return refuse('WEBHOOK_LIMIT_REACHED', `An organization has at most ${MAX_WEBHOOKS} webhooks. Delete one first.`);
  }
  // Events that are stored already get their places first, so that it begins with the next one.
  await app.feed.sequence();
  const { lastSeq } = await app.store.feed.getHead(organizationId);
  const webhook: Webhook = {
    ...{ id, organizationId, name: input.name, format: input.format, types: input.types },
    // Without chosen repositories it has those of its maker's token.
    // SPEC X22
    repositoryIds: caller.repositoryIds && ([...caller.repositoryIds] as RepositoryId[]),
    ...{ account: null, mayReachPrivate: false, url: '', maskedUrl: '' },
    ...{ secret: sealPart(app, id, 'secret', secret), oldSecret: null, oldSecretUntil: null },
    ...{ cursor: lastSeq, failingSince: null, disabledAt: null },
    ...{ createdBy: caller.name, createdAt: app.clock.now() },
    ...checked,
  };
  await app.store.webhooks.insert(webhook, [webhookEvent(app, caller, webhook, 'created')]);
  app.feed.wake();
  return { ...(await viewWebhook(app, webhook)), secret };
}

/** The columns that follow from the wishes, or the first thing that is wrong with them. */
async function checkWishes(
  app: App,
  caller: Caller,
  id: WebhookId,
  { name, url, types, repositories }: WebhookWishes,
): Answer<Partial<WebhookChange>> {
  const expanded = types && expandTypes(types, WEBHOOK_TYPES);
  if (isRefusal(expanded)) return expanded;
  const address = url === undefined ? {} : ((await findOtherKey(app)) ?? checkUrl(app, caller, id, url));
  if (isRefusal(address)) return address;
  const chosen = repositories && (await findRepositories(app, caller, repositories));
  if (isRefusal(chosen)) return chosen;
  return { ...present({ name, types, repositoryIds: chosen?.map((each) => each.id) }), ...address };
}

// SPEC X44
export function checkUrl(app: App, caller: Caller, id: WebhookId, given: string): Partial<WebhookChange> | Refusal {
  if (!URL.canParse(given)) return refuseField('/url', 'is not an address');
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') return refuseField('/url', 'must not contain a user or a password');
  const mayReachPrivate = hasScope(caller, 'instance');
  if (!app.webhooks.sender.mayReach(url, mayReachPrivate)) {
    return refuseField(
      '/url',
      'is not a public address. Others must be in SLUICE_WEBHOOK_NETWORKS, and need a token with the scope "instance"',
    );
  }
  return { url: sealPart(app, id, 'url', url.href), maskedUrl: maskUrl(url.href), mayReachPrivate };
}

function badSecret(): Refusal {
  return refuseField('/secret', 'must be whsec_ and 24 to 64 bytes in base64');
}

export async function findWebhook(app: App, caller: Caller, id: string): Answer<Webhook> {
  const webhook = await app.store.webhooks.find(id as WebhookId);
  if (webhook !== undefined && mayManage(caller, webhook)) return webhook;
  return refuse('WEBHOOK_NOT_FOUND', `This organization has no webhook with the id ${id}.`);
}

export async function listWebhooks(app: App, caller: Caller): Answer<ReplyOf<typeof contract.listWebhooks>> {
  const all = await app.store.webhooks.list(caller.organization.id);
  const repositories = await app.store.repositories.list(caller.organization.id);
  const managed = all.filter((webhook) => mayManage(caller, webhook) && webhook.account === null);
  return { webhooks: managed.map((webhook) => view(app, webhook, repositories)) };
}

export async function updateWebhook(app: App, caller: Caller, input: UpdateWebhook): Answer<WebhookView> {
  const webhook = await findWebhook(app, caller, input.id);
  if (isRefusal(webhook)) return webhook;
  const checked = await checkWishes(app, caller, webhook.id, input);
  if (isRefusal(checked)) return checked;
  const change = { ...checked, ...(await enabling(app, webhook, input.enabled)) };
  const changed: Webhook = { ...webhook, ...change };
  await app.store.webhooks.update(webhook.id, change, [webhookEvent(app, caller, changed, 'changed', change)]);
  app.feed.wake();
  return viewWebhook(app, changed);
}

/** An endpoint that comes back is not flooded with everything that it missed; a replay sends that. */
async function enabling(app: App, webhook: Webhook, isEnabled: boolean | undefined): Promise<Partial<WebhookChange>> {
  const isAlready = isEnabled === (webhook.disabledAt === null);
  if (isEnabled === undefined || isAlready) return {};
  if (!isEnabled) return { disabledAt: app.clock.now() };
  await app.feed.sequence();
  const { lastSeq } = await app.store.feed.getHead(webhook.organizationId);
  return { disabledAt: null, failingSince: null, cursor: lastSeq };
}

export async function deleteWebhook(
  app: App,
  caller: Caller,
  input: { readonly id: string },
): Answer<Record<string, never>> {
  const webhook = await findWebhook(app, caller, input.id);
  if (isRefusal(webhook)) return webhook;
  await app.store.webhooks.remove(webhook.id, [webhookEvent(app, caller, webhook, 'deleted')]);
  app.feed.wake();
  return {};
}

export async function rotateWebhookSecret(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.rotateWebhookSecret>,
): Answer<WithSecret> {
  const webhook = await findWebhook(app, caller, input.id);
  if (isRefusal(webhook)) return webhook;
  const secret = input.secret ?? makeSecret();
  if (!isUsableSecret(secret)) return badSecret();
  const otherKey = await findOtherKey(app);
  if (otherKey !== undefined) return otherKey;
  const change = {
    secret: sealPart(app, webhook.id, 'secret', secret),
    oldSecret: webhook.secret,
    oldSecretUntil: app.clock.now() + ROTATION_MS,
  };
  await app.store.webhooks.update(webhook.id, change, [webhookEvent(app, caller, webhook, 'changed', change)]);
  app.feed.wake();
  return { ...(await viewWebhook(app, { ...webhook, ...change })), secret };
}

// SPEC X29
export function webhookEvent(
  app: App,
  caller: Caller,
  { id, name, maskedUrl, organizationId }: Webhook,
  act: 'created' | 'changed' | 'deleted',
  change: Partial<WebhookChange> = {},
): FeedDraft {
  const fields = Object.keys(change).filter((field) => !['maskedUrl', 'oldSecret', 'cursor'].includes(field));
  const happening = {
    type: `webhook.${act}`,
    actor: actorFor(caller),
    text: `${caller.name} ${act} the webhook "${name}" to ${maskedUrl}.`,
    data: { webhookId: id, name, url: maskedUrl, ...(fields.length === 0 ? {} : { fields }) },
  };
  return actEvent(app.clock.now(), happening, { organizationId });
}

async function viewWebhook(app: App, webhook: Webhook): Promise<WebhookView> {
  return view(app, webhook, await app.store.repositories.list(webhook.organizationId));
}

function view(app: App, webhook: Webhook, all: readonly Repository[]): WebhookView {
  const { id, name, format, types, repositoryIds, maskedUrl, mayReachPrivate, createdBy } = webhook;
  const repositories = all.filter((repository) => repositoryIds?.includes(repository.id));
  return {
    ...{ id, name, format, types, url: maskedUrl, reachesPrivateNetworks: mayReachPrivate, createdBy },
    repositories:
      repositoryIds && repositories.map((each) => ({ host: each.host, owner: each.owner, name: each.name })),
    createdAt: formatInstant(webhook.createdAt),
    previousSecretUntil: optionalInstant(webhook.oldSecretUntil),
    failingSince: optionalInstant(webhook.failingSince),
    disabledAt: optionalInstant(webhook.disabledAt),
    hasOtherKey: hasOtherKey(app, webhook),
  };
}
