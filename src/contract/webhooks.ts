import { type Static, Type } from 'typebox';
import { DELIVERY_STATES, PERSONAL_FORMATS, WEBHOOK_FORMATS } from '../storage/webhooks.ts';
import { Empty, EXAMPLE_REPO, Repo } from './common.ts';
import { V2_STATUS_CHANGED } from './events.ts';
import { operationsOf } from './operation.ts';
import {
  boolean,
  closed,
  fixedEnum,
  inputEnum,
  inputInstant,
  inputUuid,
  instant,
  integer,
  limitTo,
  list,
  nameText,
  nullable,
  nullableInstant,
  nullableList,
  optional,
  patternText,
  record,
  text,
  uuid,
} from './schema.ts';

const WebhookType = Type.String({
  maxLength: 80,
  pattern: '^(?:v2\\.)?[a-z0-9_]+\\.(?:[a-z0-9_]+|\\*)$',
  description: `A type of event, a family such as pull_request.*, or ${V2_STATUS_CHANGED}. listEvents names all types.`,
  'x-sluice-message': 'must be a type of event such as pull_request.merged, or a family such as pull_request.*',
});

const Url = Type.String({
  minLength: 10,
  maxLength: 2_000,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  description: 'Where messages are posted. It is encrypted, and never shown again as a whole.',
  'x-sluice-message': 'must be an address that begins with https:// or http://',
});

const Secret = Type.String({
  maxLength: 200,
  description: 'whsec_ and 24 to 64 bytes in base64. Absent: one is made.',
});

const Types = Type.Array(WebhookType, { minItems: 1, maxItems: 50, description: 'Which events it is told of.' });
const Repositories = Type.Array(Repo, {
  minItems: 1,
  maxItems: 1_000,
  description: 'Only events of these. Absent: of every repository that the token reaches.',
});
const Id = inputUuid('The id of the webhook.');
const DeliveryId = patternText(
  '^msg_[0-9a-f]{32}$',
  'The id of the delivery: the header webhook-id.',
  'must be the id of a delivery, as listWebhookDeliveries shows it',
);

const fields = {
  id: uuid('The id of the webhook.'),
  name: text('What it is for.'),
  format: fixedEnum(
    [...WEBHOOK_FORMATS, ...PERSONAL_FORMATS],
    'STANDARD is for programs; the others are messages for people.',
  ),
  types: list(Type.String(), 'The types and families of events that it is told of.'),
  repositories: nullableList<Static<typeof Repo>>(Repo, 'Only events of these; null for all of the organization.'),
  url: text('The address, without its secret parts.'),
  reachesPrivateNetworks: boolean('A token with the scope instance set its address.'),
  createdBy: text('The token that made it.'),
  createdAt: instant('When it was made.'),
  previousSecretUntil: nullableInstant(
    'The secret before the last rotation is valid until then; null if there is none.',
  ),
  failingSince: nullableInstant('The first failure since the last success; null if it works.'),
  disabledAt: nullableInstant('When it was disabled; null if it is not.'),
  hasOtherKey: boolean('It was encrypted with another SLUICE_SECRET_KEY, so that this server cannot send to it.'),
};

const secretFields = {
  secret: Type.Optional(text('Checks signatures. It is not shown again.')) as unknown as ReturnType<typeof text>,
  note: Type.Optional(text('Only in an answer that repeats an earlier one: that the secret is left out.')),
};

const Webhook = record('Webhook', 'An endpoint that is told of events.', fields);

const EXAMPLE_WEBHOOK = {
  id: '3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10',
  name: 'deploys',
  format: 'STANDARD',
  types: ['pull_request.merged'],
  repositories: [EXAMPLE_REPO],
  url: 'https://deploys.example.com/…',
  reachesPrivateNetworks: false,
  createdBy: 'admin',
  createdAt: '2026-09-17T10:16:02.000Z',
  previousSecretUntil: null,
  failingSince: null,
  disabledAt: null,
  hasOtherKey: false,
};
const EXAMPLE_ID = { id: EXAMPLE_WEBHOOK.id };
const operation = operationsOf('Operations');
const common = { scope: 'admin', isOnlyOnV1: true } as const;

