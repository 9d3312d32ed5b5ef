import { Type } from 'typebox';
import { operation } from './operation.ts';
import { outputEnum } from './schema.ts';

export const getServer = operation({
  name: 'getServer',
  method: 'POST',
  path: '/getServer',
  tag: 'Operations',
  scope: 'read',
  summary: 'Say how this server is set up',
  description: 'Of the server that answers: others on the same database may differ.',
  body: Type.Object({}),
  reply: Type.Object({
    version: Type.String({ description: 'Version of Sluice.' }),
    runner: Type.Object(
      {
        protection: outputEnum(
          ['bubblewrap', 'namespaces', 'users', 'none'],
          'What keeps checks of the built-in runner from the files of the server and from each other.',
        ),
        sentence: Type.String({ description: 'The same in words; where it is none, why.' }),
        runsUntrusted: Type.Boolean({ description: 'Whether checks run of repositories without `trustChecks`.' }),
      },
      { description: 'The built-in runner.' },
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
    },
  },
});
