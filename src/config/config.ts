import { isIP } from 'node:net';
import path from 'node:path';
import { isDatabaseUrl } from '../lib/database-url.ts';
import type { LogLevel } from '../lib/log.ts';
import { checkSlug } from '../lib/text.ts';
import { ACCOUNT_RULES, checkAccount, parseAccount, warnOfAccount } from './account-forge.ts';
import { checkGithub, GITHUB_RULES, parseGithub, warnOfGithub } from './github.ts';
import { checkOidc, OIDC_RULES, parseOidc } from './oidc.ts';
import { isTraced, OTEL_RULES, parseOtel, warnOfOtel } from './otel.ts';
import { parseRunner, RUNNER_REMOVED, RUNNER_RULES } from './runner.ts';
import { type Read, type Rules, VARIABLES, type Variable, type VariableName } from './variables.ts';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const BACKUP_RULES = {
  SLUICE_BACKUP_EVERY: (given: string) =>
    parseDuration(given) === undefined
      ? `must be a number of minutes, hours or days such as 30m, 6h or 1d, not "${given}"`
      : undefined,
};

function parseDuration(given: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(given) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}

/** Undefined: the server makes no backups without being asked. */
function parseSchedule(read: Read) {
  const everyMs = parseDuration(read('SLUICE_BACKUP_EVERY') ?? '');
  if (everyMs === undefined) return undefined;
  return { everyMs, keep: Number(read('SLUICE_BACKUP_KEEP') ?? VARIABLES.SLUICE_BACKUP_KEEP.default) };
}

export type Config = Readonly<ReturnType<typeof readConfig>>;

export type Environment = Readonly<Record<string, string | undefined>>;

