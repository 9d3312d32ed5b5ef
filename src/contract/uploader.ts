import { Type } from 'typebox';
import { EXAMPLE_REPO, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import { boolean, list, nameText, nullable, object, text } from './schema.ts';

const operation = operationsOf('Uploaders');

/** The protocol of existing uploaders. They send unused fields, and more with every version. */
const caller = { repo: Repo, orgUrlSlug: nameText(255, "The organization's slug.") };

const maybeText = (description: string) => Type.Optional(nullable('string', description));

const EXAMPLE_TEST_ID = 'd8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11';
const EXAMPLE_UPLOAD_ID = '7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11';

export const createBundleUpload = operation('createBundleUpload', {
  path: '/metrics/createBundleUpload',
  scope: 'upload',
  summary: 'Ask for an address to put a bundle to',
  description:
    'PUT the bundle (a tar archive packed with zstd, at most 100 MiB) to `url` within an hour; that needs no token. The first whole bundle counts, later ones are answered alike and change nothing. Nobody has to say that it is there. Uploaders also post figures about themselves to `flakytests-cli/upload-metrics`, which are thrown away.',
  body: Type.Object({
    ...caller,
    clientVersion: maybeText('Which uploader this is.'),
    remoteUrls: Type.Optional(
      Type.Unsafe<readonly string[] | null>({
        type: ['array', 'null'],
        items: { type: 'string' },
        description: 'Addresses of the repository; not used.',
      }),
    ),
    externalId: maybeText('Id of the CI job; not used.'),
    testCollectionShortId: maybeText('Not used.'),
  }),
  reply: Type.Object({
    id: text('Id of the upload; the meta.json of the bundle must have it.'),
    idV2: text('The same id.'),
    url: text('Where to put the bundle.'),
    key: text('A name of it that means nothing.'),
  }),
  errors: ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'],
  example: {
    body: {
      repo: EXAMPLE_REPO,
      orgUrlSlug: 'default',
      clientVersion: 'trunk-analytics-cli cargo=0.13.0',
      remoteUrls: ['https://git.example/acme/app.git'],
      externalId: null,
      testCollectionShortId: null,
    },
    reply: {
      id: EXAMPLE_UPLOAD_ID,
      idV2: EXAMPLE_UPLOAD_ID,
      url: `https://sluice.example/uploads/${EXAMPLE_UPLOAD_ID}?expires=1790000000000&signature=…`,
      key: `default/${EXAMPLE_UPLOAD_ID}`,
    },
  },
});

const MAX_TESTS = 100_000;

export const getQuarantineConfig = operation('getQuarantineConfig', {
  path: '/metrics/getQuarantineConfig',
  scope: 'upload',
  longList: { key: 'testIdentifiers', fields: 6 },
  summary: 'Ask which failing tests are quarantined',
  description:
    'Answers those of the ids that are quarantined, as they were sent; without any, every quarantined id. An id that stands for tests in several suites is left out unless the quarantine covers all of them, or all that suitePaths names. A repository that is not known has none.',
  body: Type.Object({
    ...caller,
    testIdentifiers: Type.Array(
      object('A failing test.', {
        id: text('Id of the test, or the attribute id of its report.'),
        name: text('Name of the test.'),
        parentName: Type.Optional(nullable('string', 'Name of the suite.')),
        className: maybeText('Name of the class.'),
        file: maybeText('File of the test.'),
        variant: maybeText('Variant of the test.'),
        suitePaths: Type.Optional(
          Type.Array(Type.String(), {
            maxItems: 100,
            description: 'The suites below parentName in which it failed: a quarantine covers those it was made of.',
          }),
        ),
      }),
      { maxItems: MAX_TESTS, description: 'The failing tests; empty: every quarantined test is wanted.' },
    ),
  }),
  reply: Type.Object({
    isDisabled: boolean('Quarantine is off in this repository.'),
    testIds: list(Type.String(), 'Ids of quarantined tests.'),
  }),
  errors: ['ORGANIZATION_NOT_FOUND'],
  example: {
    body: {
      repo: EXAMPLE_REPO,
      orgUrlSlug: 'default',
      testIdentifiers: [
        {
          id: EXAMPLE_TEST_ID,
          name: 'retries on a closed connection',
          parentName: 'connection',
          className: null,
          file: 'test/connection.test.ts',
          variant: '',
        },
      ],
    },
    reply: { isDisabled: false, testIds: [EXAMPLE_TEST_ID] },
  },
});
