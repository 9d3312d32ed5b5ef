import { Type } from 'typebox';
import { EXAMPLE_REPO, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import { instant, integer, list, nameText, optional, record, text } from './schema.ts';

const operation = operationsOf('Repositories');

const Cache = record('CheckCache', 'What runs of a check find as an earlier one left it.', {
  repo: Repo,
  targetBranch: text('The branch whose head left it.'),
  check: text('The name of the check.'),
  key: text('Names it within the repository. Caches whose keys begin alike can stand in for each other.'),
  sizeBytes: integer('Its size on the disk of the server.'),
  entries: integer('How many files, folders and links it holds.'),
  createdAt: instant('When it was stored.'),
  usedAt: instant('When a check began with it last.'),
});

const EXAMPLE = {
  repo: EXAMPLE_REPO,
  targetBranch: 'main',
  check: 'unit',
  key: '5f0c2d1e9a7b4c36-8c1f0a2b3d4e5f60718293a4b5c6d7e8',
  sizeBytes: 31_457_280,
  entries: 1_204,
  createdAt: '2026-09-17T10:16:02.000Z',
  usedAt: '2026-09-18T08:02:11.000Z',
};

const filters = {
  repo: Repo,
  check: nameText(255, 'Only those of the check of this name.'),
};

export const listCaches = operation('listCaches', {
  scope: 'instance',
  isOnlyOnV1: true,
  summary: 'List the caches of checks',
  description:
    'Those on the disk of the server that answers, most recently used first. Of several servers each has its own.',
  body: Type.Object({ ...optional(filters) }),
  reply: Type.Object({
    caches: list(Cache, 'The caches.'),
    limitBytes: integer('How many bytes all caches of the server take at most; 0 where it has none.'),
  }),
  errors: ['REPOSITORY_NOT_FOUND'],
  example: { body: { repo: EXAMPLE_REPO }, reply: { caches: [EXAMPLE], limitBytes: 10_737_418_240 } },
});

export const clearCaches = operation('clearCaches', {
  scope: 'instance',
  isOnlyOnV1: true,
  summary: 'Delete caches of checks',
  description:
    'On the disk of the server that answers. Checks that begin later find none; those that run keep what they began with. The next full run on the head of the target branch leaves a new one.',
  body: Type.Object({ ...optional(filters) }),
  reply: Type.Object({ caches: list(Cache, 'What was deleted.') }),
  errors: ['REPOSITORY_NOT_FOUND'],
  example: { body: { repo: EXAMPLE_REPO, check: 'unit' }, reply: { caches: [EXAMPLE] } },
});
