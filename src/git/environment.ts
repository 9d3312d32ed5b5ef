/** What git may know of the server's environment when it only reads what is already on this machine. */
const PASSED_ALWAYS = ['PATH', 'HOME', 'TMPDIR'];

/** What it may know besides when it speaks to a remote: credentials, proxies and certificates of the operator. */
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

/** What hooks know of it, which are programs of the operator: as much as checks do, and where their own settings are. */
const PASSED_TO_HOOKS = [...PASSED_ALWAYS, 'LANG', 'LC_CTYPE', 'TZ', 'USER', 'LOGNAME'];

const FIXED = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
};

/** Settings that hold whatever the repository's own configuration says. */
const CONFIG: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.warnAmbiguousRefs': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

/**
 * Without these a remote that accepts the connection and then falls silent would hold a fetch for hours, and ssh would
 * ask its questions at the terminal of the server. An operator's own GIT_SSH or GIT_SSH_COMMAND goes before.
 */
const REMOTE_CONFIG = { 'http.lowSpeedLimit': '1000', 'http.lowSpeedTime': '30' };
/** The operator's own way to credentials: helpers, questions, `.netrc`. A token must not be mixed with them. */
const WITHOUT_OPERATOR = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/dev/null' };
const OPERATOR_ONLY = /^(?:GIT_SSH|SSH_|GIT_ASKPASS$|GIT_CONFIG|XDG_CONFIG_HOME$|USER$|LOGNAME$)/;
const OWN_ACCESS_CONFIG = { 'credential.helper': '', 'core.askPass': '', 'http.followRedirects': 'false' };
const IMPATIENT_SSH = 'ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=2';

/**
 * For git commands that hooks inherit the environment of: settings of the user and the system hold, as in any push. Git's
 * own sentences are read here, and so are not translated.
 */
function hookEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...pick(process.env, PASSED_TO_HOOKS), LC_MESSAGES: 'C', ...extra };
}

/** Credentials for one remote, which are nobody else's business. */
export interface RemoteAccess {
  readonly url: string;
  /** The value of the header. */
  readonly authorization: string | undefined;
  readonly isHttpAllowed: boolean;
}

export interface EnvironmentOptions {
  /**
   * The repository to work on. Git trusts a folder named this way whoever owns it, so that it needs `safeDirectory`
   * only while a repository is still being looked for.
   */
  readonly gitDir?: string;
  readonly safeDirectory?: string;
  /** Whether a remote is spoken to. Otherwise no transport is allowed, not even one the repository itself asks for. */
  readonly remote?: boolean;
  /** With `remote`: instead of the operator's credentials. */
  readonly access?: RemoteAccess | undefined;
  readonly extra?: Readonly<Record<string, string>>;
  /** Whether hooks may run: then nothing of all this is in their environment, but `extra`. */
  readonly hooks?: boolean;
}

export function gitEnvironment(options: EnvironmentOptions): Record<string, string> {
  if (options.hooks === true) return hookEnvironment(options.extra);
  const remote = options.remote === true;
  const environment: Record<string, string> = {
    ...(remote ? remoteEnvironment(options.access) : localEnvironment()),
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

function remoteEnvironment(access: RemoteAccess | undefined): Record<string, string> {
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
