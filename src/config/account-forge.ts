import { Fault } from '../lib/fault.ts';
import type { ForgeKind } from '../lib/forge-kind.ts';
import { present } from '../lib/present.ts';
import {
  type ConnectionFormat,
  connectionFileOf,
  type FoundConnections,
  isUrl,
  type LoadedFile,
  loadFiles,
  parseWebhookSecret,
  warnOfFile,
  writeConnectionFile,
} from './connection-file.ts';
import { checkForgeHost } from './forge-host.ts';
import { readNamedFile } from './read-named-file.ts';
import type { Read, Rules } from './variables.ts';

/** The connection to one forge that Sluice asks as the account of a token. */
export interface AccountSettings {
  readonly host: string;
  /** For people, git and the API. It may have a path. */
  readonly url: string;
  readonly token: string;
  readonly webhookSecret?: string;
  /** A file with the private key that pushes, where the forge has such keys. */
  readonly deployKeyFile?: string;
}

/** `reload` reads the token again when the forge refuses it; undefined if it cannot change. */
export interface LoadedAccount extends AccountSettings {
  readonly reload: (() => Promise<string>) | undefined;
}

/** The token may still be in its file. */
export type AccountEnvironment = Omit<AccountSettings, 'token'> & {
  readonly token: { readonly text: string } | { readonly file: string };
};

type AccountKind = Extract<ForgeKind, 'gitea' | 'gitlab'>;

export const ACCOUNT_TOKEN = /^[\x21-\x7e]{10,200}$/;

const TITLES = { gitea: 'Gitea', gitlab: 'GitLab' } as const;

const checkToken = (given: string) =>
  ACCOUNT_TOKEN.test(given) ? undefined : 'must be an access token, without spaces';
const checkSecret = (given: string) =>
  given.length >= 8 ? undefined : 'must be at least 8 characters: everybody who guesses it can send false events';

export const ACCOUNT_RULES: Rules<'SLUICE_GIT'> = {
  SLUICE_GITEA_URL: checkAccountUrl,
  SLUICE_GITEA_TOKEN: checkToken,
  SLUICE_GITEA_WEBHOOK_SECRET: checkSecret,
  SLUICE_GITLAB_URL: checkAccountUrl,
  SLUICE_GITLAB_TOKEN: checkToken,
  SLUICE_GITLAB_WEBHOOK_SECRET: checkSecret,
};

/** The problem with the address of a forge as the end of a sentence. */
export function checkAccountUrl(given: string): string | undefined {
  const url = isUrl(given) ? new URL(given) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'must be an address such as https://git.acme.dev, without user, password and parameters';
  }
  return checkForgeHost(url.host);
}

function namesOf(kind: AccountKind) {
  const prefix = kind === 'gitea' ? 'SLUICE_GITEA' : 'SLUICE_GITLAB';
  const common = { url: `${prefix}_URL`, token: `${prefix}_TOKEN`, file: `${prefix}_TOKEN_FILE` } as const;
  return { ...common, secret: `${prefix}_WEBHOOK_SECRET` } as const;
}

/** Only GitLab has such keys. */
function readKeyFile(kind: AccountKind, read: Read): string | undefined {
  return kind === 'gitlab' ? read('SLUICE_GITLAB_DEPLOY_KEY_FILE') : undefined;
}

/** Finds variables that do not fit together, in words. */
export function checkAccount(kind: AccountKind, read: Read): string[] {
  const { url, token, file, secret } = namesOf(kind);
  const [text, named] = [read(token), read(file)];
  if (text !== undefined && named !== undefined) return [`${token} and ${file} are both set. Unset one of them.`];
  const hasToken = text !== undefined || named !== undefined;
  if (read(url) !== undefined && !hasToken) return [`${url} needs a token: set ${token} or ${file}.`];
  const hasKey = readKeyFile(kind, read) !== undefined;
  const alone = hasKey
    ? 'SLUICE_GITLAB_DEPLOY_KEY_FILE'
    : [token, file, secret].find((name) => read(name) !== undefined);
  return read(url) !== undefined || alone === undefined ? [] : [`${alone} does nothing without ${url}.`];
}

/** Expects checked variables. Undefined if they configure no connection. */
export function parseAccount(kind: AccountKind, read: Read): AccountEnvironment | undefined {
  const names = namesOf(kind);
  const [url, file, webhookSecret] = [read(names.url), read(names.file), read(names.secret)];
  if (url === undefined) return undefined;
  return {
    ...placeOf(url),
    token: file === undefined ? { text: read(names.token) ?? '' } : { file },
    ...present({ webhookSecret, deployKeyFile: readKeyFile(kind, read) }),
  };
}

export function warnOfAccount(kind: AccountKind, account: AccountEnvironment | undefined): string[] {
  if (account === undefined || account.webhookSecret !== undefined) return [];
  return [
    `${namesOf(kind).secret} is not set: no event from ${TITLES[kind]} is believed, and everything is found by asking, which is slower.`,
  ];
}

/** The host under which repositories of a forge are known, and its address without a slash at the end. */
export function placeOf(url: string): Pick<AccountSettings, 'host' | 'url'> {
  return { host: new URL(url).host.toLowerCase(), url: url.replace(/\/+$/, '') };
}

export async function loadAccountVariables(
  kind: AccountKind,
  account: AccountEnvironment | undefined,
): Promise<readonly LoadedAccount[]> {
  if (account === undefined) return [];
  const { token, ...rest } = account;
  if ('text' in token) return [{ ...rest, token: token.text, reload: undefined }];
  const read = () => readToken(kind, token.file);
  return [{ ...rest, token: await read(), reload: read }];
}

async function readToken(kind: AccountKind, file: string): Promise<string> {
  const name = namesOf(kind).file;
  const token = (await readNamedFile(name, file)).trim();
  if (!ACCOUNT_TOKEN.test(token)) throw new Fault('MISCONFIGURED', `${name} ${file} holds no token.`);
  return token;
}

export function accountFileOf(kind: AccountKind, dataFolder: string, host: string): string {
  return connectionFileOf(dataFolder, kind, host);
}

export function writeAccountFile(
  kind: AccountKind,
  dataFolder: string,
  { host, ...fields }: AccountSettings,
): Promise<string> {
  return writeConnectionFile(accountFileOf(kind, dataFolder, host), fields);
}

export function accountFiles(kind: AccountKind): ConnectionFormat<AccountSettings> {
  return {
    kind,
    parse(host, fields) {
      const { url = `https://${host}`, token, deployKeyFile } = fields;
      const secret = parseWebhookSecret(fields);
      if (typeof secret === 'string') return secret;
      if (typeof token !== 'string' || !ACCOUNT_TOKEN.test(token)) return 'has no usable token';
      if (typeof url !== 'string' || checkAccountUrl(url) !== undefined) return 'has no usable url';
      const key = typeof deployKeyFile === 'string' && kind === 'gitlab' ? { deployKeyFile } : {};
      return { host, url: url.replace(/\/+$/, ''), token, ...secret, ...key };
    },
  };
}

export async function loadAccountFiles(
  kind: AccountKind,
  dataFolder: string,
  connected: ReadonlySet<string>,
): Promise<FoundConnections<LoadedAccount>> {
  const { files, problems } = await loadFiles(accountFiles(kind), dataFolder, connected);
  const warnings = files.flatMap((file) => warnOfFile(file, file.settings.host, file.settings.webhookSecret));
  return { connections: files.map(loadFile), warnings, problems };
}

function loadFile({ settings, reload }: LoadedFile<AccountSettings>): LoadedAccount {
  return { ...settings, reload: async () => (await reload()).token };
}
