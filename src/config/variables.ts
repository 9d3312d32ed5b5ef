import { LOG_LEVELS } from '../lib/log.ts';

/**
 * Every environment variable that the server reads. `sluice serve --help` and docs/configuration.md are made from it.
 */

export type VariableKind = 'text' | 'integer' | 'url' | 'choice';

export interface Variable {
  readonly kind: VariableKind;
  /** The value if unset, or a description of it. */
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
  SLUICE_TRUSTED_PROXIES: {
    kind: 'text',
    default: 'none',
    text: 'Proxies in front of the server, as addresses and CIDRs by commas. Of a request that comes from one, X-Forwarded-Proto or Forwarded tells the scheme of links and upload URLs where SLUICE_URL is unset.',
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
  SLUICE_GITHUB_HOST: {
    kind: 'text',
    default: 'github.com',
    text: 'The GitHub that the other SLUICE_GITHUB_ variables are about: github.com, or the name of an Enterprise host. `sluice github setup` connects any number of hosts without variables.',
  },
  SLUICE_GITHUB_APP_ID: {
    kind: 'text',
    default: 'unset',
    text: 'Number (or client id) of the GitHub App that Sluice acts as.',
  },
  SLUICE_GITHUB_PRIVATE_KEY: {
    kind: 'text',
    default: 'unset',
    text: "The App's private key: the PEM text, with \\n for line breaks where needed, or all of it in base64.",
    isSecret: true,
  },
  SLUICE_GITHUB_PRIVATE_KEY_FILE: {
    kind: 'text',
    default: 'unset',
    text: 'A file with that key instead. It is read again when GitHub refuses the key, so that a key can be replaced without a restart.',
  },
  SLUICE_GITHUB_WEBHOOK_SECRET: {
    kind: 'text',
    default: 'unset: events are only polled',
    text: "The webhook secret of the App, or of the repository's webhook where a token is used.",
    isSecret: true,
  },
  SLUICE_GITHUB_TOKEN: {
    kind: 'text',
    default: 'unset',
    text: 'For a trial: a personal access token instead of an App. Sluice then acts as that person.',
    isSecret: true,
  },
  SLUICE_GITHUB_API_URL: {
    kind: 'url',
    default: 'https://api.github.com, or https://HOST/api/v3',
    text: 'Where the REST API is, for unusual installations.',
  },
  SLUICE_GITHUB_WEB_URL: {
    kind: 'url',
    default: 'https://HOST',
    text: 'Where people and git go, for unusual installations.',
  },
  SLUICE_RUNNER_JOBS: {
    kind: 'integer',
    min: 1,
    max: 1000,
    default: 'number of cores',
    text: 'How many checks the built-in runner runs at once.',
  },
  SLUICE_RUNNER_PROTECTION: {
    kind: 'choice',
    values: ['bubblewrap', 'namespaces', 'users', 'none'],
    default: 'the first that works',
    text: 'What keeps checks from the files of the server and from each other. A choice that does not work is refused at the start.',
  },
  SLUICE_RUNNER_TRUST: {
    kind: 'choice',
    values: ['all'],
    default: 'unset',
    text: 'all: where nothing can keep checks from the files of the server, they run all the same. Unset, only those of repositories registered with --trust-checks do.',
  },
  SLUICE_RUNNER_UIDS: {
    kind: 'text',
    default: '60600-61099',
    text: 'Users for checks of a server that runs as root: numbers that no account and no program has, one for each running check.',
  },
  SLUICE_RUNNER_PROCESSES: {
    kind: 'integer',
    min: 16,
    max: 1_000_000,
    default: '4096',
    text: 'How many processes and threads one check may have, where it is protected.',
  },
  SLUICE_RUNNER_TOOLS: {
    kind: 'text',
    default: 'unset',
    text: 'Further folders that checks in a sandbox can read, with colons between them. System folders and those of PATH are there anyway.',
  },
  SLUICE_RUNNER_CACHES: {
    kind: 'text',
    default: 'unset',
    text: 'Folders that all checks in a sandbox share and can write to, with colons between them. Their users must be able to.',
  },
  SLUICE_TEST_BRANCH_PREFIX: {
    kind: 'text',
    default: 'sluice',
    text: 'First part of the names of test branches; trunk-merge for teams whose CI already listens to that.',
  },
  SLUICE_HOOK_TIMEOUT: {
    kind: 'integer',
    min: 1,
    max: 3600,
    default: '300',
    text: 'Seconds after which hooks of a plain git repository are ended, with all they started: once before a branch is changed, and once after.',
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
  SLUICE_UPLOAD_NEW_TESTS: {
    kind: 'integer',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    default: '250000',
    text: 'So many tests that were never seen before may come with one upload; the rest of it is processed behind the uploads of others.',
  },
  SLUICE_REPOSITORY_TESTS: {
    kind: 'integer',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    default: '2000000',
    text: 'So many tests a repository may have; beyond that only new tests that fail are taken in.',
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

/** Renders docs/configuration.md. */
export function renderConfigurationPage(): string {
  const rows = Object.entries<Variable>(VARIABLES).map(([name, variable]) => {
    const bounds = variable.kind === 'integer' ? ` (${variable.min} to ${variable.max})` : '';
    const values = variable.values === undefined ? '' : ` (${variable.values.join(', ')})`;
    return `| \`${name}\` | ${variable.default} | ${variable.text}${bounds}${values} |`;
  });
  return `${[
    '# Configuration',
    '',
    'The server is configured by its environment. `sluice serve --help` shows this table too. Connections to GitHub may',
    'also be files in the data folder, which `sluice github setup` writes: see [github.md](github.md).',
    'A variable that is set to nothing counts as unset; all problems are reported at once, and the server does not start.',
    '',
    '| variable | default | is |',
    '|---|---|---|',
    ...rows,
    '',
    'The command line reads `SLUICE_URL` (where the server is) and `SLUICE_TOKEN`; see [cli.md](cli.md).',
  ].join('\n')}\n`;
}