type ParsedConfig =
  | { readonly config: Config; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** Returns the configuration, or every problem with it in words. */
export function parseConfig(environment: Environment): ParsedConfig {
  const read: Read = (name) => value(environment, name);
  const problems = [
    ...checkVariables(environment),
    ...checkGithub(read),
    ...checkAccount('gitea', read),
    ...checkAccount('gitlab', read),
    ...checkOidc(read),
    ...findRemoved(environment),
  ];
  if (problems.length > 0) return { problems };
  const config = readConfig(read);
  const warnings = [
    ...findUnknown(environment),
    ...warnOfGithub(config.github),
    ...warnOfAccount('gitea', config.gitea),
    ...warnOfAccount('gitlab', config.gitlab),
    ...(config.traces === undefined ? [] : warnOfOtel(environment)),
  ];
  return { config: Object.freeze(config), warnings };
}

/** Expects checked variables. */
function readConfig(read: Read) {
  const setting = (name: VariableName): string => read(name) ?? VARIABLES[name].default;
  return {
    host: setting('SLUICE_HOST'),
    port: Number(setting('SLUICE_PORT')),
    publicUrl: read('SLUICE_URL')?.replace(/\/+$/, ''),
    trustedProxies: parseList(read('SLUICE_TRUSTED_PROXIES') ?? ''),
    /** Repositories that anybody may read on the dashboard. */
    publicRead: parseList(read('SLUICE_PUBLIC_READ') ?? '').flatMap((entry) => parsePublicName(entry) ?? []),
    dataFolder: path.resolve(setting('SLUICE_DATA')),
    databaseUrl: read('SLUICE_DATABASE_URL'),
    databaseConnections: Number(setting('SLUICE_DATABASE_CONNECTIONS')),
    /** How long the server serves on after it was asked to stop. */
    drainSeconds: Number(setting('SLUICE_DRAIN')),
    adminToken: read('SLUICE_ADMIN_TOKEN'),
    /** Opens /metrics alone. */
    metricsToken: read('SLUICE_METRICS_TOKEN'),
    organization: setting('SLUICE_ORG'),
    rateLimit: Number(setting('SLUICE_RATE_LIMIT')),
    runner: parseRunner(read),
    testBranchPrefix: setting('SLUICE_TEST_BRANCH_PREFIX'),
    hookTimeoutSeconds: Number(setting('SLUICE_HOOK_TIMEOUT')),
    eventDays: Number(setting('SLUICE_EVENT_DAYS')),
    tokenDays: Number(setting('SLUICE_TOKEN_DAYS')),
    /** Encrypts secrets in the store; undefined: a file of the data folder has the key. */
    secretKey: read('SLUICE_SECRET_KEY'),
    /** Networks that are not public and that webhooks may reach. */
    webhookNetworks: parseList(read('SLUICE_WEBHOOK_NETWORKS') ?? ''),
    messages: {
      smtpUrl: read('SLUICE_SMTP_URL'),
      mailFrom: read('SLUICE_MAIL_FROM'),
      slackToken: read('SLUICE_SLACK_TOKEN'),
      slackUrl: setting('SLUICE_SLACK_URL'),
    },
    uploadKeepDays: Number(setting('SLUICE_UPLOAD_KEEP_DAYS')),
    uploadKeepBytes: Number(setting('SLUICE_UPLOAD_KEEP_BYTES')),
    uploadNewTests: Number(setting('SLUICE_UPLOAD_NEW_TESTS')),
    repositoryTests: Number(setting('SLUICE_REPOSITORY_TESTS')),
    logLevel: setting('SLUICE_LOG_LEVEL') as LogLevel,
    // Connections from environment variables. Others have files of their own.
    github: parseGithub(read),
    gitea: parseAccount('gitea', read),
    gitlab: parseAccount('gitlab', read),
    hasGithubSignIn: read('SLUICE_GITHUB_SIGN_IN') === 'on',
    oidc: parseOidc(read),
    /** Undefined: a folder of the data folder, which is created. */
    backupFolder: toFolder(read('SLUICE_BACKUP_DIR')),
    backupSchedule: parseSchedule(read),
    traces: parseOtel(read),
  };
}

/** Files of the operator that hold credentials. */
export function listSecretFiles({ github, gitea, gitlab, oidc }: Config): readonly string[] {
  return [
    ...(github?.auth.kind === 'key_file' ? [github.auth.file] : []),
    ...[gitea, gitlab].flatMap((account) =>
      account !== undefined && 'file' in account.token ? [account.token.file] : [],
    ),
    ...(gitlab?.deployKeyFile === undefined ? [] : [gitlab.deployKeyFile]),
    ...(oidc?.secret !== undefined && 'file' in oidc.secret ? [oidc.secret.file] : []),
  ];
}

function toFolder(given: string | undefined): string | undefined {
  return given === undefined ? undefined : path.resolve(given);
}

/** An empty variable counts as unset. */
function value(environment: Environment, name: VariableName): string | undefined {
  const given = environment[name]?.trim();
  return given === '' ? undefined : given;
}

/** Variables of OpenTelemetry are often there for other programs. They are checked only if they count. */
function checkVariables(environment: Environment): string[] {
  const hasTraces = isTraced((name) => value(environment, name));
  const names = (Object.keys(VARIABLES) as VariableName[]).filter((name) => hasTraces || !name.startsWith('OTEL_'));
  return names.flatMap((name) => {
    const given = value(environment, name);
    const problem = given === undefined ? undefined : (problemOf(VARIABLES[name], given) ?? RULES[name]?.(given));
    return problem === undefined ? [] : [`${name} ${problem}.`];
  });
}

function problemOf(variable: Variable, given: string): string | undefined {
  switch (variable.kind) {
    case 'text':
      return undefined;
    case 'integer': {
      const { min = 0, max = Number.MAX_SAFE_INTEGER } = variable;
      const fits = /^\d{1,15}$/.test(given) && Number(given) >= min && Number(given) <= max;
      return fits ? undefined : `must be a whole number from ${min} to ${max}, not "${given}"`;
    }
    case 'url':
      return /^https?:\/\/[^\s/]+/.test(given) && URL.canParse(given)
        ? undefined
        : `must be an address that begins with http:// or https://, not "${given}"`;
    case 'choice':
      return variable.values?.includes(given)
        ? undefined
        : `must be one of ${variable.values?.join(', ')}, not "${given}"`;
  }
}

const RULES: Rules<''> = {
  ...GITHUB_RULES,
  ...ACCOUNT_RULES,
  ...OIDC_RULES,
  ...OTEL_RULES,
  SLUICE_DATABASE_URL: (given) =>
    isDatabaseUrl(given) ? undefined : 'must be an address that begins with postgres://',
  SLUICE_ADMIN_TOKEN: checkToken,
  SLUICE_METRICS_TOKEN: checkToken,
  SLUICE_ORG: checkSlug,
  SLUICE_TRUSTED_PROXIES: checkNetworks,
  SLUICE_WEBHOOK_NETWORKS: checkNetworks,
  SLUICE_SMTP_URL: (given) =>
    URL.canParse(given) && /^smtps?:$/.test(new URL(given).protocol)
      ? undefined
      : 'must be an address that begins with smtp:// or smtps://',
  SLUICE_MAIL_FROM: (given) =>
    /^[^\r\n]{3,200}$/.test(given) && given.includes('@') ? undefined : 'must be an address of mail',
  SLUICE_PUBLIC_READ: (given) => {
    const wrong = parseList(given).find((entry) => parsePublicName(entry) === undefined);
    return wrong === undefined
      ? undefined
      : `must be repositories such as acme/github.com/acme/app (organization, host, owner, name), not "${wrong}"`;
  },
  SLUICE_SECRET_KEY: (given) =>
    /^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=?)$/.test(given) ? undefined : 'must be 32 bytes in base64 or hexadecimal',
  SLUICE_HOST: (given) =>
    /^[A-Za-z0-9.:[\]_-]+$/.test(given) ? undefined : `must be an address or a host name, not "${given}"`,
  ...RUNNER_RULES,
  ...BACKUP_RULES,
  SLUICE_TEST_BRANCH_PREFIX: (given) =>
    /^[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*$/.test(given) && !given.startsWith('-') && !given.endsWith('.lock')
      ? undefined
      : `must be the beginning of a branch name, not "${given}"`,
};

function checkToken(given: string): string | undefined {
  return /^[\x21-\x7e]{20,200}$/.test(given) ? undefined : 'must be 20 to 200 visible characters without spaces';
}

/** A removed variable is refused, because the operator would believe that it still protects the server. */
// SPEC R41
function findRemoved(environment: Environment): string[] {
  return Object.entries(RUNNER_REMOVED).flatMap(([name, sentence]) =>
    (environment[name]?.trim() ?? '') === '' ? [] : [`${name} ${sentence}`],
  );
}

/** A misspelt variable would silently have no effect, so it is reported. These belong to the client. */
const CLIENT_VARIABLES = ['SLUICE_TOKEN'];

// SPEC D30
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  SLUICE_SERVER_URL: 'has no effect: servers no longer send requests to each other. Remove it.',
};

