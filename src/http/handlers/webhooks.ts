import {
  listWebhookDeliveries,
  replayWebhook,
  replayWebhookDelivery,
  testWebhook,
} from '../../app/webhooks/deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from '../../app/webhooks/webhooks.ts';
import { upper } from '../../contract/schema.ts';
import * as webhooksContract from '../../contract/webhooks.ts';
import { instant } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';

export const WEBHOOKS_ROUTES: readonly Route[] = [
  route(webhooksContract.createWebhook, ({ app, caller }, { name, url, format, types, repositories, secret }) =>
    createWebhook(app, caller, { name, url, format: upper(format), types, repositories, secret }),
  ),
  route(webhooksContract.listWebhooks, ({ app, caller }) => listWebhooks(app, caller)),
  route(webhooksContract.updateWebhook, ({ app, caller }, { id, name, url, types, repositories, enabled }) =>
    updateWebhook(app, caller, { id: id.toLowerCase(), name, url, types, repositories, isEnabled: enabled }),
  ),
  route(webhooksContract.deleteWebhook, ({ app, caller }, { id }) =>
    deleteWebhook(app, caller, { id: id.toLowerCase() }),
  ),
  route(webhooksContract.rotateWebhookSecret, ({ app, caller }, { id, secret }) =>
    rotateWebhookSecret(app, caller, { id: id.toLowerCase(), secret }),
  ),
  route(webhooksContract.testWebhook, ({ app, caller }, { id }) => testWebhook(app, caller, { id: id.toLowerCase() })),
  route(webhooksContract.listWebhookDeliveries, ({ app, caller }, { id, state, cursor, limit = 50 }) =>
    listWebhookDeliveries(app, caller, {
      id: id.toLowerCase(),
      state: state === undefined ? undefined : upper(state),
      cursor,
      limit,
    }),
  ),
  route(webhooksContract.replayWebhookDelivery, ({ app, caller }, { id, deliveryId }) =>
    replayWebhookDelivery(app, caller, { id: id.toLowerCase(), deliveryId }),
  ),
  route(webhooksContract.replayWebhook, ({ app, caller }, { id, after }) =>
    replayWebhook(app, caller, { id: id.toLowerCase(), after: instant('/after', after) }),
  ),
];
