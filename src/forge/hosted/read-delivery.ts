import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, DeliveryReader, WebhookHint } from '../hosting.ts';
import { type Payload, parsePayload } from './webhook-payload.ts';

export interface DeliveryOptions {
  /** Read for every delivery, since the operator may change it. Without a secret every delivery is refused. */
  readonly secret: () => string | undefined;
  /** Called after a wrong proof: by a stranger, or because the secret was changed at the forge. */
  readonly onMismatch?: () => void;
}

/** The part of a webhook that differs between forges. */
export interface DeliveryFormat extends Pick<DeliveryReader, 'proofHeaders' | 'idHeader'> {
  isProven(delivery: Delivery, secret: string): boolean;
  readonly eventHeader: string;
  hintsOf(event: string, payload: Payload): readonly WebhookHint[];
}

// SPEC G91
export function createDeliveryReader(format: DeliveryFormat, { secret, onMismatch }: DeliveryOptions): DeliveryReader {
  const { proofHeaders, idHeader, eventHeader } = format;
  return {
    proofHeaders,
    idHeader,
    readDelivery(delivery) {
      const { headers, body } = delivery;
      const known = secret();
      if (known === undefined || known === '' || !format.isProven(delivery, known)) {
        onMismatch?.();
        return { kind: 'unsigned' };
      }
      const event = headers[eventHeader];
      if (event === undefined) return { kind: 'unreadable', detail: 'It does not say which event it is about.' };
      const payload = parsePayload(body, headers['content-type'] ?? '');
      if (typeof payload === 'string') return { kind: 'unreadable', detail: payload };
      return { kind: 'hints', hints: format.hintsOf(event, payload) };
    },
  };
}

/** The signature is the HMAC-SHA256 of the body, in hexadecimal digits. */
// SPEC G30
export function isSignedInHex(body: Buffer, secret: string, signature: string | undefined): boolean {
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature, 'hex'), createHmac('sha256', secret).update(body).digest());
}
