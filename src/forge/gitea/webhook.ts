import {
  createDeliveryReader,
  type DeliveryFormat,
  type DeliveryOptions,
  isSignedInHex,
} from '../hosted/read-delivery.ts';
import type { DeliveryReader } from '../hosting.ts';

const SIGNATURE = 'x-gitea-signature';

export function createGiteaDeliveryReader(
  hintsOf: DeliveryFormat['hintsOf'],
  options: DeliveryOptions,
): DeliveryReader {
  return createDeliveryReader(
    {
      proofHeaders: [SIGNATURE],
      idHeader: 'x-gitea-delivery',
      isProven: ({ headers, body }, secret) => isSignedInHex(body, secret, headers[SIGNATURE]),
      eventHeader: 'x-gitea-event',
      hintsOf,
    },
    options,
  );
}
