import { Type } from 'typebox';
import { MAX_FLAG_REASON_LENGTH } from '../flaky/acts.ts';
import { MAX_LABEL_LENGTH } from '../flaky/parse-monitor.ts';
import { QUARANTINE_OVERRIDES } from '../storage/tests.ts';
import { EXAMPLE_REPO, Repo } from './common.ts';
import { boolean, inputEnum, inputInstant, inputUuid, optional, plainText, trimmedText, whenKeyIs } from './schema.ts';
import { EXAMPLE_DETAILS, EXAMPLE_MONITOR_ID, EXAMPLE_REF, TestDetails } from './test-details.ts';
import { TEST_ERRORS, testOperation, testRef } from './test-scope.ts';

const reply = Type.Object({ test: TestDetails });

export const setQuarantine = testOperation('setQuarantine', {
  scope: 'maintain',
  summary: 'Decide whether a test is quarantined',
  description:
    "ALWAYS_QUARANTINE and NEVER_QUARANTINE outrank the repository's automatic quarantine, whatever the status is; UNSPECIFIED ends such a decision. Nothing is quarantined while quarantine is switched off for the repository. A test in several suites is quarantined in those that `suites` names: a failure in another suite, or in one that is first seen later, still blocks.",
  body: Type.Object(
    {
      ...testRef,
      setting: inputEnum(QUARANTINE_OVERRIDES, 'What is decided.'),
      reason: plainText(1000, 'Why, for whoever reads it later.'),
      expires_at: Type.Optional(
        inputInstant('When the decision ends automatically; absent: never. Not with UNSPECIFIED.'),
      ),
      suites: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
          minItems: 1,
          maxItems: 50,
          description:
            'With ALWAYS_QUARANTINE: the suites to quarantine it in, named as `suites` of its details; absent: all that are known now.',
        }),
      ),
    },
    whenKeyIs(
      { key: 'setting', value: inputEnum(['UNSPECIFIED'], '') },
      { not: { required: ['expires_at'] } },
      { field: 'expires_at', text: 'goes with a decision, not with UNSPECIFIED' },
    ),
  ),
  reply,
  errors: TEST_ERRORS,
  example: {
    body: {
      ...EXAMPLE_REF,
      setting: 'ALWAYS_QUARANTINE',
      reason: 'Blocks everybody; see NET-12.',
      expires_at: '2026-10-01T00:00:00Z',
      suites: ['connection > pooled'],
    },
    reply: { test: EXAMPLE_DETAILS },
  },
});

export const flagTest = testOperation('flagTest', {
  scope: 'maintain',
  summary: 'Say that a test is flaky, or no longer',
  description:
    'A flag counts as an active monitor that calls the test flaky, until it is taken away. A broken test cannot be flagged; its flag can be taken away.',
  body: Type.Object({
    ...testRef,
    flagged: boolean('True: it is flaky. False: takes the flag away.'),
    reason: Type.Optional(plainText(MAX_FLAG_REASON_LENGTH, 'Why.')),
  }),
  reply,
  errors: [...TEST_ERRORS, 'TEST_NOT_FLAGGABLE'],
  example: {
    body: { ...EXAMPLE_REF, flagged: true, reason: 'Fails on Mondays.' },
    reply: {
      test: {
        ...EXAMPLE_DETAILS,
        flag: { actor: 'ada', at: '2026-09-17T11:00:00.000Z', reason: 'Fails on Mondays.' },
      },
    },
  },
});

export const muteMonitor = testOperation('muteMonitor', {
  scope: 'maintain',
  summary: 'Mute a monitor for one test, or end that',
  description:
    'A muted monitor goes on detecting, and does not count for the status and the labels of the test. Only a monitor that has been active on the test can be muted. When the mute ends, the monitor counts again.',
  body: Type.Object(
    {
      ...testRef,
      monitor_id: inputUuid('Which monitor.'),
      ...optional({
        muted: Type.Boolean({ default: true, description: 'False ends the mute at once.' }),
        until: Type.Union([inputInstant('An instant.'), Type.Null()], {
          description:
            'When the mute ends automatically; null or absent: when somebody ends it. Not with muted: false.',
          'x-sluice-message': 'must be an instant with a time zone, such as 2026-09-17T10:16:02.000Z, or null',
        }),
        reason: plainText(1000, 'Why.'),
      }),
    },
    whenKeyIs(
      { key: 'muted', value: { const: false } },
      { properties: { until: { type: 'null' } } },
      { field: 'until', text: 'goes with a mute, and this ends one' },
    ),
  ),
  reply,
  errors: [...TEST_ERRORS, 'MONITOR_NOT_FOUND', 'MONITOR_NOT_MUTABLE'],
  example: {
    body: { ...EXAMPLE_REF, monitor_id: EXAMPLE_MONITOR_ID, until: '2026-09-24T00:00:00Z', reason: 'Known.' },
    reply: { test: EXAMPLE_DETAILS },
  },
});

export const setLabel = testOperation('setLabel', {
  scope: 'maintain',
  summary: 'Put a label on a test, or take it away',
  description:
    'A label that is taken away goes from all its sources at once; one that a monitor gave comes back only with a new detection. A test has at most 50 labels.',
  body: Type.Object({
    ...testRef,
    label: trimmedText(MAX_LABEL_LENGTH, 'The label.'),
    on: boolean('True: puts it on. False: takes it away.'),
  }),
  reply,
  errors: TEST_ERRORS,
  example: { body: { ...EXAMPLE_REF, label: 'network', on: true }, reply: { test: EXAMPLE_DETAILS } },
});

export const linkTicketToTestCase = testOperation('linkTicketToTestCase', {
  scope: 'maintain',
  summary: 'Link a ticket to a test',
  description: 'A test has one ticket: another one takes its place. On /trunk/v1 the answer is empty.',
  body: Type.Object({
    test_case_id: inputUuid('Id of the test case.'),
    external_ticket_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 2000,
      description:
        "The ticket's address (http or https), or its key, such as KAN-123, where the repository has a `ticket_url_template`. Null takes the link away.",
      'x-sluice-message': 'must be the address or the key of a ticket, or null',
    }),
    repo: Repo,
  }),
  reply,
  errors: ['REPOSITORY_NOT_FOUND', 'TEST_NOT_FOUND'],
  example: {
    body: { test_case_id: EXAMPLE_DETAILS.id, external_ticket_id: 'NET-12', repo: EXAMPLE_REPO },
    reply: { test: { ...EXAMPLE_DETAILS, ticket: { html_url: 'https://tickets.example/browse/NET-12' } } },
  },
});
