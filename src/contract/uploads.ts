import { Type } from 'typebox';
import { EVIDENCE_WORTHS } from '../flaky/core/evidence.ts';
import { EXAMPLE_REPO, PrNumber, Repo } from './common.ts';
import {
  component,
  fixedEnum,
  inputUuid,
  instant,
  integer,
  list,
  nameText,
  nullable,
  nullableInstant,
  object,
  optional,
  outputEnum,
  patternText,
  readAs,
  record,
  text,
  trimmedText,
  uuid,
} from './schema.ts';
import {
  EXAMPLE_PAGE,
  EXAMPLE_SCOPE,
  Page,
  PageQuery,
  SCOPE_NOT_FOUND,
  testOperation,
  testScope,
} from './test-scope.ts';
import { EXAMPLE_TEST_RUN, TestRunId } from './testing.ts';

const Status = component(
  'UploadStatus',
  outputEnum(
    ['ACCEPTED', 'PROCESSED', 'SKIPPED', 'FAILED'],
    'ACCEPTED (waits to be processed), PROCESSED (its test runs count), SKIPPED (they are shown, and are evidence for nothing: an outage, or somebody took it back) or FAILED (nothing of it could be used; issues say why).',
  ),
);

const UploadIssue = record('UploadIssue', 'Something about an upload that somebody should know.', {
  level: fixedEnum(['error', 'warning', 'info'], 'How bad it is.'),
  file: nullable('string', 'In which file; null where it concerns all of them.'),
  line: nullable('integer', 'In which line; null where there is none.'),
  message: text('What is wrong.'),
  hint: text('What to do about it.'),
});

const nullableText = (description: string) => nullable('string', description);

const Upload = record('Upload', 'One delivery of test results.', {
  id: uuid('Id of the upload.'),
  status: Status,
  received_at: instant('When it came.'),
  processed_at: nullableInstant('When it was processed; null before.'),
  branch: nullableText('Branch the tests ran on; null where it is not known yet.'),
  sha: nullableText('Commit the tests ran on; null where it is not known yet.'),
  pr_number: nullable('integer', 'Pull request the tests ran for; null where there was none.'),
  job_name: nullableText('Name of the CI job; null where nobody said.'),
  job_url: nullableText('Link to the CI job; null where nobody said.'),
  variant: text('Variant of the tests; empty where there is none.'),
  test_run_id: nullableText('The test run of a queue that these are results of; null where there is none.'),
  check: nullableText('The check of it; null where there is none.'),
  fork: nullable('boolean', 'Whether the commit is a fork\u2019s; null where it is not known yet.'),
  job_attempt: nullable('integer', 'Which try of the job it was; null where nobody said.'),
  evidence: fixedEnum(EVIDENCE_WORTHS, 'What its runs may be evidence for: NOTHING, or STATUSES of tests.'),
  no_evidence_because: nullableText(
    'Why for NOTHING: FORK, UNKNOWN_COMMIT, OUTAGE or IGNORED; null where it is evidence, or not processed yet.',
  ),
  ignored: Type.Optional(
    object('Who took its evidence back; absent where nobody did.', {
      at: instant('When.'),
      actor: text('Who.'),
      reason: text('Why.'),
    }),
  ),
  files: integer('How many files of results came; a bundle is one.'),
  size_bytes: integer('How large they were, as they came.'),
  test_runs: integer('How many test runs were stored.'),
  issues: list(UploadIssue, 'What is wrong with it.'),
});

const { host, owner, name } = Repo.properties;

