import { randomUUID } from 'node:crypto';
import { DAILY_DIGEST } from '../../contract/events.ts';
import type * as contract from '../../contract/notifications.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { Account, Webhook, WebhookId } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { findRepositories } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { testOf } from './deliveries.ts';
import { findOtherKey, makeSecret, sealPart } from './secrets.ts';
import { checkUrl, webhookEvent } from './webhooks.ts';

/** Messages to people are webhooks of one account: the deliveries of both are made, sent and shown alike. */

const MAX_NOTIFICATIONS = 1_000;
type Rule = 'ENDED' | 'REMOVED' | 'DIGEST';
const TYPES: Readonly<Record<Rule, readonly string[]>> = {
  ENDED: ['pull_request.merged', 'pull_request.failed', 'pull_request.canceled'],
  REMOVED: ['pull_request.failed', 'pull_request.canceled'],
  DIGEST: [DAILY_DIGEST],
};
type Input = RequestOf<typeof contract.createNotification>;
type NotificationView = ReplyOf<typeof contract.createNotification>;

// SPEC X57
export async function createNotification(app: App, caller: Caller, input: Input): Answer<NotificationView> {
  const { account, via: format, when = ['ENDED'], repositories } = input;
  if (!isOwn(caller, account)) return notYours(account);
  const id = randomUUID() as WebhookId;
  const address = (await findOtherKey(app)) ?? readAddress(app, caller, id, input);
  if (isRefusal(address)) return address;
  const chosen = repositories && (await findRepositories(app, caller, repositories));
  if (isRefusal(chosen)) return chosen;
  const { id: organizationId } = caller.organization;
  const all = await app.store.webhooks.list(organizationId);
  if (all.filter((each) => each.account !== null).length >= MAX_NOTIFICATIONS)
    return refuse('WEBHOOK_LIMIT_REACHED', `An organization has at most ${MAX_NOTIFICATIONS} messages to people.`);
  await app.feed.sequence();
  const { lastSeq } = await app.store.feed.getHead(organizationId);
  const reached = caller.repositoryIds && ([...caller.repositoryIds] as RepositoryId[]);
  const webhook: Webhook = {
    ...{ id, organizationId, name: `messages to ${account.login}`, format, account },
    types: [...new Set((when as readonly Rule[]).flatMap((rule) => TYPES[rule]))],
    repositoryIds: chosen?.map((each) => each.id) ?? reached,
    ...{ secret: sealPart(app, id, 'secret', makeSecret()), oldSecret: null, oldSecretUntil: null },
    ...{ cursor: lastSeq, failingSince: null, disabledAt: null },
    ...{ createdBy: caller.name, createdAt: app.clock.now(), ...address },
  };
  await app.store.webhooks.insert(webhook, [webhookEvent(app, caller, webhook, 'created')]);
  app.feed.wake();
  return view(webhook);
}

/** A login that the sign-in proved, also of the person who made the token. */
function isOwn(caller: Caller, { host, login }: Account): boolean {
  const proven = (caller.person ?? caller.maker)?.logins[host];
  return hasScope(caller, 'admin') || proven?.toLowerCase() === login.toLowerCase();
}

function notYours({ host, login }: Account): Refusal {
  return refuse(
    'NOT_YOUR_ACCOUNT',
    `The sign-in did not prove that ${login} on ${host} is you. Sign in with that account, or ask an administrator.`,
  );
}

/** No white space, quotes, brackets, commas or control characters: nothing that begins another address or header. */
const MAIL = /^[^\s"<>(),:;\\@[\]\p{Cc}]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u;
const MEMBER = /^[UW][A-Z0-9]{6,20}$/;

type Address = Pick<Webhook, 'url' | 'maskedUrl' | 'mayReachPrivate'>;

// SPEC X59
function readAddress(app: App, caller: Caller, id: WebhookId, { via, address }: Input): Address | Refusal {
  if (via !== 'EMAIL' && via !== 'SLACK_MEMBER') {
    if (!/^https?:\/\//i.test(address)) return refuseField('/address', 'must begin with https:// or http://');
    return checkUrl(app, caller, id, address) as Address | Refusal;
  }
  if (!app.webhooks.people.canSend[via]) {
    const need = via === 'EMAIL' ? 'SLUICE_SMTP_URL and SLUICE_MAIL_FROM' : 'SLUICE_SLACK_TOKEN';
    return refuseField('/via', `is not set up on this server: it needs ${need}`);
  }
  const isMail = via === 'EMAIL';
  if (!(isMail ? MAIL : MEMBER).test(address))
    return refuseField('/address', isMail ? 'must be an address of mail' : 'must be the id of a member: U012AB3CD');
  const [local = '', domain] = address.split('@');
  const url = `${isMail ? 'mailto' : 'slack'}:${address}`;
  const maskedUrl = isMail ? `${local.slice(0, 1)}…@${domain}` : address;
  return { url: sealPart(app, id, 'url', url), maskedUrl, mayReachPrivate: false };
}

async function findOwn(app: App, caller: Caller, id: string): Answer<Webhook> {
  const found = await app.store.webhooks.find(id as WebhookId);
  const isSeen = found?.organizationId === caller.organization.id && found.account !== null;
  if (isSeen && isOwn(caller, found.account)) return found;
  return refuse('WEBHOOK_NOT_FOUND', `There are no messages of yours with the id ${id}.`);
}

export async function listNotifications(app: App, caller: Caller): Answer<ReplyOf<typeof contract.listNotifications>> {
  const all = await app.store.webhooks.list(caller.organization.id);
  return { notifications: all.filter(({ account }) => account !== null && isOwn(caller, account)).map(view) };
}

export async function deleteNotification(
  app: App,
  caller: Caller,
  { id }: { readonly id: string },
): Answer<Record<string, never>> {
  const found = await findOwn(app, caller, id);
  if (isRefusal(found)) return found;
  await app.store.webhooks.remove(found.id, [webhookEvent(app, caller, found, 'deleted')]);
  app.feed.wake();
  return {};
}

export async function testNotification(
  app: App,
  caller: Caller,
  { id }: { readonly id: string },
): Answer<ReplyOf<typeof contract.testNotification>> {
  const found = await findOwn(app, caller, id);
  return isRefusal(found) ? found : testOf(app, caller, found);
}

function view({ id, account, format, types, maskedUrl, createdBy, ...webhook }: Webhook): NotificationView {
  const has = (rule: Rule) => TYPES[rule].every((type) => types.includes(type));
  const rules = [has('ENDED') ? 'ENDED' : 'REMOVED', 'DIGEST'] as const;
  return {
    ...{ id, account: account as Account, via: format, when: rules.filter(has), address: maskedUrl, createdBy },
    createdAt: formatInstant(webhook.createdAt),
    failingSince: optionalInstant(webhook.failingSince),
    disabledAt: optionalInstant(webhook.disabledAt),
  };
}
