import { createDeliveryReader, type DeliveryOptions, isSignedInHex } from '../hosted/read-delivery.ts';
import type { DeliveryReader } from '../hosting.ts';
import { hintsOf } from './webhook-events.ts';

interface WebhookOptions extends DeliveryOptions {
  /** Events that the own app caused are ignored. */
  readonly ownAppId: number | undefined;
}

// GitHub also sends a SHA-1 signature, which is too weak to trust.
const SIGNATURE = 'x-hub-signature-256';

export function createGithubDeliveryReader({ ownAppId, ...options }: WebhookOptions): DeliveryReader {
  return createDeliveryReader(
    {
      proofHeaders: [SIGNATURE],
      idHeader: 'x-github-delivery',
      isProven: ({ headers, body }, secret) =>
        isSignedInHex(body, secret, /^sha256=(.*)$/.exec(headers[SIGNATURE] ?? '')?.[1]),
      eventHeader: 'x-github-event',
      hintsOf: (event, payload) => hintsOf(event, payload, ownAppId),
    },
    options,
  );
}
