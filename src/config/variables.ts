import { LOG_LEVELS } from '../lib/json-log.ts';

/** Every environment variable that the server reads: the one source of `sluice serve --help` and docs/configuration.md. */

export type VariableKind = 'text' | 'integer' | 'url' | 'choice';

export interface Variable {
  readonly kind: VariableKind;
  /** What it is when unset, in words or as a value. */
  readonly default: string;
  readonly text: string;
  readonly min?: number;
  readonly max?: number;
  readonly values?: readonly string[];
  /** Never printed or logged. */
  readonly isSecret?: true;
}

export const VARIABLES = {
  SLUICE_HOST: {
    kind: 'text',
    default: '127.0.0.1',
    text: 'Address to listen on. 0.0.0.0 for every IPv4 address of the machine.',
  },
  SLUICE_PORT: {
    kind: 'integer',
    min: 0,
    max: 65535,
    default: '8080',
    text: 'Port to listen on; 0 takes any free one.',
  },
  SLUICE_URL: {
    kind: 'url',
    default: "from the request's Host",
    text: 'Public address of the server, for links and upload URLs. Set it behind a proxy.',
  },
  SLUICE_DATA: { kind: 'text', default: './data', text: 'Folder of everything the embedded store keeps.' },
  SLUICE_DATABASE_URL: {
    kind: 'text',
    default: 'unset',
    text: 'postgres://user:password@host/database: use PostgreSQL, and run as many servers on it as wanted.',
    isSecret: true,
  },
  SLUICE_ADMIN_TOKEN: {
    kind: 'text',
    default: 'unset: one is made and printed at the first start',
    text: 'The admin token, 20 to 200 visible characters. A new value replaces the token that came from the old one.',
    isSecret: true,
  },
  SLUICE_ORG: { kind: 'text', default: 'default', text: 'Slug of the first organization.' },
  SLUICE_RUNNER_JOBS: {
    kind: 'integer',
    min: 1,
    max: 1000,
    default: 'number of cores',
    text: 'How many checks the built-in runner runs at once.',
  },
  SLUICE_RUNNER_USER: {
    kind: 'text',
    default: 'unset',
    text: "The user the built-in runner runs checks as; unset, the server's own.",
  },
  SLUICE_TEST_BRANCH_PREFIX: {
    kind: 'text',
    default: 'sluice',
    text: 'First part of the names of test branches; trunk-merge for teams whose CI already listens to that.',
  },
  SLUICE_UPLOAD_KEEP_DAYS: {
    kind: 'integer',
    min: 0,
    max: 3650,
    default: '7',
    text: 'For how many days the files of processed uploads of test results are kept, to process them again.',
  },
  SLUICE_UPLOAD_KEEP_BYTES: {
    kind: 'integer',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    default: '2147483648',
    text: 'How many bytes of them are kept at most; the oldest go first.',
  },
  SLUICE_RATE_LIMIT: {
    kind: 'integer',
    min: 0,
    max: 1_000_000,
    default: '0',
    text: 'Requests a second for each token; 0 is no limit.',
  },
  SLUICE_LOG_LEVEL: {
    kind: 'choice',
    values: LOG_LEVELS,
    default: 'info',
    text: 'How much is logged to standard error: JSON lines, or readable lines on a terminal.',
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
