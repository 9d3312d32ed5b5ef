import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, DeliveryAnswer, Hosting } from '../hosting.ts';
import { hintsOf, parsePayload } from './webhook-events.ts';

export interface WebhookOptions {
  /**
   * Read for every delivery, since the operator may change it at run time. Without a secret every delivery is refused.
   */
  readonly secret: () => string | undefined;
  /** Called after a wrong signature: by a stranger, or because the secret was changed at the forge. */
  readonly onMismatch?: () => void;
  /** Events that the own app caused are ignored. */
  readonly ownAppId: number | undefined;
}

// SPEC G91
export function createReadDelivery(options: WebhookOptions): Hosting['readDelivery'] {
  return (delivery) => readDelivery(options, delivery);
}

function readDelivery({ secret, ownAppId, onMismatch }: WebhookOptions, delivery: Delivery): DeliveryAnswer {
  const { headers, body } = delivery;
  const known = secret();
  if (known === undefined || known === '' || !isSigned(body, known, headers['x-hub-signature-256'])) {
    onMismatch?.();
    return { kind: 'unsigned' };
  }
  const event = headers['x-github-event'];
  if (event === undefined) return { kind: 'unreadable', detail: 'It does not say which event it is about.' };
  const payload = parsePayload(body, headers['content-type'] ?? '');
  if (typeof payload === 'string') return { kind: 'unreadable', detail: payload };
  return { kind: 'hints', hints: hintsOf(event, payload, ownAppId) };
}

/** GitHub also sends a SHA-1 signature, which is too weak to trust. */
// SPEC G30
function isSigned(body: Buffer, secret: string, signature: string | undefined): boolean {
  const given = /^sha256=([0-9a-f]{64})$/.exec(signature ?? '')?.[1];
  const expected = createHmac('sha256', secret).update(body).digest();
  return given !== undefined && timingSafeEqual(Buffer.from(given, 'hex'), expected);
}
