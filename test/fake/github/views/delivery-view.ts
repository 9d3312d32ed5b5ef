import type { DeliveryRecord } from '../webhooks.ts';
import { timeView } from './time.ts';

/** GitHub's words for the outcome of an attempt. */
function wordsOf(status: DeliveryRecord['status']): string {
  if (typeof status !== 'number') return 'failed to connect to host';
  return isGood(status) ? 'OK' : `Invalid HTTP Response: ${status}`;
}

export function isGood(status: DeliveryRecord['status']): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}

/** The form in lists. */
export function deliveryView(delivery: DeliveryRecord) {
  const { number, id, at, isAgain, status, event, action, payload } = delivery;
  return {
    id: number,
    guid: id,
    delivered_at: timeView(at),
    redelivery: isAgain,
    duration: 0.01,
    status: wordsOf(status),
    status_code: typeof status === 'number' ? status : 0,
    event,
    action: action ?? null,
    installation_id: idOf(payload['installation']),
    repository_id: idOf(payload['repository']),
    throttled_at: null,
  };
}

function idOf(thing: unknown): number | null {
  const { id } = (thing ?? {}) as { readonly id?: unknown };
  return typeof id === 'number' ? id : null;
}
