import { Type } from 'typebox';
import { PERSONAL_FORMATS } from '../storage/webhooks.ts';
import { Empty, EXAMPLE_REPO, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import {
  boolean,
  closed,
  fixedEnum,
  inputEnum,
  inputUuid,
  instant,
  integer,
  list,
  nullableInstant,
  optional,
  record,
  text,
  uuid,
} from './schema.ts';

const operation = operationsOf('Operations');

/** TEAMS and SLACK post to an address that the person made; the others need a connection of the server. */
const VIAS = [...PERSONAL_FORMATS, 'TEAMS', 'SLACK', 'STANDARD'] as const;
const RULES = ['ENDED', 'REMOVED', 'DIGEST'] as const;

const Account = record('NotifiedAccount', 'The author of the pull requests.', {
  host: Type.String({ minLength: 1, maxLength: 253, description: 'The host of the forge; `local` for plain git.' }),
  login: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    description: 'The login there; on plain git, the name that commits have.',
    'x-sluice-message': 'must be a name without control characters',
  }),
});

const Notification = record('Notification', 'Messages to a person.', {
  id: uuid('The id of it, and of its deliveries.'),
  account: Account,
  via: fixedEnum(VIAS, 'How they are sent.'),
  when: list(Type.String(), 'ENDED, REMOVED or DIGEST.'),
  address: text('Where to, without its secret parts.'),
  createdBy: text('Who set it up.'),
  createdAt: instant('When.'),
  failingSince: nullableInstant('The first failure since the last success; null if it works.'),
  disabledAt: nullableInstant('When it was given up; null if it was not.'),
});

const EXAMPLE = {
  id: '3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10',
  account: { host: 'github.com', login: 'ada' },
  via: 'EMAIL',
  when: ['ENDED'],
  address: 'a…@acme.dev',
  createdBy: 'admin',
  createdAt: '2026-09-17T10:16:02.000Z',
  failingSince: null,
  disabledAt: null,
};
const Id = inputUuid('Its id.');
const common = { scope: 'read', isOnlyOnV1: true } as const;

export const createNotification = operation('createNotification', {
  ...common,
  summary: 'Send a person messages about their pull requests',
  description:
    'By mail (an address), to a member of Slack (the id, such as U012AB3CD), to a webhook of Teams or Slack (its address), or as a plain webhook. ENDED tells of landings and removals, REMOVED of removals alone, DIGEST once a day of flaky tests. People who signed in set up their own proven accounts; for others it needs the scope admin.',
  body: closed({
    account: Account,
    via: inputEnum(VIAS, 'How they are sent.'),
    address: Type.String({ minLength: 3, maxLength: 2_000, description: 'Where to. It is encrypted.' }),
    ...optional({
      when: Type.Array(inputEnum(RULES, 'When.'), { minItems: 1, maxItems: 3, description: 'Absent: ENDED.' }),
      repositories: Type.Array(Repo, {
        minItems: 1,
        maxItems: 1_000,
        description: 'Only these. Absent: all that the caller reaches.',
      }),
    }),
  }),
  reply: Notification,
  errors: ['REPOSITORY_NOT_FOUND', 'WEBHOOK_LIMIT_REACHED', 'SECRET_KEY_DIFFERS', 'NOT_YOUR_ACCOUNT'],
  example: {
    body: { account: EXAMPLE.account, via: 'EMAIL', address: 'ada@acme.dev', repositories: [EXAMPLE_REPO] },
    reply: EXAMPLE,
  },
});

export const listNotifications = operation('listNotifications', {
  ...common,
  summary: 'List messages to people',
  description: 'Those of the own accounts; with the scope admin, all. Addresses are masked.',
  body: Type.Object({}),
  reply: Type.Object({ notifications: list(Notification, 'In the order in which they were made.') }),
  errors: [],
  example: { body: {}, reply: { notifications: [EXAMPLE] } },
});

export const deleteNotification = operation('deleteNotification', {
  ...common,
  summary: 'End messages to a person',
  description: 'With the record of their deliveries.',
  body: closed({ id: Id }),
  reply: Empty,
  errors: ['WEBHOOK_NOT_FOUND'],
  example: { body: { id: EXAMPLE.id }, reply: {} },
});

export const testNotification = operation('testNotification', {
  ...common,
  summary: 'Send a person a test message',
  description: 'Once and at once.',
  body: closed({ id: Id }),
  reply: Type.Object({
    delivered: boolean('Whether it was taken.'),
    ...optional({ status: integer('The status of HTTP or SMTP.'), problem: text('Why there is none.') }),
  }),
  errors: ['WEBHOOK_NOT_FOUND'],
  example: { body: { id: EXAMPLE.id }, reply: { delivered: true, status: 250 } },
});
