import { Fault } from '../lib/fault.ts';
import { checkForgeHost } from './forge-host.ts';
import { readNamedFile } from './read-named-file.ts';
import { type Read, type Rules, VARIABLES } from './variables.ts';

/** How people sign in with an OpenID Connect provider. */
type OidcConfig = NonNullable<ReturnType<typeof parseOidc>>;

export const OIDC_RULES: Rules<'SLUICE_OIDC_'> = {
  SLUICE_OIDC_ISSUER: (given) => {
    const { protocol, hostname, search, hash } = new URL(given);
    if (search !== '' || hash !== '') return `must be the issuer as the provider writes it, not "${given}"`;
    const isOwnMachine = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
    return protocol === 'https:' || isOwnMachine ? undefined : 'must begin with https://';
  },
  SLUICE_OIDC_SCOPES: (given) =>
    given.split(/\s+/).includes('openid') ? undefined : 'must have the scope openid among others',
  SLUICE_OIDC_LOGIN_CLAIM: (given) =>
    parseLoginClaim(given) === undefined ? 'must be such as github.com=github_login: a host and a claim' : undefined,
};

const NEEDED = ['SLUICE_OIDC_CLIENT_ID', 'SLUICE_ROLES_FILE', 'SLUICE_URL'] as const;
const NEEDING = [
  'SLUICE_OIDC_CLIENT_ID',
  'SLUICE_OIDC_CLIENT_SECRET',
  'SLUICE_OIDC_CLIENT_SECRET_FILE',
  'SLUICE_OIDC_NAME',
  'SLUICE_OIDC_SCOPES',
  'SLUICE_OIDC_GROUPS_CLAIM',
  'SLUICE_OIDC_LOGIN_CLAIM',
  'SLUICE_ROLES_FILE',
] as const;

export function checkOidc(read: Read): string[] {
  if (read('SLUICE_OIDC_ISSUER') === undefined) {
    const alone = NEEDING.find((name) => read(name) !== undefined);
    return alone === undefined ? [] : [`${alone} does nothing without SLUICE_OIDC_ISSUER.`];
  }
  const missing = NEEDED.filter((name) => read(name) === undefined);
  if (missing.length > 0) return missing.map((name) => `SLUICE_OIDC_ISSUER needs ${name} too.`);
  const isTwice =
    read('SLUICE_OIDC_CLIENT_SECRET') !== undefined && read('SLUICE_OIDC_CLIENT_SECRET_FILE') !== undefined;
  return isTwice
    ? ['SLUICE_OIDC_CLIENT_SECRET and SLUICE_OIDC_CLIENT_SECRET_FILE are both set. Unset one of them.']
    : [];
}

/** Expects checked variables. Undefined if people sign in with tokens alone. */
export function parseOidc(read: Read) {
  const [issuer, clientId, rolesFile] = [
    read('SLUICE_OIDC_ISSUER'),
    read('SLUICE_OIDC_CLIENT_ID'),
    read('SLUICE_ROLES_FILE'),
  ];
  if (issuer === undefined || clientId === undefined || rolesFile === undefined) return undefined;
  const [text, file] = [read('SLUICE_OIDC_CLIENT_SECRET'), read('SLUICE_OIDC_CLIENT_SECRET_FILE')];
  return {
    issuer,
    clientId,
    // Undefined: a public client.
    secret: file !== undefined ? { file } : text === undefined ? undefined : { text },
    label: read('SLUICE_OIDC_NAME') ?? VARIABLES.SLUICE_OIDC_NAME.default,
    scopes: read('SLUICE_OIDC_SCOPES') ?? VARIABLES.SLUICE_OIDC_SCOPES.default,
    groupsClaim: read('SLUICE_OIDC_GROUPS_CLAIM') ?? VARIABLES.SLUICE_OIDC_GROUPS_CLAIM.default,
    loginClaim: parseLoginClaim(read('SLUICE_OIDC_LOGIN_CLAIM') ?? ''),
    rolesFile,
  };
}

function parseLoginClaim(given: string): { readonly host: string; readonly claim: string } | undefined {
  const [, host = '', claim = ''] = /^([^=\s]+)=(\S+)$/.exec(given) ?? [];
  return claim === '' || checkForgeHost(host) !== undefined ? undefined : { host: host.toLowerCase(), claim };
}

export async function readOidcSecret({ secret }: Pick<OidcConfig, 'secret'>): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  if ('text' in secret) return secret.text;
  const text = (await readNamedFile('SLUICE_OIDC_CLIENT_SECRET_FILE', secret.file)).trim();
  if (text !== '') return text;
  throw new Fault('MISCONFIGURED', `SLUICE_OIDC_CLIENT_SECRET_FILE ${secret.file} is empty.`);
}
