import {
  type ConnectionFormat,
  connectionFileOf,
  type Fields,
  isUrl,
  parseWebhookSecret,
  writeConnectionFile,
} from './connection-file.ts';
import {
  APP_ID,
  CLIENT_ID,
  CLIENT_SECRET,
  type GithubAuth,
  type GithubClient,
  type GithubSettings,
  KEY_SENTENCE,
  parsePrivateKey,
  TOKEN,
} from './github.ts';

export function githubFileOf(dataFolder: string, host: string): string {
  return connectionFileOf(dataFolder, 'github', host);
}

export function writeGithubFile(dataFolder: string, settings: GithubSettings): Promise<string> {
  const { host, apiUrl, webUrl, auth, client } = settings;
  const { kind: _, ...credentials } = auth;
  return writeConnectionFile(githubFileOf(dataFolder, host), {
    ...credentials,
    ...(client === undefined ? {} : { clientId: client.id, clientSecret: client.secret }),
    apiUrl,
    webUrl,
  });
}

export const GITHUB_FILES: ConnectionFormat<GithubSettings> = {
  kind: 'github',
  parse(host, fields) {
    const auth = parseAuth(fields);
    if (typeof auth === 'string') return auth;
    const { apiUrl, webUrl } = fields;
    if (apiUrl !== undefined && !isUrl(apiUrl)) return 'has no usable apiUrl';
    if (webUrl !== undefined && !isUrl(webUrl)) return 'has no usable webUrl';
    const client = parseClient(fields);
    if (typeof client === 'string') return client;
    return { host, apiUrl, webUrl, auth, ...(client && { client }) };
  },
};

function parseClient({ clientId: id, clientSecret: secret }: Fields): GithubClient | undefined | string {
  if (id === undefined && secret === undefined) return undefined;
  const isClient =
    typeof id === 'string' && CLIENT_ID.test(id) && typeof secret === 'string' && CLIENT_SECRET.test(secret);
  return isClient ? { id, secret } : 'has no usable clientId and clientSecret';
}

function parseAuth(fields: Fields): GithubAuth | string {
  const { appId, privateKey, token } = fields;
  const secret = parseWebhookSecret(fields);
  if (typeof secret === 'string') return secret;
  if (token !== undefined) {
    if (appId !== undefined) return 'has both an appId and a token';
    return typeof token === 'string' && TOKEN.test(token)
      ? { kind: 'token', token, ...secret }
      : 'has a token that is none';
  }
  if (appId === undefined) return 'has neither an appId nor a token';
  const id = typeof appId === 'number' ? String(appId) : appId;
  if (typeof id !== 'string' || !APP_ID.test(id)) return 'has an appId that is no number or client id of a GitHub App';
  const key = typeof privateKey === 'string' ? parsePrivateKey(privateKey) : undefined;
  if (key === undefined) return `has no usable privateKey: it ${KEY_SENTENCE}`;
  return { kind: 'app', appId: id, privateKey: key, ...secret };
}
