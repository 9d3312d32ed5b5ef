import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, Hosting, WebhookHint } from '../hosting.ts';
import { type Payload, parsePayload } from './webhook-payload.ts';

export interface DeliveryOptions {
  /** Read for every delivery, since the operator may change it. Without a secret every delivery is refused. */
  readonly secret: () => string | undefined;
  /** Called after a wrong signature: by a stranger, or because the secret was changed at the forge. */
  readonly onMismatch?: () => void;
}

/** The part of a webhook that differs between forges. Their signatures are HMAC-SHA256 of the body. */
export interface DeliveryFormat {
  /** The signature in hexadecimal digits. */
  findSignature(headers: Delivery['headers']): string | undefined;
  readonly eventHeader: string;
  hintsOf(event: string, payload: Payload): readonly WebhookHint[];
}

// SPEC G91
export function createReadDelivery(
  { findSignature, eventHeader, hintsOf }: DeliveryFormat,
  { secret, onMismatch }: DeliveryOptions,
): Hosting['readDelivery'] {
  return ({ headers, body }) => {
    const known = secret();
    if (known === undefined || known === '' || !isSigned(body, known, findSignature(headers))) {
      onMismatch?.();
      return { kind: 'unsigned' };
    }
    const event = headers[eventHeader];
    if (event === undefined) return { kind: 'unreadable', detail: 'It does not say which event it is about.' };
    const payload = parsePayload(body, headers['content-type'] ?? '');
    if (typeof payload === 'string') return { kind: 'unreadable', detail: payload };
    return { kind: 'hints', hints: hintsOf(event, payload) };
  };
}

// SPEC G30
function isSigned(body: Buffer, secret: string, signature: string | undefined): boolean {
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature, 'hex'), createHmac('sha256', secret).update(body).digest());
}
