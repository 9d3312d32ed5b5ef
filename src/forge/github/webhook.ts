import { createReadDelivery, type DeliveryFormat, type DeliveryOptions } from '../hosted/read-delivery.ts';
import type { Hosting } from '../hosting.ts';
import { hintsOf } from './webhook-events.ts';

interface WebhookOptions extends DeliveryOptions {
  /** Events that the own app caused are ignored. */
  readonly ownAppId: number | undefined;
}

export function createReadGithubDelivery({ ownAppId, ...options }: WebhookOptions): Hosting['readDelivery'] {
  const format: DeliveryFormat = {
    // GitHub also sends a SHA-1 signature, which is too weak to trust.
    findSignature: (headers) => /^sha256=(.*)$/.exec(headers['x-hub-signature-256'] ?? '')?.[1],
    eventHeader: 'x-github-event',
    hintsOf: (event, payload) => hintsOf(event, payload, ownAppId),
  };
  return createReadDelivery(format, options);
}
