import {
  listWebhookDeliveries,
  replayWebhook,
  replayWebhookDelivery,
  testWebhook,
} from '../../app/webhooks/deliveries.ts';
import {
  createNotification,
  deleteNotification,
  listNotifications,
  testNotification,
} from '../../app/webhooks/notifications.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from '../../app/webhooks/webhooks.ts';
import * as notificationsContract from '../../contract/notifications.ts';
import * as contract from '../../contract/webhooks.ts';
import { type Route, route } from '../core/route.ts';

export const WEBHOOKS_ROUTES: readonly Route[] = [
  route(contract.createWebhook, createWebhook),
  route(contract.listWebhooks, listWebhooks),
  route(contract.updateWebhook, updateWebhook),
  route(contract.deleteWebhook, deleteWebhook),
  route(contract.rotateWebhookSecret, rotateWebhookSecret),
  route(contract.testWebhook, testWebhook),
  route(contract.listWebhookDeliveries, listWebhookDeliveries),
  route(contract.replayWebhookDelivery, replayWebhookDelivery),
  route(contract.replayWebhook, replayWebhook),
  route(notificationsContract.createNotification, createNotification),
  route(notificationsContract.listNotifications, listNotifications),
  route(notificationsContract.deleteNotification, deleteNotification),
  route(notificationsContract.testNotification, testNotification),
];