function findUnknown(environment: Environment): string[] {
  const known = [...Object.keys(VARIABLES), ...Object.keys(RUNNER_REMOVED), ...CLIENT_VARIABLES];
  return Object.keys(environment)
    .filter((name) => name.startsWith('SLUICE_') && !known.includes(name))
    .map(
      (name) =>
        `${name} ${WITHOUT_EFFECT[name] ?? 'is not a variable of this version. "sluice serve --help" lists them.'}`,
    );
}

/** Addresses and CIDRs, separated by commas or blanks. */
function parseList(given: string): readonly string[] {
  return given.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** Groups may be nested, so the owner may have slashes. */
function parsePublicName(text: string) {
  const [organization = '', host = '', ...rest] = text.split('/');
  const isName = [host, ...rest].every((part) => /^[A-Za-z0-9_.-]{1,255}$/.test(part));
  if (checkSlug(organization) !== undefined || rest.length < 2 || !isName) return undefined;
  return { text, organization, repo: { host, owner: rest.slice(0, -1).join('/'), name: rest.at(-1) ?? '' } };
}

function checkNetworks(given: string): string | undefined {
  const wrong = parseList(given).find((entry) => !isAddressOrRange(entry));
  return wrong === undefined ? undefined : `must be addresses such as 10.0.0.5, 10.0.0.0/8 or fd00::/8, not "${wrong}"`;
}

function isAddressOrRange(entry: string): boolean {
  const [address = '', prefix, ...more] = entry.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  if (bits === 0 || address.includes('%') || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
