import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createDeliveryReader, type DeliveryFormat, type DeliveryOptions } from '../hosted/read-delivery.ts';
import type { Delivery, DeliveryReader } from '../hosting.ts';

const TOKEN = 'x-gitlab-token';
const SIGNATURE = 'webhook-signature';
/** A secret of this form signs, as Standard Webhooks do, and is never sent. */
const SIGNING = /^whsec_([A-Za-z0-9+/]{43}=)$/;
const LEEWAY_SECONDS = 300;

export function createGitlabDeliveryReader(
  hintsOf: DeliveryFormat['hintsOf'],
  options: DeliveryOptions & { readonly now: () => number },
): DeliveryReader {
  return createDeliveryReader(
    {
      proofHeaders: [TOKEN, SIGNATURE],
      idHeader: 'x-gitlab-event-uuid',
      isProven(delivery, secret) {
        const key = SIGNING.exec(secret)?.[1];
        if (key !== undefined) return isSigned(delivery, Buffer.from(key, 'base64'), options.now());
        return areEqual(delivery.headers[TOKEN] ?? '', secret);
      },
      eventHeader: 'x-gitlab-event',
      hintsOf,
    },
    options,
  );
}

// SPEC G181
function isSigned({ headers, body }: Delivery, key: Buffer, now: number): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': seconds = '' } = headers;
  if (!/^\d{1,12}$/.test(seconds) || Math.abs(now / 1_000 - Number(seconds)) > LEEWAY_SECONDS) return false;
  const wanted = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64');
  return (headers[SIGNATURE] ?? '').split(' ').some((each) => areEqual(each, `v1,${wanted}`));
}

/** In constant time, whatever their lengths. */
function areEqual(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
