import { Type } from 'typebox';
import { DEFAULT_TEST_SETTINGS as DEFAULTS } from '../flaky/settings.ts';
import {
  boolean,
  closed,
  instant,
  integer,
  list,
  nullable,
  object,
  optional,
  outputEnum,
  record,
  text,
} from './schema.ts';
import { EXAMPLE_SCOPE, SCOPE_NOT_FOUND, testOperation, testScope } from './test-scope.ts';

const SETTING_CHANGE_KINDS = ['SETTINGS_CHANGED', 'MONITOR_CREATED', 'MONITOR_CHANGED', 'MONITOR_DELETED'] as const;

const TEMPLATE =
  'Address of a ticket (http or https) with {key} where its key goes, such as https://acme.example/browse/{key}; null: tickets are linked by their addresses only.';

const PROTECTION = 'An upload in which too many tests failed is an outage: it is shown, and is evidence for nothing.';
const THRESHOLD =
  'Too many: more than this fraction of the tests that ran, however few. Null: far above the usual share of the job, and at least 10 of 20 tests.';

const reply = record('TestSettings', 'What a repository says about its tests.', {
  quarantine_enabled: boolean('The master switch: without it nothing is quarantined.'),
  auto_quarantine: boolean('Flaky tests are quarantined without anybody asking.'),
  infrastructure_protection_enabled: boolean(PROTECTION),
  infrastructure_failure_threshold: nullable('number', THRESHOLD),
  retention_days: integer('Older runs are invisible, and removed later.'),
  ticket_url_template: nullable('string', TEMPLATE),
  is_applied: boolean('Every test follows the settings and monitors; false for some seconds after a change.'),
  changes: list(
    object('A change of the settings or of a monitor.', {
      at: instant('When.'),
      actor: text('Who.'),
      kind: outputEnum(SETTING_CHANGE_KINDS, 'What was changed.'),
      text: text('The change in words.'),
    }),
    'The latest changes of settings and monitors, newest first, at most 50.',
  ),
});

const EXAMPLE_SETTINGS = {
  quarantine_enabled: true,
  auto_quarantine: true,
  infrastructure_protection_enabled: true,
  infrastructure_failure_threshold: null,
  retention_days: 45,
  ticket_url_template: 'https://acme.example/browse/{key}',
  is_applied: true,
  changes: [
    {
      at: '2026-09-17T10:16:02.000Z',
      actor: 'ada',
      kind: 'SETTINGS_CHANGED',
      text: 'auto_quarantine from false to true',
    },
  ],
};

export const getTestSettings = testOperation('getTestSettings', {
  path: '/flaky-tests/get-settings',
  scope: 'read',
  summary: 'Read what a repository says about its tests',
  description: 'Its settings, and who changed what of them and of its monitors.',
  body: Type.Object(testScope),
  reply,
  errors: SCOPE_NOT_FOUND,
  example: { body: EXAMPLE_SCOPE, reply: EXAMPLE_SETTINGS },
});

export const updateTestSettings = testOperation('updateTestSettings', {
  path: '/flaky-tests/update-settings',
  scope: 'admin',
  summary: 'Change what a repository says about its tests',
  description:
    'What is not named stays. Switching quarantine off also switches automatic quarantine off. A value out of range changes nothing at all.',
  body: closed({
    ...testScope,
    ...optional({
      quarantine_enabled: Type.Boolean({ default: DEFAULTS.quarantineEnabled, description: 'The master switch.' }),
      auto_quarantine: Type.Boolean({
        default: DEFAULTS.autoQuarantine,
        description: 'Quarantines flaky tests without anybody asking; needs quarantine_enabled. Never broken ones.',
      }),
      infrastructure_protection_enabled: Type.Boolean({
        default: DEFAULTS.infrastructureProtectionEnabled,
        description: PROTECTION,
      }),
      infrastructure_failure_threshold: Type.Unsafe<number | null>({
        type: ['number', 'null'],
        minimum: 0,
        maximum: 1,
        default: DEFAULTS.infrastructureFailureThreshold,
        description: THRESHOLD,
        'x-sluice-message': 'must be a number from 0 to 1, such as 0.8 for 80%, or null',
      }),
      retention_days: Type.Integer({
        minimum: 1,
        maximum: 365,
        default: DEFAULTS.retentionDays,
        description: 'Older runs are invisible at once; their space returns later.',
        'x-sluice-message': 'must be a whole number from 1 to 365',
      }),
      ticket_url_template: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 1000,
        description: TEMPLATE,
        'x-sluice-message': 'must be a text of 1 to 1000 characters, or null',
      }),
    }),
  }),
  reply,
  errors: SCOPE_NOT_FOUND,
  example: { body: { ...EXAMPLE_SCOPE, auto_quarantine: true }, reply: EXAMPLE_SETTINGS },
});
