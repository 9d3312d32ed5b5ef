import type { KeyedRemote } from './git.ts';

/** Variables passed to git when it only reads local data. */
const PASSED_ALWAYS = ['PATH', 'HOME', 'TMPDIR'];

/** Further variables for remotes: the operator's credentials, proxies and certificates. */
const PASSED_TO_REMOTES = [
  'USER',
  'LOGNAME',
  'XDG_CONFIG_HOME',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'SSH_ASKPASS',
  'GIT_ASKPASS',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
];

/** Hooks are the operator's programs: the same as for checks, and those that locate their own settings. */
const PASSED_TO_HOOKS = [...PASSED_ALWAYS, 'LANG', 'LC_CTYPE', 'TZ', 'USER', 'LOGNAME'];

const FIXED = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
};

/** These settings override the repository's own configuration. */
const CONFIG: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.warnAmbiguousRefs': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

/** A silent remote would hold a fetch for hours, and ssh would prompt. An operator's GIT_SSH takes precedence. */
const REMOTE_CONFIG = { 'http.lowSpeedLimit': '1000', 'http.lowSpeedTime': '30' };
/** Hides the operator's credential helpers, askpass programs and `.netrc`, so that they do not mix with the token. */
const WITHOUT_OPERATOR = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/dev/null' };
const OPERATOR_ONLY = /^(?:GIT_SSH|SSH_|GIT_ASKPASS$|GIT_CONFIG|XDG_CONFIG_HOME$|USER$|LOGNAME$)/;
const OWN_ACCESS_CONFIG = { 'credential.helper': '', 'core.askPass': '', 'http.followRedirects': 'false' };
const IMPATIENT_SSH = 'ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=2';

/** As in any push, the user's and the system's settings apply. Git's messages are parsed, so not translated. */
// SPEC L11
function hookEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...pick(process.env, PASSED_TO_HOOKS), LC_MESSAGES: 'C', ...extra };
}

/** Credentials for this one remote only. */
export interface RemoteAccess {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly isHttpAllowed: boolean;
}

export interface EnvironmentOptions {
  /** Git trusts a folder named this way whoever owns it: `safeDirectory` is needed only while it is located. */
  readonly gitDir?: string;
  readonly safeDirectory?: string;
  /** Git contacts a remote. Otherwise no transport is allowed, not even one that the repository configures. */
  readonly remote?: boolean;
  /** Replaces the operator's credentials when `remote` is set. */
  readonly access?: RemoteAccess | undefined;
  /** The only key of ssh when `remote` is set. */
  readonly keyed?: Omit<KeyedRemote, 'url'>;
  readonly extra?: Readonly<Record<string, string>>;
  /** True when hooks may run. Their environment then has none of these settings except `extra`. */
  readonly hooks?: boolean;
}

// SPEC C15
export function gitEnvironment(options: EnvironmentOptions): Record<string, string> {
  if (options.hooks === true) return hookEnvironment(options.extra);
  const remote = options.remote === true;
  const environment: Record<string, string> = {
    ...(remote ? remoteEnvironment(options) : localEnvironment()),
    ...FIXED,
    ...configPairs({
      ...CONFIG,
      ...(remote ? remoteConfig(options.access) : {}),
      ...(options.safeDirectory === undefined ? {} : { 'safe.directory': options.safeDirectory }),
    }),
    ...options.extra,
  };
  if (options.gitDir !== undefined) environment['GIT_DIR'] = options.gitDir;
  return environment;
}

function localEnvironment(): Record<string, string> {
  return {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...pick(process.env, PASSED_ALWAYS),
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

function remoteEnvironment({ access, keyed }: EnvironmentOptions): Record<string, string> {
  if (keyed !== undefined) return keyedEnvironment(keyed);
  if (access === undefined) {
    const passed = pick(process.env, [...PASSED_ALWAYS, ...PASSED_TO_REMOTES]);
    return { ...sshCommand(), ...passed, GIT_ALLOW_PROTOCOL: 'ssh:https' };
  }
  const proxiesAndCertificates = PASSED_TO_REMOTES.filter((name) => !OPERATOR_ONLY.test(name));
  return {
    ...pick(process.env, [...PASSED_ALWAYS, ...proxiesAndCertificates]),
    ...WITHOUT_OPERATOR,
    GIT_ALLOW_PROTOCOL: access.isHttpAllowed ? 'http:https' : 'https',
  };
}

/** An operator's own ssh may be a jump host, and gets the key as an option. */
// SPEC G191
function keyedEnvironment({ keyFile, hostsFile }: Omit<KeyedRemote, 'url'>): Record<string, string> {
  const options = [
    ...['-i', quote(keyFile), '-o', 'IdentitiesOnly=yes', '-o', 'IdentityAgent=none'],
    ...['-o', quote(`UserKnownHostsFile=${hostsFile}`), '-o', 'StrictHostKeyChecking=accept-new'],
  ];
  return {
    ...pick(process.env, PASSED_ALWAYS),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: 'ssh',
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND: [process.env['GIT_SSH_COMMAND'] ?? IMPATIENT_SSH, ...options].join(' '),
  };
}

/** For the shell that git starts ssh with. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// SPEC G101
function remoteConfig(access: RemoteAccess | undefined): Record<string, string> {
  if (access === undefined) return REMOTE_CONFIG;
  const { url, authorization } = access;
  const header =
    authorization === undefined
      ? {}
      : { [`http.${new URL(url).origin}/.extraHeader`]: `Authorization: ${authorization}` };
  return { ...REMOTE_CONFIG, ...OWN_ACCESS_CONFIG, ...header };
}

function sshCommand(): Record<string, string> {
  return process.env['GIT_SSH'] === undefined ? { GIT_SSH_COMMAND: IMPATIENT_SSH } : {};
}

function pick(from: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

function configPairs(config: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(config);
  const pairs: Record<string, string> = { GIT_CONFIG_COUNT: String(entries.length) };
  entries.forEach(([key, value], index) => {
    pairs[`GIT_CONFIG_KEY_${index}`] = key;
    pairs[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return pairs;
}