export const createWebhook = operation('createWebhook', {
  ...common,
  summary: 'Tell an endpoint of events',
  description:
    'Messages are signed as Standard Webhooks; the answer has the secret, which is shown only here. A webhook gets only events of repositories that this token reaches. Addresses of private networks need the scope instance.',
  isIdempotent: true,
  secrets: ['secret'],
  body: closed({
    name: nameText(100, 'What it is for.'),
    url: Url,
    format: inputEnum(WEBHOOK_FORMATS, 'STANDARD is for programs; SLACK and TEAMS are messages for people.'),
    types: Types,
    repositories: Type.Optional(Repositories),
    secret: Type.Optional(Secret),
  }),
  reply: Type.Object({ ...fields, ...secretFields }),
  errors: ['REPOSITORY_NOT_FOUND', 'WEBHOOK_LIMIT_REACHED', 'SECRET_KEY_DIFFERS'],
  example: {
    body: {
      name: 'deploys',
      url: 'https://deploys.example.com/sluice',
      format: 'STANDARD',
      types: ['pull_request.merged'],
      repositories: [EXAMPLE_REPO],
    },
    reply: { ...EXAMPLE_WEBHOOK, secret: 'whsec_…' },
  },
});

export const listWebhooks = operation('listWebhooks', {
  ...common,
  summary: 'List the webhooks of the organization',
  description: 'In the order in which they were made, without secrets. Addresses are masked.',
  body: Type.Object({}),
  reply: Type.Object({ webhooks: list(Webhook, 'The webhooks.') }),
  errors: [],
  example: { body: {}, reply: { webhooks: [EXAMPLE_WEBHOOK] } },
});

export const updateWebhook = operation('updateWebhook', {
  ...common,
  summary: 'Change a webhook',
  description:
    'Changes the fields that are given. A webhook that is enabled again begins with the next event; replayWebhook sends what it missed.',
  body: closed({
    id: Id,
    ...optional({
      name: nameText(100, 'What it is for.'),
      url: Url,
      types: Types,
      repositories: Repositories,
      enabled: Type.Boolean({ description: 'false stops all deliveries; true begins again.' }),
    }),
  }),
  reply: Webhook,
  errors: ['WEBHOOK_NOT_FOUND', 'REPOSITORY_NOT_FOUND', 'SECRET_KEY_DIFFERS'],
  example: {
    body: { ...EXAMPLE_ID, types: ['pull_request.*'] },
    reply: { ...EXAMPLE_WEBHOOK, types: ['pull_request.*'] },
  },
});

export const deleteWebhook = operation('deleteWebhook', {
  ...common,
  summary: 'Delete a webhook',
  description: 'With the record of its deliveries.',
  body: closed({ id: Id }),
  reply: Empty,
  errors: ['WEBHOOK_NOT_FOUND'],
  example: { body: EXAMPLE_ID, reply: {} },
});

export const rotateWebhookSecret = operation('rotateWebhookSecret', {
  ...common,
  summary: 'Replace the secret of a webhook',
  description: 'For 24 hours messages are signed with both, so that the receiver can be changed in between.',
  isIdempotent: true,
  secrets: ['secret'],
  body: closed({ id: Id, secret: Type.Optional(Secret) }),
  reply: Type.Object({ ...fields, ...secretFields }),
  errors: ['WEBHOOK_NOT_FOUND', 'SECRET_KEY_DIFFERS'],
  example: {
    body: EXAMPLE_ID,
    reply: { ...EXAMPLE_WEBHOOK, previousSecretUntil: '2026-09-18T10:16:02.000Z', secret: 'whsec_…' },
  },
});

