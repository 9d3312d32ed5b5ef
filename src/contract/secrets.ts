import { Type } from 'typebox';
import { Empty, EXAMPLE_REPO, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import { instant, list, nameText, record, text } from './schema.ts';

const operation = operationsOf('Repositories');

const Name = nameText(100, 'The name of the variable, such as NPM_TOKEN.');
const EXAMPLE = { name: 'NPM_TOKEN', setBy: 'ada', setAt: '2026-09-17T10:16:02.000Z' };

export const setSecret = operation('setSecret', {
  scope: 'admin',
  isOnlyOnV1: true,
  summary: 'Set a secret that checks of the built-in runner get as a variable',
  description:
    'It is encrypted, and no operation answers it. Checks of `.sluice.yaml` that name it in `secrets` get it on the head of the target branch, and on pull requests only if `fileChecks.secretsForPullRequests` is true. Logs and reports show `***` for it.',
  body: Type.Object({
    repo: Repo,
    name: Name,
    value: Type.String({ minLength: 8, maxLength: 4_096, description: 'A shorter one could not be masked.' }),
  }),
  reply: Empty,
  errors: ['REPOSITORY_NOT_FOUND'],
  example: { body: { repo: EXAMPLE_REPO, name: EXAMPLE.name, value: 'npm_0123456789' }, reply: {} },
});

export const listSecrets = operation('listSecrets', {
  scope: 'admin',
  isOnlyOnV1: true,
  summary: 'List the names of the secrets of a repository',
  description: 'Never their values.',
  body: Type.Object({ repo: Repo }),
  reply: Type.Object({
    secrets: list(
      record('Secret', 'A variable for checks.', {
        name: text('Its name.'),
        setBy: text('The name of the token that set it.'),
        setAt: instant('When it was set.'),
      }),
      'By name.',
    ),
  }),
  errors: ['REPOSITORY_NOT_FOUND'],
  example: { body: { repo: EXAMPLE_REPO }, reply: { secrets: [EXAMPLE] } },
});

export const removeSecret = operation('removeSecret', {
  scope: 'admin',
  isOnlyOnV1: true,
  summary: 'Remove a secret',
  description: 'Checks that start afterwards do not get it.',
  body: Type.Object({ repo: Repo, name: Name }),
  reply: Empty,
  errors: ['REPOSITORY_NOT_FOUND'],
  example: { body: { repo: EXAMPLE_REPO, name: EXAMPLE.name }, reply: {} },
});
