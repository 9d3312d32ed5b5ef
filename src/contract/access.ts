import { type Static, Type } from 'typebox';
import { SLUG_PATTERN, SLUG_SENTENCE } from '../lib/text.ts';
import { SCOPES } from '../storage/accounts.ts';
import { Empty, EXAMPLE_REPO, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import {
  boolean,
  component,
  fixedEnum,
  inputInstant,
  inputUuid,
  instant,
  integer,
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

const operation = operationsOf('Access');

export const ScopeName = component(
  'Scope',
  fixedEnum(
    SCOPES,
    'read; upload (test results, quarantine lookup); evidence (the same as upload, for tokens of earlier versions); targets (setImpactedTargets); report (check results); submit (submit, cancel, restart); maintain (pause, resume, freeze; acts on tests and uploads); admin (everything of the organization); instance (organizations, plain git paths, runner commands, backups).',
  ),
);

const tokenFields = {
  id: uuid('Id of the token; not a secret.'),
  name: text('What it is for. It is the actor of everything done with the token.'),
  scopes: list(ScopeName, 'What it may do.'),
  repositories: nullableList<Static<typeof Repo>>(Repo, 'What it may see; null for every repository.'),
  createdAt: instant('When it was made.'),
  expiresAt: nullableInstant(
    'When it stops working; null for never. Of a personal one, 30 days after the last sign-in of its maker at the latest.',
  ),
  lastUsedAt: nullableInstant('When it was used last, to within some seconds; null for never.'),
  revokedAt: nullableInstant('When it was revoked; null if it is not.'),
  madeBy: nullable('string', 'Who made it, as the audit names them; null if the server did, or nobody recorded it.'),
  isPersonal: boolean('Whether it allows no more than the person who made it may do now.'),
  isAgent: boolean('Whether a program that writes pull requests has it.'),
};

const EXAMPLE_TOKEN = {
  id: '0d7f0a35-6ad6-4d5c-9a4f-2a4be4e4a7f1',
  name: 'ci',
  scopes: ['targets'],
  repositories: [EXAMPLE_REPO],
  createdAt: '2026-09-17T10:16:02.000Z',
  expiresAt: '2027-09-17T00:00:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
  madeBy: 'Ada Lovelace (sso:248289761001)',
  isPersonal: false,
  isAgent: false,
};

/** Only a repeated answer lacks the secret, and only a client that sends an idempotency key gets one. */
function secret(description: string) {
  return {
    token: Type.Optional(text(description)) as unknown as ReturnType<typeof text>,
    note: Type.Optional(text('Only in an answer that repeats an earlier one: that the token is left out.')),
  };
}

export const createOrganization = operation('createOrganization', {
  scope: 'instance',
  summary: 'Create an organization',
  description: 'Answers its first admin token, which is shown only here and expires with the token that was used.',
  isIdempotent: true,
  secrets: ['token'],
  body: Type.Object({
    slug: Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: SLUG_PATTERN,
      description: 'Name of the organization in addresses.',
      'x-sluice-message': SLUG_SENTENCE,
    }),
  }),
  reply: Type.Object({
    slug: text('Name of the organization.'),
    ...secret('Its first token, with the scope admin. Keep it: it is not shown again.'),
  }),
  errors: ['ORGANIZATION_ALREADY_EXISTS'],
  example: { body: { slug: 'acme' }, reply: { slug: 'acme', token: 'slc_…' } },
});

export const createApiToken = operation('createApiToken', {
  scope: 'admin',
  summary: 'Make a token',
  description:
    'Give CI a token with upload or targets alone: the code it runs can read the token. A person who signed in makes it for themselves: it then allows no more than that person may do at the time, and lasts 90 days at most (SLUICE_TOKEN_DAYS).',
  isIdempotent: true,
  secrets: ['token'],
  body: Type.Object({
    name: nameText(100, 'What it is for.'),
    scopes: Type.Array(ScopeName, { minItems: 1, maxItems: SCOPES.length, description: 'What it may do.' }),
    ...optional({
      repositories: Type.Array(Repo, {
        minItems: 1,
        maxItems: 1000,
        description: 'What it may see. Absent: every repository. Not with the scope instance.',
      }),
      expiresAt: inputInstant('When it stops working, not after the token that makes it. Absent: with that one.'),
      service: boolean(
        'For a service: it does not end with the rights of the person who makes it. Only for admins of all.',
      ),
      agent: boolean(
        'For a program that writes pull requests: its submissions are shown and counted apart. So is each token made with it.',
      ),
    }),
  }),
  reply: Type.Object({ ...tokenFields, ...secret('The secret. It is not shown again.') }),
  errors: ['REPOSITORY_NOT_FOUND'],
  example: {
    body: { name: 'ci', scopes: ['targets'], repositories: [EXAMPLE_REPO], expiresAt: '2027-09-17T00:00:00Z' },
    reply: { ...EXAMPLE_TOKEN, token: 'slc_…' },
  },
});

