import { randomBytes } from 'node:crypto';
import type { Instant } from '../../lib/clock.ts';
import type { Webhook, WebhookId } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { type Refusal, refuse } from '../core/refusal.ts';

const SECRET_BYTES = 32;

/** As the receiver's library takes it. */
export function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** Libraries decode the part behind the prefix; its length is what Standard Webhooks asks for. */
export function isUsableSecret(given: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(given) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded;
}

type Part = 'url' | 'secret';

const purposeOf = (id: WebhookId, part: Part) => `webhook ${id} ${part}`;

export function sealPart({ webhooks }: App, id: WebhookId, part: Part, text: string): string {
  return webhooks.box.seal(text, purposeOf(id, part));
}

interface Opened {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** The newest secret first; undefined if another key encrypted them. */
// SPEC X28
export function openSecrets({ webhooks: { box } }: App, webhook: Webhook, now: Instant): Opened | undefined {
  const { id, oldSecret, oldSecretUntil } = webhook;
  const url = box.open(webhook.url, purposeOf(id, 'url'));
  const isOldValid = oldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil;
  const sealed = isOldValid ? [webhook.secret, oldSecret] : [webhook.secret];
  const secrets = sealed.map((each) => box.open(each, purposeOf(id, 'secret')));
  if (url === undefined || !secrets.every((secret) => secret !== undefined)) return undefined;
  return { url, secrets };
}

export function hasOtherKey(app: App, webhook: Webhook): boolean {
  return openSecrets(app, webhook, app.clock.now()) === undefined;
}

/** Every sealed text names its key, so that the webhooks themselves tell the key of the instance. */
// SPEC X46
export async function findOtherKey(app: App): Promise<Refusal | undefined> {
  const enabled = await app.store.webhooks.listEnabled();
  const { length } = enabled.filter((webhook) => hasOtherKey(app, webhook));
  if (length === 0) return undefined;
  const which = length === 1 ? 'One webhook is' : `${length} webhooks are`;
  return refuse(
    'SECRET_KEY_DIFFERS',
    `${which} encrypted with another key than that of this server. Start all servers with the same SLUICE_SECRET_KEY. If the key is lost, delete what it encrypted: "sluice webhook list" shows it.`,
  );
}

// SPEC X40
export function maskUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}
