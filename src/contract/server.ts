import { Type } from 'typebox';
import { EXPOSITION_CONTENT_TYPE } from '../lib/exposition.ts';
import { ScopeName } from './access.ts';
import { operationsOf } from './operation.ts';
import {
  boolean,
  closed,
  integer,
  list,
  nameText,
  nullable,
  nullableInstant,
  object,
  outputEnum,
  text,
} from './schema.ts';

const operation = operationsOf('Operations');

export const getServer = operation('getServer', {
  scope: 'read',
  summary: 'Say how this server is set up',
  description: 'Of the server that answers: others on the same database may differ.',
  body: Type.Object({}),
  reply: Type.Object({
    version: text('Version of Sluice.'),
    runner: object('The built-in runner.', {
      protection: outputEnum(
        ['bubblewrap', 'namespaces', 'users', 'none'],
        'What keeps checks of the built-in runner from the files of the server and from each other.',
      ),
      sentence: text('The same in words; where it is none, why.'),
      runsUntrusted: boolean('Whether checks run of repositories without `trustChecks`.'),
    }),
    backup: Type.Optional(
      object('The backup that is being written now. Absent while none is.', {
        copiedPages: integer('How many pages of the store are copied.'),
        totalPages: integer('How many it has.'),
      }),
    ),
    caller: Type.Optional(
      object('The token that was used. Absent from servers that are older than it.', {
        name: text('Its name: the actor of everything done with it.'),
        organization: text('The slug of the organization that it acts for.'),
        scopes: list(ScopeName, 'What it may do.'),
        expiresAt: nullableInstant('When it stops working; null for never.'),
      }),
    ),
  }),
  errors: [],
  example: {
    body: {},
    reply: {
      version: '1.0.0',
      runner: {
        protection: 'bubblewrap',
        sentence: 'Each check runs in a sandbox of its own (bubblewrap), without network unless it asks for it.',
        runsUntrusted: true,
      },
      caller: { name: 'ada', organization: 'acme', scopes: ['read', 'submit'], expiresAt: null },
    },
  },
});

export const getServerMetrics = operation('getServerMetrics', {
  method: 'GET',
  path: '/metrics',
  scope: 'instance',
  summary: 'Read metrics of the server and of everything on it',
  description:
    'In the Prometheus text exposition format, also at GET /metrics: process, requests, store, uploads, effects and hints that wait, backups. `SLUICE_METRICS_TOKEN` opens it too. While the store does not answer, values that come from it are those that were read last. Counters of the process and of requests are those of the server that answers.',
  isOnlyOnV1: true,
  body: Type.Object({}),
  reply: text('The metrics.'),
  replyType: EXPOSITION_CONTENT_TYPE,
  errors: [],
  example: {
    body: {},
    reply:
      '# HELP sluice_store_size_bytes Size of the database.\n# TYPE sluice_store_size_bytes gauge\nsluice_store_size_bytes{} 1048576\n',
  },
});

const file = nameText(
  4096,
  "A name in the server's own folder of backups, or an absolute path on the server's machine.",
);

export const createBackup = operation('createBackup', {
  scope: 'instance',
  summary: 'Copy the store to a file, while it is used',
  description:
    'One consistent copy: of the embedded store, or of PostgreSQL by the `pg_dump` of the machine of the server that answers. Nothing is overwritten, and no folder is created.',
  isIdempotent: true,
  body: closed({ file: Type.Optional(file) }),
  reply: Type.Object({
    file: text("Where the copy is, on the server's machine."),
    sizeBytes: integer('How large it is.'),
  }),
  errors: [],
  example: { body: {}, reply: { file: '/var/lib/sluice/backups/2026-09-17T10-16-02Z.db', sizeBytes: 1048576 } },
});

export const restoreBackup = operation('restoreBackup', {
  scope: 'instance',
  summary: 'Replace everything in the embedded store by a backup, while it is used',
  description:
    'Afterwards it is all there, or nothing changed. Tokens are those of the backup, and the one in the file admin-token of the server.',
  body: closed({ file }),
  reply: Type.Object({
    tokenFile: nullable(
      'string',
      "A file on the server's machine with a token that counts now; null if there is none.",
    ),
  }),
  errors: [],
  example: { body: { file: '2026-09-17T10-16-02Z.db' }, reply: { tokenFile: '/var/lib/sluice/admin-token' } },
});
