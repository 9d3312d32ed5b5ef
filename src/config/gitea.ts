import { Fault } from '../lib/fault.ts';
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

/** The connection to one Gitea or Forgejo. */
export interface GiteaSettings {
  readonly host: string;
  /** For people, git and the API. It may have a path. */
  readonly url: string;
  readonly token: string;
  readonly webhookSecret?: string;
}

/** `reload` reads the token again when Gitea refuses it; undefined if it cannot change. */
export interface LoadedGitea extends GiteaSettings {
  readonly reload: (() => Promise<string>) | undefined;
}

/** The token may still be in its file. */
export type GiteaEnvironment = Omit<GiteaSettings, 'token'> & {
  readonly token: { readonly text: string } | { readonly file: string };
};

export const GITEA_TOKEN = /^[\x21-\x7e]{10,200}$/;

export const GITEA_RULES: Rules<'SLUICE_GITEA_'> = {
  SLUICE_GITEA_URL: checkGiteaUrl,
  SLUICE_GITEA_TOKEN: (given) => (GITEA_TOKEN.test(given) ? undefined : 'must be an access token, without spaces'),
  SLUICE_GITEA_WEBHOOK_SECRET: (given) =>
    given.length >= 8 ? undefined : 'must be at least 8 characters: everybody who guesses it can send false events',
};

/** The problem with the address of a Gitea as the end of a sentence. */
export function checkGiteaUrl(given: string): string | undefined {
  const url = isUrl(given) ? new URL(given) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'must be an address such as https://git.acme.dev, without user, password and parameters';
  }
  return checkForgeHost(url.host);
}

/** Finds variables that do not fit together, in words. */
export function checkGitea(read: Read): string[] {
  const [text, file] = [read('SLUICE_GITEA_TOKEN'), read('SLUICE_GITEA_TOKEN_FILE')];
  if (text !== undefined && file !== undefined) {
    return ['SLUICE_GITEA_TOKEN and SLUICE_GITEA_TOKEN_FILE are both set. Unset one of them.'];
  }
  const hasToken = text !== undefined || file !== undefined;
  if (read('SLUICE_GITEA_URL') !== undefined && !hasToken) {
    return ['SLUICE_GITEA_URL needs a token: set SLUICE_GITEA_TOKEN or SLUICE_GITEA_TOKEN_FILE.'];
  }
  const alone = NEEDING.find((name) => read(name) !== undefined);
  return read('SLUICE_GITEA_URL') !== undefined || alone === undefined
    ? []
    : [`${alone} does nothing without SLUICE_GITEA_URL.`];
}

const NEEDING = ['SLUICE_GITEA_TOKEN', 'SLUICE_GITEA_TOKEN_FILE', 'SLUICE_GITEA_WEBHOOK_SECRET'] as const;

/** Expects checked variables. Undefined if they configure no connection. */
export function parseGitea(read: Read): GiteaEnvironment | undefined {
  const url = read('SLUICE_GITEA_URL');
  if (url === undefined) return undefined;
  const file = read('SLUICE_GITEA_TOKEN_FILE');
  const webhookSecret = read('SLUICE_GITEA_WEBHOOK_SECRET');
  return {
    ...placeOf(url),
    token: file === undefined ? { text: read('SLUICE_GITEA_TOKEN') ?? '' } : { file },
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
  };
}

export function warnOfGitea(gitea: GiteaEnvironment | undefined): string[] {
  if (gitea === undefined || gitea.webhookSecret !== undefined) return [];
  return [
    'SLUICE_GITEA_WEBHOOK_SECRET is not set: no event from Gitea is believed, and everything is found by asking, which is slower.',
  ];
}

/** The host under which repositories of a Gitea are known, and its address without a slash at the end. */
export function placeOf(url: string): Pick<GiteaSettings, 'host' | 'url'> {
  return { host: new URL(url).host.toLowerCase(), url: url.replace(/\/+$/, '') };
}

export async function loadGiteaVariables({
  gitea,
}: {
  readonly gitea: GiteaEnvironment | undefined;
}): Promise<readonly LoadedGitea[]> {
  if (gitea === undefined) return [];
  const { token, ...rest } = gitea;
  if ('text' in token) return [{ ...rest, token: token.text, reload: undefined }];
  const read = () => readToken(token.file);
  return [{ ...rest, token: await read(), reload: read }];
}

async function readToken(file: string): Promise<string> {
  const token = (await readNamedFile('SLUICE_GITEA_TOKEN_FILE', file)).trim();
  if (!GITEA_TOKEN.test(token)) throw new Fault('MISCONFIGURED', `SLUICE_GITEA_TOKEN_FILE ${file} holds no token.`);
  return token;
}

export function giteaFileOf(dataFolder: string, host: string): string {
  return connectionFileOf(dataFolder, 'gitea', host);
}

export function writeGiteaFile(dataFolder: string, { host, ...fields }: GiteaSettings): Promise<string> {
  return writeConnectionFile(giteaFileOf(dataFolder, host), fields);
}

export const GITEA_FILES: ConnectionFormat<GiteaSettings> = {
  kind: 'gitea',
  parse(host, fields) {
    const { url = `https://${host}`, token } = fields;
    const secret = parseWebhookSecret(fields);
    if (typeof secret === 'string') return secret;
    if (typeof token !== 'string' || !GITEA_TOKEN.test(token)) return 'has no usable token';
    if (typeof url !== 'string' || checkGiteaUrl(url) !== undefined) return 'has no usable url';
    return { host, url: url.replace(/\/+$/, ''), token, ...secret };
  },
};

export async function loadGiteaFiles(
  dataFolder: string,
  connected: ReadonlySet<string>,
): Promise<FoundConnections<LoadedGitea>> {
  const { files, problems } = await loadFiles(GITEA_FILES, dataFolder, connected);
  const warnings = files.flatMap((file) => warnOfFile(file, file.settings.host, file.settings.webhookSecret));
  return { connections: files.map(loadFile), warnings, problems };
}

function loadFile({ settings, reload }: LoadedFile<GiteaSettings>): LoadedGitea {
  return { ...settings, reload: async () => (await reload()).token };
}
