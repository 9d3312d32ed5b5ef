import { Type } from 'typebox';
import type { RepositoryRef } from '../storage/repositories.ts';
import { EXAMPLE_REPO, PrNumber, Repo, TargetBranch } from './common.ts';
import { operationsOf } from './operation.ts';
import {
  closed,
  component,
  fixedEnum,
  inputEnum,
  inputInstant,
  inputUuid,
  instant,
  integer,
  limitTo,
  list,
  optional,
  patternText,
  readAs,
  record,
  text,
  uuid,
} from './schema.ts';

const operation = operationsOf('Operations');

const STAYS = ['submitted', 'queued', 'testing', 'pending_failure', 'failed', 'canceled', 'merged'] as const;

/** Made only where a webhook asks for it. */
export const DAILY_DIGEST = 'digest.daily';

export const EVENT_TYPES: readonly string[] = [
  ...STAYS.map((word) => `pull_request.${word}`),
  ...STAYS.map((word) => `pull_request_batch.${word}`),
  ...['created', 'deleted', 'paused', 'resumed', 'drained'].map((word) => `queue.${word}`),
  ...['settings_changed', 'held', 'released', 'breakage_found'].map((word) => `queue.${word}`),
  ...['landing.recorded', 'landing.lost'],
  ...['test_case.status_changed', 'test_case.monitor_status_changed', 'test_case.quarantining_setting_changed'],
  ...['upload.processed', 'upload.ignored'],
  DAILY_DIGEST,
  ...['alarm.raised', 'alarm.ended'],
  ...['token.created', 'token.revoked', 'token.expiring'],
  ...['session.begun', 'session.refused', 'session.revoked'],
  ...['repository.registered', 'repository.renamed', 'repository.removed'],
  ...['webhook.created', 'webhook.changed', 'webhook.deleted', 'webhook.disabled'],
];

/** A webhook may also choose the second form of a change of status. */
export const V2_STATUS_CHANGED = 'v2.test_case.status_changed';
export const WEBHOOK_TYPES: readonly string[] = [...EVENT_TYPES, V2_STATUS_CHANGED];

export const EventId = patternText(
  '^[0-9]{1,15}$',
  'The id of an event: its place in the feed of the organization.',
  'must be the id of an event',
);

export const EventType = Type.String({
  maxLength: 80,
  pattern: '^[a-z0-9_]+\\.(?:[a-z0-9_]+|\\*)$',
  description: `A type such as pull_request.merged, or a family such as pull_request.*. There are ${EVENT_TYPES.join(', ')}.`,
  'x-sluice-message': 'must be a type of event such as pull_request.merged, or a family such as pull_request.*',
});

const filters = optional({
  repo: Repo,
  targetBranch: TargetBranch,
  prNumber: PrNumber,
  testId: inputUuid('Only events of this test.'),
  types: Type.Array(EventType, { minItems: 1, maxItems: 50, description: 'Only events of these types and families.' }),
});

/** Groups may be nested, so the owner is everything between the first and the last slash. */
function readRepo(given: string): RepositoryRef {
  const [host = '', ...rest] = given.split('/');
  return { host, owner: rest.slice(0, -1).join('/'), name: rest.at(-1) ?? '' };
}

export const Event = record('Event', 'Something that happened.', {
  id: text('Its place in the feed of the organization. Later events have larger ids.'),
  type: text('Such as pull_request.merged.'),
  at: instant('When it happened.'),
  actor: record('Actor', 'By whom.', {
    kind: fixedEnum(
      ['token', 'person', 'forge', 'sluice'],
      'A person acted at the forge, or signed in to the dashboard.',
    ),
    name: text(
      'The name of the token, the host of the forge, the @login of a person at the forge, or the name of a person who signed in, with the provider and its subject in parentheses.',
    ),
  }),
  ...optional({
    repo: Repo,
    targetBranch: text('The branch of the queue.'),
    prNumber: integer('The pull request.'),
    testId: uuid('The test.'),
    candidateId: uuid('The test run.'),
  }),
  text: text('What happened, as a sentence.'),
  data: component(
    'EventData',
    Type.Object({}, { additionalProperties: true, description: 'The facts, by the type of the event.' }),
  ),
  digest: Type.Optional(
    text('Only with audit: the SHA-256 of the digest before, a line feed, and this record without digest.'),
  ),
});

export const streamEvents = operation('streamEvents', {
  method: 'GET',
  path: '/events',
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Follow what happens',
  description:
    'The events of listEvents as Server-Sent Events: `id`, `event` (the type) and `data` (the event). A client that comes back with `Last-Event-ID` continues there; others begin with the next event. A comment line comes every 20 seconds. `queue.view` events without an id say that a queue changed, and its version. The stream ends when the token expires or is revoked, and when the reader is too slow: come back with the last id.',
  body: closed(
    optional({
      repo: readAs(
        patternText('^[^/]+/.+/[^/]+$', 'The repository as host/owner/name.', 'must be host/owner/name'),
        readRepo,
      ),
      targetBranch: TargetBranch,
      prNumber: PrNumber,
      testId: inputUuid('Only events of this test.'),
      types: readAs(
        Type.String({ maxLength: 2_000, description: 'Types and families, separated by commas.' }),
        (given) => given.split(',').map((type) => type.trim()),
      ),
    }),
  ),
  reply: Type.String({ description: 'A stream that does not end by itself.' }),
  replyType: 'text/event-stream; charset=utf-8',
  errors: ['REPOSITORY_NOT_FOUND'],
  example: {
    body: {
      repo: 'local/acme/app',
      targetBranch: 'main',
      prNumber: 7,
      testId: '0d7f0a35-6ad6-5d5c-9a4f-2a4be4e4a7f1',
      types: 'pull_request.*',
    },
    reply: 'id: 1042\nevent: pull_request.merged\ndata: {"id":"1042"}\n\n',
  },
});

const EXAMPLE_EVENT = {
  id: '1042',
  type: 'pull_request.merged',
  at: '2026-09-17T10:16:02.000Z',
  actor: { kind: 'sluice', name: 'sluice' },
  repo: EXAMPLE_REPO,
  targetBranch: 'main',
  prNumber: 7,
  text: '#7: Landed on main.',
  data: {},
};

export const listEvents = operation('listEvents', {
  scope: 'read',
  summary: 'List what happened',
  description:
    'Everything in the organization that the token reaches, newest first. A reader that follows asks with order ASC and the cursor of the page before: it misses nothing and sees nothing twice. Events of tokens and webhooks need the scope admin; events without a repository are not for tokens that are limited to repositories.',
  body: closed({
    ...filters,
    ...optional({
      after: inputInstant('Only events at or after this instant.'),
      before: inputInstant('Only events at or before this instant.'),
      audit: Type.Boolean({ description: 'Only the records of the audit, with their digests. Needs the scope admin.' }),
      order: inputEnum(['DESC', 'ASC'], 'DESC is newest first.'),
      cursor: readAs(EventId, Number),
      limit: limitTo(200),
    }),
  }),
  reply: record('EventPage', 'A page of events.', {
    events: list(Event, 'One page.'),
    nextCursor: Type.Optional(
      text('Asks for the next page. With order ASC it is always there: later events continue from it.'),
    ),
  }),
  errors: ['REPOSITORY_NOT_FOUND'],
  example: {
    body: { repo: EXAMPLE_REPO, types: ['pull_request.*'], limit: 10 },
    reply: { events: [EXAMPLE_EVENT], nextCursor: '1042' },
  },
});