export const uploadResults = testOperation('uploadResults', {
  scope: 'upload',
  summary: 'Upload test results',
  description:
    'JUnit XML as CI wrote it: one or more files in a form (multipart/form-data), or one file as the body, with any content type but JSON and its fields in the query. A file may be packed with gzip or zstd; a body may have the content encoding gzip, deflate or zstd. At most 100 MiB. A part of the form called codeowners, at most 3 MB, is the CODEOWNERS of the repository: who owns the files that tests are in. Results are stored, answered and then processed; listUploads shows how that went. The same files with the same fields within 24 hours are the same upload. A repository that the organization does not have is made by its first upload.',
  hasFiles: true,
  status: 202,
  body: Type.Object(
    {
      org_url_slug: testScope.org_url_slug,
      repo_host: host,
      repo_owner: owner,
      repo_name: name,
      sha: patternText(
        '^[0-9a-fA-F]{1,64}$',
        'Commit the tests ran on.',
        'must be a commit id of 1 to 64 hexadecimal digits',
      ),
      branch: nameText(1000, 'Branch the tests ran on.'),
      ...optional({
        pr_number: PrNumber,
        job_name: nameText(1000, 'Name of the CI job. Results of different jobs are not compared.'),
        job_url: Type.String({
          maxLength: 2000,
          pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f]+$',
          description: 'Link to the CI job.',
          'x-sluice-message': 'must be an http or https address of at most 2000 characters',
        }),
        variant: nameText(
          1000,
          'What else tells these tests from others of the same name, such as linux. Cut to 64 bytes.',
        ),
        test_run_id: {
          ...TestRunId,
          description: 'The test run of a queue that these are results of: the last part of its test branch.',
          'x-sluice-message': 'must be the last part of the name of a test branch',
        },
        check: trimmedText(
          255,
          'The check that these are results of. Needed with test_run_id; without, it names the job.',
        ),
        fork: readAs(
          patternText(
            '^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
            'Whether the commit is a fork\u2019s. Its runs count in figures, and are evidence for nothing.',
            'must be true or false',
          ),
          (given) => given.toLowerCase() === 'true',
        ),
        job_attempt: readAs(
          patternText(
            '^[1-9][0-9]{0,5}$',
            'Which try of the job this is, from 1. The same files of another try are another upload.',
            'must be a whole number from 1 to 999999',
          ),
          Number,
        ),
        checkout_root: Type.String({
          maxLength: 1000,
          description:
            'The folder that the repository was checked out to. Paths in reports are read relative to it, so that a test is the same wherever it ran.',
        }),
      }),
    },
    { dependentRequired: { test_run_id: ['check'] } },
  ),
  reply: Type.Object({ upload_id: uuid('Id of the upload.'), status: Status }),
  errors: ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  example: {
    body: {
      org_url_slug: 'default',
      repo_host: EXAMPLE_REPO.host,
      repo_owner: EXAMPLE_REPO.owner,
      repo_name: EXAMPLE_REPO.name,
      sha: '2f1c7d0e5b6a49388c1d2e3f4a5b6c7d8e9f0a1b',
      branch: 'sluice/pr-7/0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
      pr_number: 7,
      job_name: 'unit',
      job_url: 'https://ci.example/jobs/4711',
      variant: 'linux',
      test_run_id: EXAMPLE_TEST_RUN.testRunId,
      check: 'test',
      fork: 'false',
      job_attempt: '1',
      checkout_root: '/builds/agent-1/app',
    },
    reply: { upload_id: '7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11', status: 'ACCEPTED' },
  },
});

const EXAMPLE_UPLOAD = {
  id: '7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11',
  status: 'PROCESSED',
  received_at: '2026-09-17T10:16:02.000Z',
  processed_at: '2026-09-17T10:16:03.000Z',
  branch: 'main',
  sha: '2f1c7d0e5b6a49388c1d2e3f4a5b6c7d8e9f0a1b',
  pr_number: null,
  job_name: 'unit',
  job_url: null,
  variant: '',
  test_run_id: null,
  check: null,
  fork: false,
  job_attempt: 1,
  evidence: 'STATUSES',
  no_evidence_because: null,
  files: 1,
  size_bytes: 48211,
  test_runs: 412,
  issues: [
    {
      level: 'warning',
      file: 'report.xml',
      line: 17,
      message: 'The test case has no time.',
      hint: 'Have the reporter write the attribute time.',
    },
  ],
};

export const listUploads = testOperation('listUploads', {
  scope: 'read',
  summary: 'List uploads of test results',
  description: 'Newest first, with what is wrong with each.',
  body: Type.Object({ ...testScope, page_query: PageQuery }),
  reply: Type.Object({ uploads: list(Upload, 'One page.'), page: Page }),
  errors: SCOPE_NOT_FOUND,
  example: {
    body: { ...EXAMPLE_SCOPE, page_query: { page_size: 25 } },
    reply: { uploads: [EXAMPLE_UPLOAD], page: EXAMPLE_PAGE },
  },
});

export const processUploadAgain = testOperation('processUploadAgain', {
  scope: 'maintain',
  summary: 'Process an upload again',
  description:
    'From the files as they came, which are kept for some days. What it stored before is not counted twice. One that still waits to be processed stays as it is.',
  body: Type.Object({ ...testScope, upload_id: inputUuid('Id of the upload.') }),
  reply: Type.Object({ upload: Upload }),
  errors: [...SCOPE_NOT_FOUND, 'UPLOAD_NOT_FOUND', 'UPLOAD_NOT_KEPT'],
  example: {
    body: { ...EXAMPLE_SCOPE, upload_id: EXAMPLE_UPLOAD.id },
    reply: { upload: { ...EXAMPLE_UPLOAD, status: 'ACCEPTED', processed_at: null, test_runs: 0, issues: [] } },
  },
});

export const ignoreUpload = testOperation('ignoreUpload', {
  scope: 'maintain',
  summary: 'Take back what an upload is evidence for',
  description:
    'Its runs stay and are shown; statuses and quarantine that followed from it are restored within seconds, which the events of the tests say. Again, or of an upload of which nothing is stored: no change.',
  body: Type.Object({
    ...testScope,
    upload_id: inputUuid('Id of the upload.'),
    reason: trimmedText(1000, 'Why, for the history.'),
  }),
  reply: Type.Object({ upload: Upload }),
  errors: [...SCOPE_NOT_FOUND, 'UPLOAD_NOT_FOUND', 'UPLOAD_NOT_PROCESSED'],
  example: {
    body: { ...EXAMPLE_SCOPE, upload_id: EXAMPLE_UPLOAD.id, reason: 'The database of CI was down.' },
    reply: {
      upload: {
        ...EXAMPLE_UPLOAD,
        status: 'SKIPPED',
        evidence: 'NOTHING',
        no_evidence_because: 'IGNORED',
        ignored: { at: '2026-09-17T11:02:41.000Z', actor: 'ada', reason: 'The database of CI was down.' },
      },
    },
  },
});
