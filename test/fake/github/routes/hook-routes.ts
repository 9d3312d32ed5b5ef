import type { Ask, Route } from '../exchange.ts';
import { notFound, Refused } from '../refused.ts';
import { deliveryView, fullDeliveryView, isGood } from '../views/delivery-view.ts';
import type { DeliveryRecord, Webhooks } from '../webhooks.ts';
import { numberOf, ok, type Params } from './tools.ts';

/** GitHub keeps deliveries for three days. */
const KEPT_MS = 3 * 24 * 3_600_000;
const DELIVERIES = '/app/hook/deliveries';

/** The log of deliveries to an app. */
export function hookRoutes(webhooks: Webhooks): readonly Route[] {
  return [
    { method: 'GET', path: DELIVERIES, handle: (ask) => list(ask, webhooks) },
    {
      method: 'GET',
      path: `${DELIVERIES}/{delivery_id}`,
      handle: (ask, params) => ok(fullDeliveryView(deliveryOf(ask, params, webhooks))),
    },
    {
      method: 'POST',
      path: `${DELIVERIES}/{delivery_id}/attempts`,
      handle: (ask, params) => {
        webhooks.redeliver(deliveryOf(ask, params, webhooks).id);
        return { status: 202, body: {} };
      },
    },
  ];
}

/** The deliveries that were sent, newest first. */
function sentTo({ caller, world }: Ask, { deliveries }: Webhooks): readonly DeliveryRecord[] {
  if (caller.kind !== 'app') throw new Refused(401, 'A JSON web token could not be decoded');
  const { id } = caller.app;
  return deliveries
    .filter(({ target }) => target.type === 'integration' && target.id === id)
    .filter(({ status, at }) => status !== 'waiting' && status !== 'lost' && at > world.now() - KEPT_MS)
    .toSorted((one, other) => other.at - one.at || other.number - one.number);
}

function deliveryOf(ask: Ask, params: Params, webhooks: Webhooks): DeliveryRecord {
  const found = sentTo(ask, webhooks).find(({ number }) => number === numberOf(params, 'delivery_id'));
  if (found === undefined) throw notFound();
  return found;
}

/** Pages continue from a delivery instead of a number, since new ones arrive meanwhile. */
function list(ask: Ask, webhooks: Webhooks) {
  const { query, world, path } = ask;
  const wanted = query.get('status');
  const all = sentTo(ask, webhooks).filter(
    ({ status }) => wanted === null || isGood(status) === (wanted === 'success'),
  );
  const size = Math.min(100, Math.max(1, Number(query.get('per_page') ?? 30) || 30));
  const cursor = query.get('cursor');
  const start = cursor === null ? 0 : all.findIndex(({ number }) => `v1_${number}` === cursor);
  if (start < 0) throw new Refused(422, 'The cursor is not one of the list.');
  const next = all[start + size];
  const search = new URLSearchParams(query);
  if (next !== undefined) search.set('cursor', `v1_${next.number}`);
  const link: Record<string, string> =
    next === undefined ? {} : { link: `<${world.url}${path}?${search.toString()}>; rel="next"` };
  return ok(all.slice(start, start + size).map(deliveryView), link);
}
