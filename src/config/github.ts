import { createPrivateKey } from 'node:crypto';
import { checkForgeHost } from './forge-host.ts';
import type { Read, Rules } from './variables.ts';

export interface GithubSettings {
  readonly host: string;
  readonly apiUrl: string | undefined;
  readonly webUrl: string | undefined;
  readonly auth: GithubAuth;
  /** For the sign-in of people with the App. */
  readonly client?: GithubClient;
}

export interface GithubClient {
  readonly id: string;
  readonly secret: string;
}

export type GithubAuth = (
  | { readonly kind: 'app'; readonly appId: string; readonly privateKey: string }
  | { readonly kind: 'token'; readonly token: string }
) & { readonly webhookSecret?: string };

/** The private key may still be in its file. */
export type GithubEnvironment = Omit<GithubSettings, 'auth'> & {
  readonly auth: GithubAuth | { readonly kind: 'key_file'; readonly appId: string; readonly file: string };
  readonly webhookSecret: string | undefined;
};

export const GITHUB_RULES: Rules<'SLUICE_GITHUB_'> = {
  SLUICE_GITHUB_HOST: checkForgeHost,
  SLUICE_GITHUB_APP_ID: (given) =>
    APP_ID.test(given) ? undefined : `must be the number or the client id of a GitHub App, not "${given}"`,
  SLUICE_GITHUB_PRIVATE_KEY: (given) => (parsePrivateKey(given) === undefined ? KEY_SENTENCE : undefined),
  SLUICE_GITHUB_WEBHOOK_SECRET: (given) =>
    given.length >= 8 ? undefined : 'must be at least 8 characters: everybody who guesses it can send false events',
  SLUICE_GITHUB_CLIENT_ID: (given) =>
    CLIENT_ID.test(given) ? undefined : `must be the client id of the App, such as Iv23liAbCdEf, not "${given}"`,
  SLUICE_GITHUB_CLIENT_SECRET: (given) =>
    CLIENT_SECRET.test(given) ? undefined : 'must be a client secret of the App',
  SLUICE_GITHUB_TOKEN: (given) => (TOKEN.test(given) ? undefined : 'must be a personal access token, without spaces'),
};

export const APP_ID = /^(?:\d{1,15}|Iv[\w.]{6,60})$/;
export const CLIENT_ID = /^[\w.]{8,80}$/;
export const CLIENT_SECRET = /^[\x21-\x7e]{20,200}$/;
export const TOKEN = /^[\x21-\x7e]{10,500}$/;

// SPEC G89
export function checkGithub(read: Read): string[] {
  const [app, token] = [read('SLUICE_GITHUB_APP_ID'), read('SLUICE_GITHUB_TOKEN')];
  const [key, file] = [read('SLUICE_GITHUB_PRIVATE_KEY'), read('SLUICE_GITHUB_PRIVATE_KEY_FILE')];
  if (app !== undefined && token !== undefined) {
    return ['SLUICE_GITHUB_APP_ID and SLUICE_GITHUB_TOKEN are both set. Sluice is an App or a person: unset one.'];
  }
  if ((read('SLUICE_GITHUB_CLIENT_ID') === undefined) !== (read('SLUICE_GITHUB_CLIENT_SECRET') === undefined)) {
    return ['SLUICE_GITHUB_CLIENT_ID and SLUICE_GITHUB_CLIENT_SECRET are set together, or not at all.'];
  }
  if (read('SLUICE_GITHUB_SIGN_IN') === 'on' && read('SLUICE_URL') === undefined) {
    return ['SLUICE_GITHUB_SIGN_IN needs SLUICE_URL: GitHub sends people back there.'];
  }
  if (key !== undefined && file !== undefined) {
    return ['SLUICE_GITHUB_PRIVATE_KEY and SLUICE_GITHUB_PRIVATE_KEY_FILE are both set. Unset one of them.'];
  }
  if (app !== undefined && key === undefined && file === undefined) {
    return [
      'SLUICE_GITHUB_APP_ID needs the key of the App: set SLUICE_GITHUB_PRIVATE_KEY or SLUICE_GITHUB_PRIVATE_KEY_FILE.',
    ];
  }
  const alone = app === undefined && token === undefined ? NEEDING.find((name) => read(name) !== undefined) : undefined;
  const keyAlone = app === undefined && (key !== undefined || file !== undefined);
  if (alone === undefined && !keyAlone) return [];
  const name = alone ?? (key === undefined ? 'SLUICE_GITHUB_PRIVATE_KEY_FILE' : 'SLUICE_GITHUB_PRIVATE_KEY');
  return [`${name} does nothing without SLUICE_GITHUB_APP_ID${keyAlone ? '' : ' or SLUICE_GITHUB_TOKEN'}.`];
}