export const createSignInLink = operation('createSignInLink', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Make a link that signs in to the dashboard',
  description: 'For the person who has the token: the dashboard gets its rights. The link works once, for 10 minutes.',
  secrets: ['url'],
  body: Empty,
  reply: Type.Object({
    url: text('The address to open in a browser. It is a secret until then.'),
    expiresAt: instant('When it stops working.'),
  }),
  errors: [],
  example: {
    body: {},
    reply: { url: 'https://sluice.acme.dev/login#…', expiresAt: '2026-09-17T10:26:02.000Z' },
  },
});

const EXAMPLE_SESSION = {
  id: 'b1946ac92492d2347c6235b4d2611184f1c8b1d1f0c1c4ff7c3b3d2f8a1e6d70',
  name: 'Ada Lovelace (sso:248289761001)',
  provider: 'sso',
  subject: '248289761001',
  createdAt: '2026-09-17T08:00:00.000Z',
  lastUsedAt: '2026-09-17T10:16:02.000Z',
  expiresAt: '2026-09-17T16:00:00.000Z',
};

export const listSessions = operation('listSessions', {
  scope: 'admin',
  isOnlyOnV1: true,
  summary: 'List the people who are signed in',
  description: 'Sessions that began with a token are not among them: they end with their token.',
  body: Empty,
  reply: Type.Object({
    sessions: list(
      record('PersonSession', 'The session of a person on the dashboard.', {
        id: text('Id of the session; not a secret.'),
        name: text('The person, as the audit names them.'),
        provider: text('Who proved it.'),
        subject: text('The id of the person at that provider.'),
        createdAt: instant('When the person signed in.'),
        lastUsedAt: instant('When it was used last, to within a minute.'),
        expiresAt: instant('When it ends if it is not used again.'),
      }),
      'The latest first.',
    ),
  }),
  errors: [],
  example: { body: {}, reply: { sessions: [EXAMPLE_SESSION] } },
});

export const revokeSession = operation('revokeSession', {
  scope: 'admin',
  isOnlyOnV1: true,
  summary: 'End the session of a person',
  description:
    'At once, on all servers, together with the personal tokens that the person made in the organization. The person can sign in again unless the provider or the table of roles says no.',
  body: Type.Object({
    id: patternText('^[0-9a-f]{64}$', 'Id of the session.', 'must be the id of a session'),
  }),
  reply: Type.Object({ revokedTokens: integer('How many tokens ended with it.') }),
  errors: ['SESSION_NOT_FOUND'],
  example: { body: { id: EXAMPLE_SESSION.id }, reply: { revokedTokens: 0 } },
});

export const listApiTokens = operation('listApiTokens', {
  scope: 'admin',
  summary: 'List the tokens of the organization',
  description: 'Without their secrets, in the order in which they were made, revoked ones too.',
  body: Type.Object({}),
  reply: Type.Object({
    tokens: list(record('Token', 'A token, without its secret.', tokenFields), 'The tokens.'),
  }),
  errors: [],
  example: { body: {}, reply: { tokens: [EXAMPLE_TOKEN] } },
});

export const revokeApiToken = operation('revokeApiToken', {
  scope: 'admin',
  summary: 'Revoke a token',
  description:
    'It stops working at once. Revoking it again changes nothing. One with the scope instance is revoked with another one.',
  body: Type.Object({
    id: inputUuid('Id of the token.'),
    evenIfLast: Type.Optional(boolean('Revoke it although no administrator gets in without it.')),
  }),
  reply: Empty,
  errors: ['TOKEN_NOT_FOUND', 'LAST_ADMINISTRATOR'],
  example: { body: { id: EXAMPLE_TOKEN.id }, reply: {} },
});