export const testWebhook = operation('testWebhook', {
  ...common,
  summary: 'Send a test message',
  description: 'Once and at once, of the type webhook.test. The answer of the endpoint is not shown, only its status.',
  body: closed({ id: Id }),
  reply: Type.Object({
    delivered: boolean('Whether the endpoint answered with a status of success.'),
    status: Type.Optional(integer('The HTTP status of the endpoint.')),
    problem: Type.Optional(
      text(
        'The reason why there was no answer, such as TIMEOUT, or NO_ALLOWED_ADDRESS for a name that has no address which messages may go to.',
      ),
    ),
  }),
  errors: ['WEBHOOK_NOT_FOUND'],
  example: { body: EXAMPLE_ID, reply: { delivered: true, status: 204 } },
});

const Delivery = record('WebhookDelivery', 'A message to an endpoint.', {
  id: text('The same on every attempt: the header webhook-id.'),
  eventId: text('The event, as listEvents shows it.'),
  type: text('The type of the message.'),
  state: fixedEnum(DELIVERY_STATES, 'PENDING waits for its next attempt.'),
  attempts: integer('How often it was tried.'),
  createdAt: instant('When it was made.'),
  lastTriedAt: nullableInstant('When it was tried last; null before the first attempt.'),
  nextAttemptAt: nullableInstant('When it is tried next; null if it has ended.'),
  lastStatus: nullable('integer', 'The HTTP status of the last attempt; null if there was none.'),
  lastProblem: nullable('string', 'The reason why the last attempt had no status, such as TIMEOUT; else null.'),
});

const EXAMPLE_DELIVERY = {
  id: 'msg_5e0d3f0c9a1b4c2d8e7f6a5b4c3d2e1f',
  eventId: '1042',
  type: 'pull_request.merged',
  state: 'DELIVERED',
  attempts: 1,
  createdAt: '2026-09-17T10:16:02.000Z',
  lastTriedAt: '2026-09-17T10:16:02.120Z',
  nextAttemptAt: null,
  lastStatus: 204,
  lastProblem: null,
};

export const listWebhookDeliveries = operation('listWebhookDeliveries', {
  ...common,
  summary: 'List the deliveries of a webhook',
  description: 'Newest first. Deliveries that have ended are kept for 30 days.',
  body: closed({
    id: Id,
    ...optional({
      state: inputEnum(DELIVERY_STATES, 'Only deliveries in this state.'),
      cursor: patternText(
        '^[0-9]{1,15}\\.msg_[0-9a-f]{32}$',
        'nextCursor of the page before.',
        'must be the nextCursor of the page before',
      ),
      limit: limitTo(200),
    }),
  }),
  reply: record('WebhookDeliveryPage', 'A page of deliveries.', {
    deliveries: list(Delivery, 'One page.'),
    nextCursor: Type.Optional(text('Asks for the next page. Absent on the last one.')),
  }),
  errors: ['WEBHOOK_NOT_FOUND'],
  example: { body: { ...EXAMPLE_ID, state: 'DELIVERED' }, reply: { deliveries: [EXAMPLE_DELIVERY] } },
});

export const replayWebhookDelivery = operation('replayWebhookDelivery', {
  ...common,
  summary: 'Send a delivery again',
  description: 'With the same id, at once, and with all its attempts anew.',
  body: closed({ id: Id, deliveryId: DeliveryId }),
  reply: Empty,
  errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_DELIVERY_NOT_FOUND', 'WEBHOOK_DISABLED'],
  example: { body: { ...EXAMPLE_ID, deliveryId: EXAMPLE_DELIVERY.id }, reply: {} },
});

export const replayWebhook = operation('replayWebhook', {
  ...common,
  summary: 'Send everything since an instant again',
  description:
    'Events that the webhook got before come with the same ids, so that a receiver that keeps ids sees what it missed.',
  body: closed({ id: Id, after: inputInstant('Events at or after this instant.') }),
  reply: Empty,
  errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_DISABLED'],
  example: { body: { ...EXAMPLE_ID, after: '2026-09-17T08:00:00Z' }, reply: {} },
});
