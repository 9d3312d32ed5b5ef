import { LOG_LEVELS } from '../lib/log.ts';

/** `sluice serve --help` and docs/configuration.md are made from it. */

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

/** `initial` is the value if unset, or a description of it. */
function text(initial: string, words: string): Variable {
  return { kind: 'text', default: initial, text: words };
}

function secret(initial: string, words: string): Variable {
  return { ...text(initial, words), isSecret: true };
}

function url(initial: string, words: string): Variable {
  return { ...text(initial, words), kind: 'url' };
}

function integer(initial: string, bounds: { readonly min: number; readonly max: number }, words: string): Variable {
  return { ...text(initial, words), kind: 'integer', ...bounds };
}

function choice<const Value extends string>(initial: string, values: readonly Value[], words: string) {
  return { ...text(initial, words), kind: 'choice' as const, values };
}

export const VARIABLES = {
  SLUICE_HOST: text('127.0.0.1', 'Address to listen on. 0.0.0.0 for every IPv4 address of the machine.'),
  SLUICE_PORT: integer('8080', { min: 0, max: 65535 }, 'Port to listen on; 0 takes any free one.'),
  SLUICE_URL: url(
    "from the request's Host",
    'Public address of the server, for links and upload URLs. Set it behind a proxy.',
  ),
  SLUICE_TRUSTED_PROXIES: text(
    'none',
    'Proxies in front of the server, as addresses and CIDRs, separated by commas. If SLUICE_URL is unset, X-Forwarded-Proto or Forwarded of their requests gives the scheme of links and upload URLs. X-Forwarded-For gives the address by which sign-ins and strangers (SLUICE_PUBLIC_READ) are limited.',
  ),
  SLUICE_PUBLIC_READ: text(
    'none',
    'Repositories that anybody may read on the dashboard without signing in, as org/host/owner/name, separated by commas. The same on all servers of one database. See dashboard.md.',
  ),
  SLUICE_DATA: text('./data', 'Folder of all data of the server.'),
  SLUICE_DATABASE_URL: secret(
    'unset',
    'postgres://user:password@host/database: use PostgreSQL, with any number of servers.',
  ),
  SLUICE_DATABASE_CONNECTIONS: integer(
    '16',
    { min: 2, max: 1000 },
    'Connections of this server to PostgreSQL, at most. One of them processes uploads; from 4 on, one hears of what other servers store.',
  ),
  SLUICE_DRAIN: integer(
    '0',
    { min: 0, max: 3600 },
    'Seconds for which the server goes on after SIGTERM while /readyz is 503, so that a load balancer takes it out before its port closes. A second signal ends them.',
  ),
  SLUICE_ADMIN_TOKEN: secret(
    'unset: one is made and printed at the first start',
    'The admin token, 20 to 200 visible characters. A new value replaces the token that came from the old one.',
  ),
  SLUICE_METRICS_TOKEN: secret(
    'unset: only tokens of the scope instance',
    'A token for /metrics and nothing else, 20 to 200 visible characters. It counts without the database.',
  ),
  SLUICE_ORG: text('default', 'Slug of the first organization.'),
  SLUICE_GITHUB_HOST: text(
    'github.com',
    'The GitHub that the other SLUICE_GITHUB_ variables are about: github.com, or the name of an Enterprise host. `sluice forge setup github` connects any number of hosts without variables.',
  ),
  SLUICE_GITHUB_APP_ID: text('unset', 'Number (or client id) of the GitHub App that Sluice acts as.'),
  SLUICE_GITHUB_PRIVATE_KEY: secret(
    'unset',
    "The App's private key: the PEM text, with \\n for line breaks where needed, or all of it in base64.",
  ),
  SLUICE_GITHUB_PRIVATE_KEY_FILE: text(
    'unset',
    'A file with that key instead. The server reads it again when GitHub refuses the key, so that you can replace a key without a restart.',
  ),
  SLUICE_GITHUB_WEBHOOK_SECRET: secret(
    'unset: the server polls events',
    "The webhook secret of the App, or of the repository's webhook where a token is used.",
  ),
  SLUICE_GITHUB_SIGN_IN: choice(
    'off',
    ['on', 'off'],
    'on: people sign in to the dashboard with the App of each connected GitHub, and their permissions there decide. See sign-in.md.',
  ),
  SLUICE_GITHUB_CLIENT_ID: text('unset', 'Client id of the App, for the sign-in.'),
  SLUICE_GITHUB_CLIENT_SECRET: secret('unset', 'A client secret of the App, for the sign-in.'),
  SLUICE_GITHUB_TOKEN: secret(
    'unset',
    'For a trial: a personal access token instead of an App. Sluice then acts as that person.',
  ),
  SLUICE_GITHUB_API_URL: url(
    'https://api.github.com, or https://HOST/api/v3',
    'Address of the REST API, for unusual installations.',
  ),
  SLUICE_GITHUB_WEB_URL: url('https://HOST', 'Address for people and git, for unusual installations.'),
  SLUICE_GITEA_URL: url(
    'unset',
    'Address of a Gitea or Forgejo. `sluice forge setup gitea` connects any number of them without variables.',
  ),
  SLUICE_GITEA_TOKEN: secret('unset', 'Access token of the account that Sluice acts as there.'),
  SLUICE_GITEA_TOKEN_FILE: text(
    'unset',
    'A file with that token instead. The server reads it again when Gitea refuses the token.',
  ),
  SLUICE_GITEA_WEBHOOK_SECRET: secret(
    'unset: the server polls events',
    'The secret of the webhooks that Gitea sends to /webhooks/gitea/HOST.',
  ),
  SLUICE_GITLAB_URL: url(
    'unset',
    'Address of a GitLab. `sluice forge setup gitlab` connects any number of them without variables.',
  ),
  SLUICE_GITLAB_TOKEN: secret('unset', 'Project or group access token that Sluice acts with there.'),
  SLUICE_GITLAB_TOKEN_FILE: text(
    'unset',
    'A file with that token instead. The server reads it again when GitLab refuses the token.',
  ),
  SLUICE_GITLAB_WEBHOOK_SECRET: secret(
    'unset: the server polls events',
    'The secret token of the webhooks that GitLab sends to /webhooks/gitlab/HOST, or their signing token, which begins with whsec_.',
  ),
  SLUICE_GITLAB_DEPLOY_KEY_FILE: text(
    'unset: the token pushes',
    'A file with the private half of a deploy key that may push to the target branches.',
  ),
  SLUICE_OIDC_ISSUER: url(
    'unset: people sign in with tokens',
    'Issuer of the OpenID Connect provider that people sign in to the dashboard with. Its redirect address is SLUICE_URL/web/sign-in/sso/callback. See sign-in.md.',
  ),
  SLUICE_OIDC_CLIENT_ID: text('unset', 'The client that the provider knows this server as.'),
  SLUICE_OIDC_CLIENT_SECRET: secret('unset: a public client', 'The secret of the client.'),
  SLUICE_OIDC_CLIENT_SECRET_FILE: text('unset', 'A file with that secret instead.'),
  SLUICE_OIDC_NAME: text('single sign-on', 'The name of the provider on the sign-in page.'),
  SLUICE_OIDC_SCOPES: text('openid profile', 'What is asked of the provider. Some need one more for groups.'),
  SLUICE_OIDC_GROUPS_CLAIM: text('groups', 'The claim that names the groups of a person.'),
  SLUICE_OIDC_LOGIN_CLAIM: text(
    'unset: nobody has own pull requests',
    'The claim that holds the login of a person at a forge, as github.com=github_login. The people themselves must not be able to change it.',
  ),
  SLUICE_ROLES_FILE: text(
    'unset',
    'The table of roles: lines such as `author acme/github.com/acme/* group:developers`. The same on all servers of one database.',
  ),
  SLUICE_RUNNER_JOBS: integer(
    'number of cores',
    { min: 1, max: 1000 },
    'How many checks the built-in runner runs at once.',
  ),
  SLUICE_RUNNER_PROTECTION: choice(
    'the first that works',
    ['bubblewrap', 'namespaces', 'users', 'none'],
    'What keeps checks from the files of the server and from each other. The server does not start if the choice does not work.',
  ),
  SLUICE_RUNNER_TRUST: choice(
    'unset',
    ['all'],
    'all: checks run even if nothing can keep them from the files of the server. Unset: then only checks of repositories registered with --trust-checks run.',
  ),
  SLUICE_RUNNER_UIDS: text(
    '60600-61099',
    'Users for checks of a server that runs as root: numbers that no account and no program has, one for each running check.',
  ),
  SLUICE_RUNNER_PROCESSES: integer(
    '4096',
    { min: 16, max: 1_000_000 },
    'How many processes and threads one protected check may have.',
  ),
  SLUICE_RUNNER_MEMORY: text(
    'unset: no limit',
    'How much memory one check may have, such as 512M or 4G. Needs cgroup v2: see runner.md.',
  ),
  SLUICE_RUNNER_CPUS: text(
    'unset: no limit',
    'How many processors one check may use, such as 2 or 0.5. Needs cgroup v2: see runner.md.',
  ),
  SLUICE_RUNNER_TOOLS: text(
    'unset',
    'Further folders that checks in a sandbox can read, with colons between them. They and the folder bin in each are on the PATH of every check, last. System folders and those of PATH need not be named.',
  ),
  SLUICE_RUNNER_CACHES: text(
    'unset',
    'Folders that all checks in a sandbox share and can write to, with colons between them. The users of checks must be able to write to them.',
  ),
  SLUICE_CACHE_BYTES: integer(
    '10737418240',
    { min: 0, max: Number.MAX_SAFE_INTEGER },
    'How many bytes the caches of checks take on this server at most. The least recently used are deleted first. 0: no check has a cache.',
  ),
  SLUICE_TEST_BRANCH_PREFIX: text(
    'sluice',
    'First part of the names of test branches. Use trunk-merge if your CI already runs on such branches.',
  ),
  SLUICE_HOOK_TIMEOUT: integer(
    '300',
    { min: 1, max: 3600 },
    'Seconds after which the server ends hooks of a plain git repository and everything that they started: once before a branch is changed, and once after.',
  ),
  SLUICE_SECRET_KEY: secret(
    'a key in the file secret-key of the data folder',
    'Encrypts the addresses and secrets of webhooks: 32 bytes in base64 or hexadecimal, as from `openssl rand -base64 32`. The same on all servers of one database.',
  ),
  SLUICE_WEBHOOK_NETWORKS: text(
    'none',
    'Networks that are not public and that webhooks may reach, as CIDRs separated by commas, such as 10.0.0.0/8. Only webhooks made with a token of the scope instance reach them.',
  ),
  SLUICE_SMTP_URL: secret(
    'unset: no mail is sent',
    'smtp://user:password@host:587 or smtps://…: the mail server for messages to people. See messages.md.',
  ),
  SLUICE_MAIL_FROM: text('unset: no mail is sent', 'The sender of mail, such as Sluice <sluice@acme.dev>.'),
  SLUICE_SLACK_TOKEN: secret(
    'unset: no messages to members of Slack',
    'The token of a Slack bot with the scope chat:write, for messages to people.',
  ),
  SLUICE_SLACK_URL: url('https://slack.com/api/chat.postMessage', 'Where messages to members of Slack are posted.'),
  SLUICE_EVENT_DAYS: integer(
    '400',
    { min: 1, max: 36_500 },
    'How many days the events of the feed are kept. Records of the audit are kept for ever.',
  ),
  SLUICE_TOKEN_DAYS: integer(
    '90',
    { min: 1, max: 3_650 },
    'How many days a token lasts at most that a person makes for themselves. Tokens that exist keep their terms.',
  ),
  SLUICE_UPLOAD_KEEP_DAYS: integer(
    '7',
    { min: 0, max: 3650 },
    'How many days the files of processed uploads are kept, so that they can be processed again.',
  ),
  SLUICE_UPLOAD_KEEP_BYTES: integer(
    '2147483648',
    { min: 0, max: Number.MAX_SAFE_INTEGER },
    'How many bytes of these files are kept at most. The oldest are deleted first.',
  ),
  SLUICE_UPLOAD_NEW_TESTS: integer(
    '250000',
    { min: 1, max: Number.MAX_SAFE_INTEGER },
    'How many new tests one upload may bring. The rest of it is processed after the uploads of others.',
  ),
  SLUICE_REPOSITORY_TESTS: integer(
    '2000000',
    { min: 1, max: Number.MAX_SAFE_INTEGER },
    'How many tests a repository may have. Beyond that, only new tests that fail are stored.',
  ),
  SLUICE_BACKUP_EVERY: text(
    'unset: no scheduled backups',
    'How often the server backs up its store, such as 30m, 6h or 1d. On PostgreSQL by pg_dump: set it on one of the servers.',
  ),
  SLUICE_BACKUP_DIR: text(
    'the folder backups of the data folder',
    'Folder for backups. It must exist, so that a disk that is not mounted is noticed.',
  ),
  SLUICE_BACKUP_KEEP: integer(
    '7',
    { min: 1, max: 10_000 },
    'How many scheduled backups are kept. Older ones are deleted, backups made by a person never.',
  ),
  SLUICE_RATE_LIMIT: integer('0', { min: 0, max: 1_000_000 }, 'Requests a second for each token; 0 is no limit.'),
  SLUICE_LOG_LEVEL: choice(
    'info',
    LOG_LEVELS,
    'How much is logged to standard error: JSON lines, or readable lines on a terminal.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'unset: no traces',
    'Address of a receiver of OpenTelemetry, such as http://collector:4318. Traces are sent to /v1/traces below it. See operating/metrics-and-alerts.md.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url(
    'from OTEL_EXPORTER_OTLP_ENDPOINT',
    'Address of the receiver of traces itself, with its path.',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice(
    'http/json',
    ['http/json', 'http/protobuf'],
    'Sluice sends http/json. Receivers of http/protobuf take it at the same address.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    'none',
    'Headers for the receiver, such as authorization=Bearer%20TOKEN, separated by commas; values are percent-encoded.',
  ),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer(
    '10000',
    { min: 1, max: 600_000 },
    'Milliseconds after which an attempt to send traces is ended.',
  ),
  OTEL_SERVICE_NAME: text('sluice', 'The name of this service in traces.'),
  OTEL_RESOURCE_ATTRIBUTES: text(
    'none',
    'Facts about this server for all its traces, such as deployment.environment.name=production, separated by commas; values are percent-encoded.',
  ),
  OTEL_TRACES_SAMPLER: choice(
    'parentbased_always_on',
    [
      ...['always_on', 'always_off', 'traceidratio'],
      ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
    ],
    'Which traces are kept.',
  ),
  OTEL_TRACES_SAMPLER_ARG: text('1', 'For traceidratio: the part of traces that is kept, from 0 to 1.'),
  OTEL_TRACES_EXPORTER: choice('otlp', ['otlp', 'none'], 'none: no traces, whatever the other variables say.'),
  OTEL_SDK_DISABLED: choice('false', ['true', 'false'], 'true: no traces, whatever the other variables say.'),
} satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;

/** The value of a variable. Undefined if it is not set. */
export type Read = (name: VariableName) => string | undefined;

/** By variable: the problem of a value as the end of a sentence, which never repeats a secret. */
export type Rules<Prefix extends string> = {
  readonly [Name in Extract<VariableName, `${Prefix}${string}`>]?: (given: string) => string | undefined;
};

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
    'Environment variables configure the server. `sluice serve --help` shows this table too. Connections to forges may',
    'also be files in the data folder, which `sluice forge setup` writes: see [github.md](github.md), [gitea.md](gitea.md) and [gitlab.md](gitlab.md).',
    'An empty variable counts as unset. The server reports all problems at once, does not start, and exits with 2.',
    '',
    '| variable | default | is |',
    '|---|---|---|',
    ...rows,
    '',
    'The command line reads `SLUICE_URL` (where the server is) and `SLUICE_TOKEN`; see [cli.md](cli.md).',
  ].join('\n')}\n`;
}