const NEEDING = [
  'SLUICE_GITHUB_PRIVATE_KEY',
  'SLUICE_GITHUB_PRIVATE_KEY_FILE',
  'SLUICE_GITHUB_WEBHOOK_SECRET',
  'SLUICE_GITHUB_API_URL',
  'SLUICE_GITHUB_WEB_URL',
  'SLUICE_GITHUB_HOST',
  'SLUICE_GITHUB_CLIENT_ID',
] as const;

/** Expects checked variables. Undefined if they configure no connection. */
export function parseGithub(read: Read): GithubEnvironment | undefined {
  const auth = parseAuth(read);
  if (auth === undefined) return undefined;
  const [id, secret] = [read('SLUICE_GITHUB_CLIENT_ID'), read('SLUICE_GITHUB_CLIENT_SECRET')];
  return {
    host: (read('SLUICE_GITHUB_HOST') ?? 'github.com').toLowerCase(),
    apiUrl: read('SLUICE_GITHUB_API_URL'),
    webUrl: read('SLUICE_GITHUB_WEB_URL'),
    auth,
    webhookSecret: read('SLUICE_GITHUB_WEBHOOK_SECRET'),
    ...(id === undefined || secret === undefined ? {} : { client: { id, secret } }),
  };
}

function parseAuth(read: Read): GithubEnvironment['auth'] | undefined {
  const webhookSecret = read('SLUICE_GITHUB_WEBHOOK_SECRET');
  const secret = webhookSecret === undefined ? {} : { webhookSecret };
  const token = read('SLUICE_GITHUB_TOKEN');
  if (token !== undefined) return { kind: 'token', token, ...secret };
  const appId = read('SLUICE_GITHUB_APP_ID');
  if (appId === undefined) return undefined;
  const file = read('SLUICE_GITHUB_PRIVATE_KEY_FILE');
  if (file !== undefined) return { kind: 'key_file', appId, file };
  const privateKey = parsePrivateKey(read('SLUICE_GITHUB_PRIVATE_KEY') ?? '') ?? '';
  return { kind: 'app', appId, privateKey, ...secret };
}

// SPEC G90
export function warnOfGithub(github: GithubEnvironment | undefined): string[] {
  if (github === undefined || github.webhookSecret !== undefined) return [];
  return [
    'SLUICE_GITHUB_WEBHOOK_SECRET is not set: no event from GitHub is believed, and everything is found by asking, which is slower.',
  ];
}

export const KEY_SENTENCE = 'must be the private key of the App: the PEM text that GitHub gave, or all of it in base64';

/** The key as PKCS #8 PEM, which all libraries read. Undefined if it is not an RSA key or has a passphrase. */
export function parsePrivateKey(text: string): string | undefined {
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('latin1');
  try {
    // Environment files and CI settings keep a key on one line, with \n as line breaks.
    const key = createPrivateKey(pem.replaceAll('\\n', '\n').trim());
    return key.asymmetricKeyType === 'rsa' ? key.export({ type: 'pkcs8', format: 'pem' }).toString() : undefined;
  } catch {
    return undefined;
  }
}
